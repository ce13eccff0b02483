"""Robotica's language, as described in its manual, on top of the catalogue of functions."""

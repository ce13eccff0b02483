"""Robotica's language, as its manual writes it, on the catalogue of functions."""

"""Robotica's command language, as described in its manual, implemented with the catalogue of functions."""

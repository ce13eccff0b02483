"""Editors for numbers with units."""

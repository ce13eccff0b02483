"""Editors of numbers with units."""

"""Mathematica's syntax, read and printed once."""

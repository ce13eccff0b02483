"""Loops that close explicitly: dependent coordinates as functions of the independent ones."""

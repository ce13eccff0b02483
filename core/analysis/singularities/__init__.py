"""Singular poses near a position: by name, with distance and lost direction."""

"""Actors of the scene: figures, handles, highlight, picking, overlays."""

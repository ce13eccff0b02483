"""Actors of the scene: figures, handles, outlines, picking, overlays."""

"""Meshes: where they lie, what is read from them, the mass of what they enclose."""

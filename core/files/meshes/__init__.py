"""Mesh files: lookup, reading, and mass properties of the enclosed volume."""

"""Conversion of geometric forms and files to VTK meshes."""

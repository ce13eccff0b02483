"""Conversion of forms and files to VTK meshes."""

"""Forms and files as VTK's polygons."""

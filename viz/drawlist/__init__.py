"""What is to be seen, as plain values; joint handles and the geometry of dragging."""

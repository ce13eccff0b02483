"""Draw list of the scene as plain values; joint handles, and the geometry of dragging them."""

"""Draw list of the scene as plain values; joint handles and drag geometry."""

"""Films without a window."""

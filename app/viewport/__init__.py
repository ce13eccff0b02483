"""The 3-D viewport: what is seen, from where, and what the mouse does there."""

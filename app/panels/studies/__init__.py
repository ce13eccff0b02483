"""The panel Studies."""

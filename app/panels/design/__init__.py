"""The panel Design."""

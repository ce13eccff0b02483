"""The panel with the Python console."""

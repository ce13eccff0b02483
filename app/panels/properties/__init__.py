"""The panel with the properties of the selection."""

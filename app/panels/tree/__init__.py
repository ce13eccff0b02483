"""The panel with the tree of the model."""

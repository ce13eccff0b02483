"""The panel of results."""

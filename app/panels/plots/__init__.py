"""The panel of plots."""

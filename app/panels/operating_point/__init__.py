"""The panel of operating points."""

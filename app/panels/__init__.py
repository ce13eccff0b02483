"""The panels, a folder each; none imports another."""

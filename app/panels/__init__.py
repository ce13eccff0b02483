"""The panels of the window, one folder each; no panel imports another."""

"""The window: it puts all the rest together."""

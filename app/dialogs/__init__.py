"""Dialogs, each imported when first opened, and the messages of the window."""

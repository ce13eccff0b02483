"""Dialogs, each imported when it is first opened, and the message card of the window."""

"""Dialogs, each loaded when it is first asked for, and the messages of the window."""

"""Value editors: the small widgets of which panels are made."""

"""Value editors: the small widgets from which panels are built."""

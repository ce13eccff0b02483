"""Forms that show and edit the fields of elements."""

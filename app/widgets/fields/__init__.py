"""Forms for the fields of elements."""

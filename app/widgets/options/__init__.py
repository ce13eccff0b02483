"""Forms for the options of functions."""

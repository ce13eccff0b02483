"""Forms for the options of catalogue functions."""

"""The panel of functions and their options."""

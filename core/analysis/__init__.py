"""Analyses of a machine, one per file, that take numbers and return small result objects."""

"""Analyses of a machine, one file each: numerical input, small result objects."""

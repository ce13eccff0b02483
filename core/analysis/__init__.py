"""Analyses on a mechanism: numbers in, small result values out."""

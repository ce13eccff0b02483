"""Measures of runs: numbers that formulas with reductions make of channels, with their units."""

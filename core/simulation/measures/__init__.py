"""Scalar measures of runs: formulas with reductions over channels, with units."""

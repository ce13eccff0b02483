"""Plots of runs: available channels, their columns of data, contents of a plot, and the widgets that draw it."""

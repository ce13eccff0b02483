"""Plots of runs: which channels there are, their columns, what a plot shows, and the widgets that draw it."""

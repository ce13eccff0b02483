"""Plots of runs: the channels available, the numbers of their curves, the contents of a plot, and the widgets that draw
it."""

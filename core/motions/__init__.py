"""Motions that are planned, not simulated: time laws, paths of segments, trajectories of machines."""

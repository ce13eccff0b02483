"""Conversion of a model to the kinematic tree of the recursions: topology, coordinates, numbers."""

"""A model as the tree that the recursions see: topology, coordinates, numbers."""

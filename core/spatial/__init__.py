"""Rotations, poses, motions, forces and inertias over abstract scalars. Knows no robot."""

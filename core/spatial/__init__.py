"""Rotation, attitude, pose, motion, force, inertia and relative measures, over abstract scalars."""

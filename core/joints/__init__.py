"""Kinds of joints: pose, motion, measure and residual of each."""

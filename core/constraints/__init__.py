"""Numerical constraint handling: assembly, multipliers, reactions, minimum-norm forces, joint limits, and diagnosis of
conflicting constraints."""

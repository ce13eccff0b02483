"""Inverse dynamics as it is linear in its parameters: their names and values, the regressor, base parameters."""

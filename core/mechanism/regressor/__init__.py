"""Inverse dynamics linear in its parameters: parameter names and values, regressor, base parameters."""

"""Freedoms of a machine: mobility, redundant constraints, bifurcations, isostatic proposals."""

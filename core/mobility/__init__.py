"""Freedoms of a machine: mobility, redundancy, self-stress, bifurcation, isostatic proposals."""

"""Mobility analysis: degrees of freedom, redundant constraints, self-stresses, bifurcations, isostatic proposals."""

"""Sensitivities of runs to parameters and initial state: `gradient`, `Run.derivatives`."""

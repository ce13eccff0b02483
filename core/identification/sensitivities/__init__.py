"""Sensitivities of runs to parameters and to the initial state: `gradient`, `Run.derivatives`."""

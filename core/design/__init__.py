"""Design optimisation: path synthesis of linkages from an atlas of curves, and optimal parameters of any machine."""

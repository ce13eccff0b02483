"""Design optimisation: path synthesis of linkages by means of an atlas of curves, and optimal parameters of any
machine."""

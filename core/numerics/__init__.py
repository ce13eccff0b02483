"""Numbers without robots: the nonlinear position solver, named tolerances."""

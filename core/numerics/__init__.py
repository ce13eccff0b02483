"""Numbers without robots: the nonlinear position solver."""

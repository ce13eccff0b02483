"""Parameters of a machine from what was measured on it: data, base parameters, fits of runs, exciting motions."""

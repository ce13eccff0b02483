"""General numerical methods, independent of robots: position solver, bounded forces, ranks, sparse elimination,
tolerances."""

"""Draw: linkages by hand, pivot to pivot, in a working plane."""

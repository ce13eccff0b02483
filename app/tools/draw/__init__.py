"""The Draw tool: linkages sketched by hand, pivot to pivot, in a working plane."""

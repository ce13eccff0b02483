"""Work beside the window: jobs, threads, slices of time, and what guards them."""

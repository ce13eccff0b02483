"""Background work: jobs, threads, time slices, signals, and the guard that turns errors into messages."""

"""Work in the background: jobs, threads, time slices, and the guard that turns errors into messages."""

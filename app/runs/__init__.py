"""Computing runs: jobs, what-if, interactive dynamics, films."""

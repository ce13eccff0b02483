"""Computing runs: simulation jobs, what-if runs, interactive dynamics, films; and results that are kept up to date."""

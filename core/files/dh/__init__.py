"""Denavit–Hartenberg tables as CSV, TOML and Robotica's data files."""

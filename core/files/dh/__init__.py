"""Denavit–Hartenberg tables as CSV, TOML and Robotica data files."""

"""Robotica's language and functions: what its manual writes, on today's kernel."""

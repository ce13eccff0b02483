"""Formulas that people type: read, written, evaluated."""

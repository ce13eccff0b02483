"""Formulas that users type: parsing, writing, evaluation."""

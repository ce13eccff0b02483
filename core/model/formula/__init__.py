"""User-typed formulas: parsing, formatting, evaluation."""

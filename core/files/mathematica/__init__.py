"""Parser and printer of Mathematica's syntax."""

"""Units: what they are worth in SI, and how they combine."""

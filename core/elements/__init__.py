"""What acts between frames: forces, constraints, drivers, sensors; signals and mode variables of their formulas."""

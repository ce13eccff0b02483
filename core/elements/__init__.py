"""What acts between frames: forces, constraints, drivers, sensors, and the signals of their formulas."""

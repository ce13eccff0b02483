"""Elements between frames: forces, constraints, drivers and sensors, and the signals and mode variables of their
formulas."""

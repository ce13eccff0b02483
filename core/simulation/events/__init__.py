"""Events within steps: formulas that switch, and contact states (friction, stops, limits) that change."""

"""What holds, numerically: assembly, multipliers, reactions, minimum norm, joint limits; what cannot hold, and why."""

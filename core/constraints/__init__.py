"""What holds, numerically: closed positions, multipliers, reactions, limits, and what cannot hold and why."""

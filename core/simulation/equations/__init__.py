"""Equations of motion ẏ = f(t, y) of a machine in machine code, with constraints, friction, stops and reactions."""

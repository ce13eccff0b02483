"""ẏ = f(t, y) of a machine in machine code, with what holds and what comes out."""

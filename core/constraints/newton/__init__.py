"""Newton's method in machine code, over traced residuals: closed positions, frames that are to reach targets."""

"""An expression graph becomes machine code. Knows no robot."""

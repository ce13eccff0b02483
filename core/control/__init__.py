"""Control view of machines: linear systems with inputs and outputs, feedback, operating points."""

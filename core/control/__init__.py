"""Machines as control sees them: linear systems with inputs and outputs, feedback, operating points."""

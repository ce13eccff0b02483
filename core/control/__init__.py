"""Machines as control systems: linear systems with inputs and outputs, feedback, operating points."""

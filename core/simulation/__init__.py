"""Machines in motion: `simulate` gives a `Run`."""

from core.simulation.methods.tableaux import METHODS, Method
from core.simulation.run.run import Run, Statistics
from core.simulation.setup import Settings
from core.simulation.simulator import simulate, warm_up, warm_up_loops

__all__ = ["METHODS", "Method", "Run", "Settings", "Statistics", "simulate", "warm_up", "warm_up_loops"]

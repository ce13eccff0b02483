"""Machines in motion: `simulate` gives a `Run`. Names are loaded when they are asked for."""

from typing import TYPE_CHECKING

from core import later

if TYPE_CHECKING:
    from core.simulation.methods.method_table import METHODS, Method
    from core.simulation.run.run import Run, Statistics
    from core.simulation.setup import Settings
    from core.simulation.simulator import simulate

__all__ = ["METHODS", "Method", "Run", "Settings", "Statistics", "simulate"]

__getattr__ = later.names(
    __name__,
    {
        "methods.method_table": ("METHODS", "Method"),
        "run.run": ("Run", "Statistics"),
        "setup": ("Settings",),
        "simulator": ("simulate",),
    },
)

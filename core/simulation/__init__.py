"""Simulation of machines in motion: `simulate` returns a `Run`. Public names are imported lazily."""

from typing import TYPE_CHECKING

from core import later

if TYPE_CHECKING:
    from core.simulation.methods import METHODS
    from core.simulation.methods.method import Method
    from core.simulation.run.run import Run, Statistics
    from core.simulation.run.settings import Settings
    from core.simulation.simulator import simulate

__all__ = ["METHODS", "Method", "Run", "Settings", "Statistics", "simulate"]

__getattr__ = later.lazy_attributes(
    __name__,
    {
        "methods": ("METHODS",),
        "methods.method": ("Method",),
        "run.run": ("Run", "Statistics"),
        "run.settings": ("Settings",),
        "simulator": ("simulate",),
    },
)

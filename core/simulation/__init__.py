"""Machines in motion: `simulate` gives a `Run`. Names are loaded when they are asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.simulation.methods.method_table import METHODS, Method
    from core.simulation.run.run import Run, Statistics
    from core.simulation.setup import Settings
    from core.simulation.simulator import simulate

__all__ = ["METHODS", "Method", "Run", "Settings", "Statistics", "simulate"]

_PLACES = {
    "methods.method_table": ("METHODS", "Method"),
    "run.run": ("Run", "Statistics"),
    "setup": ("Settings",),
    "simulator": ("simulate",),
}
_PLACE = {name: f"{__package__}.{module}" for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_PLACE[name]), name)
    return value

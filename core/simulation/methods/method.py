"""Declared properties of an integration method."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.later import dataclass

if TYPE_CHECKING:
    from core.simulation.methods.step_state import StepState


@dataclass(frozen=True, kw_only=True)
class Method:
    """Integration method as the user selects it, with the constructor of its state. Each is declared in the file of its
    step loop and listed in `METHODS`."""

    id: str
    title: str
    place: int
    """Position in menus."""
    order: int
    adaptive: bool
    help: str
    begin: Callable[[str, int, Any], Callable[..., StepState]] | None
    """(its name, length of y, `CompiledEquations`) → constructor of the run's state, which the run's driver completes.
    """
    implicit: bool = False
    stability: float = 0.0
    """Stability limit h |λ| for damped motion, used to detect stiffness; 0: stiffness is not detected."""
    begins_with: str = ""
    """Method used until a machine proves stiff; empty: this method itself, always."""


AUTOMATIC, STIFF = "auto", "radau"
"""Default method; the method it switches to when the machine proves stiff."""
RTOL, ATOL = 1e-8, 1e-9
"""Default tolerances."""
RECORDED = Method(
    id="recorded",
    title="Recorded signal",
    place=0,
    order=0,
    adaptive=False,
    help="Read from a file; nothing was integrated.",
    begin=None,
)
"""Method of runs that were read from recorded traces."""

"""What a method says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.later import dataclass

if TYPE_CHECKING:
    from core.simulation.stepping.step_state import StepState


@dataclass(frozen=True, kw_only=True)
class Method:
    """An integrator as a person chooses it, and how its runs begin. Each is declared in the file of its loop, in
    `METHODS`."""

    id: str
    title: str
    place: int
    """Where it stands among the others, in menus."""
    order: int
    adaptive: bool
    help: str
    begin: Callable[[str, int, Any], Callable[..., StepState]] | None
    """(its name, length of y, `CompiledEquations`) → the state of a run, but for what the driver puts into it."""
    implicit: bool = False
    stability: float = 0.0
    """h |λ| up to which steps of damped motion stay bounded, as stiffness is told by; 0: it is not told."""
    begins_with: str = ""
    """The method that it is until a machine proves stiff; empty: itself, whatever the machine is."""


AUTOMATIC, STIFF = "auto", "radau"
"""The method unless a person chooses one; the one that it changes to where the machine proves stiff."""
RTOL, ATOL = 1e-8, 1e-9
"""Tolerances unless a person chooses others, for whoever starts a run."""
RECORDED = Method(
    id="recorded",
    title="Recorded signal",
    place=0,
    order=0,
    adaptive=False,
    help="Read from a file; nothing was integrated.",
    begin=None,
)
"""What runs that were read from traces name as their method."""

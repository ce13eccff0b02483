"""Semi-implicit Euler method: v ← v + h a(q, v), then q ← q + h N(q) v (symplectic if forces do not depend on
speeds)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, scratch
from core.simulation.equations.system import copy_array
from core.simulation.methods.method import Method
from core.simulation.methods.step_state import StepState, load_state

if TYPE_CHECKING:
    from core.simulation.equations.compiled_equations import CompiledEquations


@entry
def impulse_step(state: int, t: float, first: int, second: int) -> int:
    """Take one step of the length w.taken, in place."""
    w = load_state(state)
    room = scratch(len(w.y) + 1)
    room[0] = w.taken
    w.calls += 1
    happened: int = call_entry(w.impulse, w.system, t, address_of(w.y), address_of(room))
    copy_array(room[1:], w.k[0])
    return happened


def prepare_state(method: str, n: int, equations: CompiledEquations) -> partial[StepState]:
    """Return the constructor of the method's initial state for a run with n states."""
    from core.simulation.equations.entry_points import impulse_entry

    return partial(StepState, impulse=impulse_entry.address, step_of=impulse_step.address, stages=1, k=np.zeros((2, n)))


METHODS = (
    Method(
        id="semi_implicit_euler",
        title="Semi-implicit Euler, fixed step",
        place=8,
        order=1,
        adaptive=False,
        help="Keeps the energy error bounded over long runs.",
        begin=prepare_state,
    ),
)

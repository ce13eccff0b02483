"""Semi-implicit Euler: v ← v + h a(q, v), then q ← q + h N(q) v (symplectic where forces do not depend on speeds)."""

from __future__ import annotations

from typing import Any

from core.simulation.equations import entry_points
from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import address_of, call_entry, scratch
from core.simulation.stepping.step_state import (
    CALLS,
    IMPULSE,
    STAGES,
    STEP_OF,
    SYSTEM,
    TAKEN,
    copy,
    load_state,
    method_parts,
)


@entry
def impulse_step(state: int, t: float, first: int, second: int) -> int:
    """One step of the length w.numbers[TAKEN], in place."""
    w = load_state(state)
    room = scratch(len(w.y) + 1)
    room[0] = w.numbers[TAKEN]
    w.counts[CALLS] += 1
    happened: int = call_entry(w.addresses[IMPULSE], w.addresses[SYSTEM], t, address_of(w.y), address_of(room))
    copy(room[1:], w.k[0])
    return happened


def begin(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    """Addresses of the entries, and the room of a run of n numbers that begins; counts are set."""
    addresses[IMPULSE] = entry_points.impulse_entry.address
    addresses[STEP_OF] = impulse_step.address
    counts[STAGES] = 1
    return method_parts(n, 2)

"""Semi-implicit Euler: v ← v + h a(q, v), then q ← q + h N(q) v (symplectic where forces do not depend on speeds)."""

from __future__ import annotations

from core.simulation.stepping.compilation import address_of, call_entry, scratch
from core.simulation.stepping.step_state import CALLS, IMPULSE, SYSTEM, TAKEN, copy, load_state


def impulse_step(state: int, t: float, first: int, second: int) -> int:
    """One step of the length w.numbers[TAKEN], in place."""
    w = load_state(state)
    room = scratch(len(w.y) + 1)
    room[0] = w.numbers[TAKEN]
    w.counts[CALLS] += 1
    happened: int = call_entry(w.addresses[IMPULSE], w.addresses[SYSTEM], t, address_of(w.y), address_of(room))
    copy(room[1:], w.k[0])
    return happened

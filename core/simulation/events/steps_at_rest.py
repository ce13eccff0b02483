"""Step size control while rows stick: their reaction forces follow the loads although nothing moves, so that state
errors give no hint of the step size.

Where all speeds of a machine are held at zero the end of a step is its beginning, and the method is not asked; where
loads are linear in time, too, the step goes to the end of the run, for then what rows may carry more is concave. What
moves thereafter goes on with the step it had before.
"""

from __future__ import annotations

from typing import Any

from core.simulation.equations.contact_derivative import is_a_speed
from core.simulation.equations.contact_rows import HELD, load_rows
from core.simulation.equations.system import copy, load_system
from core.simulation.machine_code.language import native, scratch
from core.simulation.machine_code.outcome import FINE
from core.simulation.methods.step_state import derivative, load_state, scaled_norm

LONGEST_HELD, PARTS_HELD = 0.1, 500.0
"""Largest step while a row sticks: seconds, and share of a run. Sticking is checked during steps, and loads may come
and go without any effect on state errors."""
FIRST = 1e-6
"""s: shortest time over which the change of forces is evaluated when motion begins."""


@native
def longest_sticking_step(limit: float) -> float:
    """Return the longest step, s, while loads may come and go; limit: longest step in any case."""
    return min(limit, max(LONGEST_HELD, limit / PARTS_HELD))


@native
def nothing_can_move(state: int) -> Any:
    """Return true if nothing moves or can move: all speeds of a machine without loops are held at zero by friction."""
    w = load_state(state)
    s = load_system(w.system)
    r, held = load_rows(s.contact_rows), 0
    if s.nx > 0 or s.rows > 0 or w.plain_step != w.step_of:
        return False
    for i in range(s.nq, s.nq + s.nv):
        if w.y[i] != 0.0:
            return False
    known = scratch(s.nv)
    for i in range(s.nv):
        known[i] = 0.0
    for k in range(r.count):
        if r.mode[k] == HELD and is_a_speed(w.system, k) and known[r.columns[r.begins[k]]] == 0.0:
            known[r.columns[r.begins[k]]] = 1.0
            held += 1
    return held == s.nv


@native
def step_from_rest(state: int) -> float:
    """Return a first step size when motion begins, for Runge–Kutta methods: as `step_state.first_step`, but from the
    time in which speeds grow to the tolerances, since states at rest give no scale; 0: the method chooses."""
    w = load_state(state)
    f, point, other = scratch(len(w.y)), scratch(len(w.y)), scratch(len(w.y))
    if w.stages == 1 or not derivative(state, w.time, w.y, f):
        return 0.0
    slope = scaled_norm(state, f, w.y, w.y)
    if not slope > 0.0:
        return 0.0
    h = max(1.0 / slope, FIRST)
    for j in range(len(f)):
        point[j] = w.y[j] + h * f[j]
    if not derivative(state, w.time + h, point, other):
        return 0.0
    for j in range(len(f)):
        other[j] -= f[j]
    largest = max(slope, scaled_norm(state, other, w.y, w.y) / h)
    return min(1000.0 * h, (0.01 / largest) ** (1.0 / w.error_power))


@native
def stretch(state: int) -> None:
    """Extend the step to the longest allowed one while nothing moves; afterwards resume the step size from before, or
    one that the method chooses."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    if nothing_can_move(state):
        if r.resting == 0:
            r.resting, r.step_before = 1, w.step
        w.step = w.limit if r.linear == 1 else longest_sticking_step(w.limit)
    elif r.resting == 1:
        r.resting, w.step = 0, r.step_before if r.step_before > 0.0 else step_from_rest(state)


@native
def stay(state: int) -> int:
    """Take a step of a Runge–Kutta method in which nothing moves."""
    w = load_state(state)
    for i in range(len(w.A)):
        for j in range(len(w.y)):
            w.k[i, j] = 0.0
    copy(w.y, w.new)
    w.taken, w.fresh = min(min(w.step, w.limit), w.end - w.time), 1
    w.accepted += 1
    return FINE

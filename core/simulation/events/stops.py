"""Contact with stops: elastic stops are hit, compressed, left, and settled in; rigid stops exchange impulses.

All that are touched are struck together (`apply_impacts`). What bounces ever faster comes to rest (`BRIEF`): of a
flight of a nanosecond nobody knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import bounded
from core.simulation.equations.contact_derivative import act, responses
from core.simulation.equations.contact_rows import (
    APART,
    HELD,
    LEAVING,
    PRESSED,
    along,
    depth_of,
    has_settled,
    load_rows,
    pressure,
    refresh,
    rubs,
)
from core.simulation.equations.system import load_system
from core.simulation.events.contact_margins import EACH, TOUCHING
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.methods.step_state import derivative, load_state

BRIEF, LOW = 1e-9, 1e-15
"""s, and rad or m (relative for values above 1): shorter or lower bounces from a rigid stop end on it."""
IN_STOP = 3.0
"""rad: phase of the oscillation in an elastic stop covered by the first step, at a tolerance of 1."""
ROUNDED = 1e-14
"""Relative rounding error of the work of impulses."""
CALM = 0.1
"""Share of the tolerance below which the oscillation amplitude in an elastic stop counts as settled."""


@native
def update_stop(state: int, which: int) -> None:
    """Update the elastic stop of the row whose margin reached zero: hit, released or left."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, k = load_rows(rows), which // EACH
    side = 1 if r.upper[k] - r.value[k] < r.value[k] - r.lower[k] else -1
    if r.stop[k] == APART:
        if r.rigid[k] == 0:
            r.stop[k] = side * PRESSED
            r.bounces[k] += 1
    elif abs(r.stop[k]) == PRESSED:
        r.stop[k] = side * LEAVING if pressure(rows, k, side) < depth_of(rows, k, side) else APART
    elif abs(r.stop[k]) == LEAVING:  # what is left by a hair less than nothing is left
        r.stop[k] = APART if depth_of(rows, k, side) <= -pressure(rows, k, side) else side * PRESSED


@native
def derive_stop_stiffness(state: int, y: Any, which: int) -> None:
    """Derive the stiffness of stops hit for the first time, and the damping of the stop that is hit now (−1: of all),
    from the effective inertia at the stop."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r, n = load_rows(s.mode_rows), len(y)
    chosen, A, columns, base = scratch(1), scratch(1), scratch(s.nv), scratch(n)
    for k in range(r.count):
        met = which < 0 or which // EACH == k
        if abs(r.stop[k]) == PRESSED and met:
            r.stop[k], stop = APART, r.stop[k]
            act(place, w.time, y)
            call_entry(r.inner, place, w.time, address_of(y), address_of(base))
            chosen[0] = k
            responses(place, w.time, y, base, chosen, columns, A, 1)
            r.stop[k] = stop
            r.inertia[k] = 1.0 / A[0] if A[0] > 0.0 else 1.0
            r.stiffness[k] = r.stiffness[k] if r.stiffness[k] > 0.0 else r.closing[k] * r.inertia[k]
            r.fine[k] = w.atol + w.rtol * abs(r.value[k])
            if r.damping_ratio[k] > 0.0:
                r.dissipation[k] = 2.0 * r.damping_ratio[k] * np.sqrt(r.stiffness[k] * r.inertia[k])


@native
def choose_stop_step(state: int) -> None:
    """Choose the first step in an elastic stop to suit its natural frequency, for Runge–Kutta methods, since errors
    during free flight give no scale; after leaving the stop, the previous step size is resumed."""
    w = load_state(state)
    r, pace = load_rows(load_system(w.system).mode_rows), 0.0
    if w.error_power == 0:
        return
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED and r.mode[k] != HELD:
            pace = max(pace, np.sqrt(r.stiffness[k] / r.inertia[k]))
    if pace > 0.0:
        r.step_apart = w.step if r.step_apart == 0.0 else r.step_apart
        w.step = min(w.step, IN_STOP * w.rtol ** (1.0 / w.error_power) / pace)
    else:
        w.step, r.step_apart = max(w.step, r.step_apart), 0.0


@native
def is_touching(rows: int, k: int) -> int:
    """Return the side of a rigid stop that a row touches; 0: none."""
    r = load_rows(rows)
    if r.rigid[k] == 0:
        return 0
    for side in (1, -1):
        edge = r.upper[k] if side > 0 else r.lower[k]
        if np.isfinite(edge) and side * (r.value[k] - edge) >= -TOUCHING * max(1.0, abs(edge)):
            return side
    return 0


@native
def touched_stops(rows: int, chosen: Any, low: Any, high: Any) -> int:
    """Collect the rows at rigid stops and the bounds of their impulses; returns their number, 0 if none is hit."""
    r = load_rows(rows)
    n, hits = 0, 0
    for k in range(r.count):
        side = is_touching(rows, k)
        if side != 0:
            chosen[n] = k
            low[n], high[n] = (-np.inf, 0.0) if side > 0 else (0.0, np.inf)
            hits += 1 if side * r.rate[k] > 0.0 else 0
            n += 1
    return n if hits > 0 else 0


@native
def apply_impacts(state: int, y: Any) -> None:
    """Compute the speeds after impacts at rigid stops: γ⁺ + e γ⁻ ≥ 0 outward for all touched stops together (Newton's
    impact law in Moreau's form), with all e reduced if energy would be gained."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.mode_rows)
    m, nq, nv = r.count, s.nq, s.nv
    chosen, low, high = scratch(m), scratch(m), scratch(m)
    refresh(place, y[:nq], y[nq : nq + nv])
    n = touched_stops(s.mode_rows, chosen, low, high)
    if n == 0:
        return
    columns, A, base, lam = scratch(n * nv), scratch(n * n), scratch(len(y)), scratch(n)
    act(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    responses(place, w.time, y, base, chosen, columns, A, n)
    share = 1.0
    for _ in range(12):
        gain = solve_impulses(s.mode_rows, chosen, A, low, high, share, lam, n)
        if gain <= 0.0 or share == 0.0:
            break
        share = 0.5 * share if share > 1e-3 else 0.0
    for i in range(n):
        k, change_of_rate = int(chosen[i]), 0.0
        for j in range(n):
            change_of_rate += A[i * n + j] * lam[j]
        if lam[i] != 0.0:
            r.bounces[k] += 1
            r.struck[k] -= lam[i] * (r.rate[k] + 0.5 * change_of_rate)
        for j in range(nv):
            y[nq + j] += lam[i] * columns[i * nv + j]
    update_elastic_stops(state, y)


@native
def update_elastic_stops(state: int, y: Any) -> None:
    """Update elastic stops after an impact has changed speeds, so that no stop pulls."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    refresh(w.system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED or abs(r.stop[k]) == LEAVING:
            side = 1 if r.stop[k] > 0 else -1
            if depth_of(s.mode_rows, k, side) > 0.0:
                r.stop[k] = side * (PRESSED if pressure(s.mode_rows, k, side) >= 0.0 else LEAVING)


@native
def solve_impulses(rows: int, chosen: Any, A: Any, low: Any, high: Any, share: float, lam: Any, n: int) -> float:
    """Compute impulses for a common share of all restitutions into lam (n,); returns the energy gained, J; 0 if only
    rounding error."""
    r = load_rows(rows)
    c, side, g, gain, size = scratch(n), scratch(n), scratch(n), 0.0, 0.0
    for i in range(n):
        k = int(chosen[i])
        outward = r.rate[k] >= 0.0 if low[i] == 0.0 else r.rate[k] <= 0.0
        c[i] = r.rate[k] * (1.0 if outward else 1.0 + share * r.restitution[k])
    bounded(A, c, low, high, lam, side, g, n)
    for i in range(n):
        gain += lam[i] * r.rate[int(chosen[i])]
        size += abs(lam[i] * r.rate[int(chosen[i])])
        for j in range(n):
            gain += 0.5 * lam[i] * A[i * n + j] * lam[j]
    return gain if gain > ROUNDED * size else 0.0


@native
def is_slow(rows: int, k: int) -> Any:
    """Return true if a row without friction moves slowly enough in an elastic stop to settle."""
    r = load_rows(rows)
    if abs(r.stop[k]) != PRESSED or r.mode[k] == HELD or rubs(rows, k) or r.controlled[k] >= 0:
        return False
    return 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * np.sqrt(r.stiffness[k] / r.inertia[k])


@native
def mark_settled_rows(state: int, y: Any, which: int) -> None:
    """Mark in `ends` the rows that have settled in their elastic stops, and those that remain settled."""
    w = load_state(state)
    s = load_system(w.system)
    r, asked = load_rows(s.mode_rows), False
    for k in range(r.count):
        r.ends[k] = 1 if has_settled(s.mode_rows, k) and which // EACH != k else 0
        asked = asked or is_slow(s.mode_rows, k)
    if not asked or which >= 0:
        return
    f = scratch(len(y))
    derivative(state, w.time, y, f)
    for k in range(r.count):
        if is_slow(s.mode_rows, k):
            pace = np.sqrt(r.stiffness[k] / r.inertia[k])
            rising = along(s.mode_rows, k, f[s.nq : s.nq + s.nv]) + r.bias[k]
            r.ends[k] = 1 if abs(rising) / pace + 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * pace else 0


@native
def comes_back(rows: int, k: int) -> Any:
    """Return true if a row leaves a rigid stop although its gap has closed: it returns sooner than its position can
    resolve."""
    side = is_touching(rows, k)
    return side != 0 and side * load_rows(rows).rate[k] < 0.0


@native
def end_bouncing(state: int, y: Any, which: int) -> None:
    """End the bouncing of rows that leave a rigid stop so slowly that they would hit it again at once; also of rows
    that have settled in elastic stops."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r, base = load_rows(rows), scratch(len(y))
    refresh(place, y[:nq], y[nq : nq + nv])
    mark_settled_rows(state, y, which)
    asked = False
    for k in range(r.count):
        asked = asked or is_touching(rows, k) != 0
    if not asked:
        return
    act(place, w.time, y)
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    for k in range(r.count):
        side = is_touching(rows, k)
        if side == 0 or side * r.rate[k] >= 0.0:
            continue
        rising = along(rows, k, base[nq : nq + nv]) + r.bias[k]
        flight, height = 2.0 * abs(r.rate[k] / rising), 0.5 * r.rate[k] ** 2 / abs(rising)
        edge = r.upper[k] if side > 0 else r.lower[k]
        if side * rising > 0.0 and (flight < BRIEF or height < max(LOW * max(1.0, abs(edge)), 0.1 * w.atol)):
            r.ends[k] = 1

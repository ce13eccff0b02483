"""Elastic stops of joints: impact, compression, separation, and settling of rows that hardly move in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.equations.contact_derivative import apply_known_forces, compute_response_matrix
from core.simulation.equations.contact_rows import (
    APART,
    HELD,
    LEAVING,
    PRESSED,
    has_friction,
    has_settled,
    load_rows,
    speed_along,
    stop_penetration,
    stop_pressure,
    update_rows,
)
from core.simulation.equations.system import load_system
from core.simulation.events.contact_margins import EACH
from core.simulation.methods.step_state import compute_derivative, load_state

IN_STOP = 3.0
"""rad: phase of the oscillation in an elastic stop that the first step covers at a tolerance of 1."""
CALM = 0.1
"""Fraction of the tolerance below which the oscillation amplitude in an elastic stop counts as settled."""


@native
def update_stop(state: int, margin_index: int) -> None:
    """Update the elastic stop of the row whose margin reached zero: hit, released or left."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r, k = load_rows(rows), margin_index // EACH
    side = 1 if r.upper[k] - r.value[k] < r.value[k] - r.lower[k] else -1
    if r.stop[k] == APART:
        if r.rigid[k] == 0:
            r.stop[k] = side * PRESSED
            r.bounces[k] += 1
    elif abs(r.stop[k]) == PRESSED:
        r.stop[k] = side * LEAVING if stop_pressure(rows, k, side) < stop_penetration(rows, k, side) else APART
    elif abs(r.stop[k]) == LEAVING:  # what is left by a hair less than nothing is left
        r.stop[k] = APART if stop_penetration(rows, k, side) <= -stop_pressure(rows, k, side) else side * PRESSED


@native
def derive_stop_stiffness(state: int, y: Any, margin_index: int) -> None:
    """Derive the stiffness of stops hit for the first time, and the damping of the stop that is hit now (−1: of all),
    from the effective inertia at the stop."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r, n = load_rows(s.contact_rows), len(y)
    chosen, A, columns, base = scratch(1), scratch(1), scratch(s.nv), scratch(n)
    for k in range(r.count):
        met = margin_index < 0 or margin_index // EACH == k
        if abs(r.stop[k]) == PRESSED and met:
            r.stop[k], stop = APART, r.stop[k]
            apply_known_forces(place, w.time, y)
            call_entry(r.inner, place, w.time, address_of(y), address_of(base))
            chosen[0] = k
            compute_response_matrix(place, w.time, y, base, chosen, columns, A, 1)
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
    r, pace = load_rows(load_system(w.system).contact_rows), 0.0
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
def update_elastic_stops(state: int, y: Any) -> None:
    """Update elastic stops after an impact has changed speeds, so that no stop pulls."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    update_rows(w.system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED or abs(r.stop[k]) == LEAVING:
            side = 1 if r.stop[k] > 0 else -1
            if stop_penetration(s.contact_rows, k, side) > 0.0:
                r.stop[k] = side * (PRESSED if stop_pressure(s.contact_rows, k, side) >= 0.0 else LEAVING)


@native
def is_slow_enough_to_settle(rows: int, k: int) -> Any:
    """Return true if a row without friction moves slowly enough in an elastic stop to settle."""
    r = load_rows(rows)
    if abs(r.stop[k]) != PRESSED or r.mode[k] == HELD or has_friction(rows, k) or r.controlled[k] >= 0:
        return False
    return 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * np.sqrt(r.stiffness[k] / r.inertia[k])


@native
def mark_settled_rows(state: int, y: Any, margin_index: int) -> None:
    """Mark in `ends` the rows that have settled in their elastic stops, and those that remain settled."""
    w = load_state(state)
    s = load_system(w.system)
    r, asked = load_rows(s.contact_rows), False
    for k in range(r.count):
        r.ends[k] = 1 if has_settled(s.contact_rows, k) and margin_index // EACH != k else 0
        asked = asked or is_slow_enough_to_settle(s.contact_rows, k)
    if not asked or margin_index >= 0:
        return
    f = scratch(len(y))
    compute_derivative(state, w.time, y, f)
    for k in range(r.count):
        if is_slow_enough_to_settle(s.contact_rows, k):
            pace = np.sqrt(r.stiffness[k] / r.inertia[k])
            rising = speed_along(s.contact_rows, k, f[s.nq : s.nq + s.nv]) + r.bias[k]
            r.ends[k] = 1 if abs(rising) / pace + 2.0 * abs(r.rate[k]) < CALM * r.fine[k] * pace else 0

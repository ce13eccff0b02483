"""Event margins of contact rows (`core.simulation.equations.contact_rows`): functions that are positive while a contact
state lasts and cross zero where it ends.

A margin is positive while a mode holds: what a held row may carry more, the speed of one that slides, the gap of a
stop, what it presses with, what is left of a speed limit or an effort limit. `core.simulation.events.contact_location`
looks for the roots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import native, scratch
from core.machine_code.outcome import FINE
from core.simulation.equations.contact_derivative import derivative_with_bearing_loads
from core.simulation.equations.contact_rows import (
    APART,
    AT_SPEED,
    LEAVING,
    LINEAR,
    MOVING,
    OVERRUN,
    PRESSED,
    REST,
    SLOW,
    evaluate_friction_levels,
    evaluate_motor_commands,
    has_friction,
    is_active_state,
    largest_allowed_force,
    load_rows,
    smallest_allowed_force,
    speed_in_sliding_direction,
    stop_penetration,
    stop_pressure,
    update_rows,
    vector_magnitude,
)
from core.simulation.equations.system import load_system, set_time

BEARING, STANDING, LIMITED, COMMANDED, EACH = range(5)
"""Margins of a row: of friction or reaction force, of the stop, of the speed limit, of the effort limit; number of
margins."""
TOUCHING = 1e-11
"""Distance (rad or m, relative for values above 1) up to which a rigid stop counts as touched."""
DRIFT_AT_REST = 0.1 * TOUCHING
"""Distance by which a row at rest on a rigid stop may drift through rounding errors."""
ROUNDED = 1e-15
"""Relative rounding error of a coordinate."""
ROUNDING = 1e-12
"""Fraction of a row's friction by which its force may exceed a bound through rounding errors alone, for one-sided
friction at rest without loads."""


@native
def evaluate_row_state(system: int, t: float, y: Any) -> None:
    """Evaluate loads, friction, coordinates and speeds of rows at a state; reaction forces of active rows are left
    unchanged."""
    s = load_system(system)
    set_time(system, t)
    evaluate_motor_commands(system, t, y)
    evaluate_friction_levels(system, t, y)
    update_rows(system, y[: s.nq], y[s.nq : s.nq + s.nv])


@native
def has_active_row(rows: int) -> Any:
    """Return true if any row is active."""
    r, held = load_rows(rows), False
    for k in range(r.count):
        held = held or is_active_state(r.mode[k])
    return held


@native
def evaluate_powers(system: int, t: float, y: Any) -> Any:
    """Evaluate all quantities that row powers depend on at a state; reaction forces of sticking rows do no work."""
    s = load_system(system)
    r = load_rows(s.contact_rows)
    forces = r.bearing_loads != 0
    for k in range(r.count):
        forces = forces or abs(r.mode[k]) == AT_SPEED
    if forces:
        return derivative_with_bearing_loads(system, t, y, scratch(len(y)))
    evaluate_row_state(system, t, y)
    return FINE


@native
def compute_margins(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute all event margins (4 count,) at a state; infinite for margins that do not apply."""
    rows = load_system(system).contact_rows
    r, happened = load_rows(rows), FINE
    if r.bearing_loads != 0 or has_active_row(rows):
        happened = derivative_with_bearing_loads(system, t, y, scratch(len(y)))
    else:
        evaluate_row_state(system, t, y)
    tabulate_margins(rows, out)
    return happened


@native
def tabulate_margins(rows: int, out: Any) -> None:
    """Compute all event margins (4 count,) from the coordinates, speeds and forces evaluated last."""
    for k in range(load_rows(rows).count):
        out[EACH * k + BEARING] = force_margin(rows, k)
        out[EACH * k + STANDING] = stop_margin(rows, k)
        out[EACH * k + LIMITED] = speed_margin(rows, k)
        out[EACH * k + COMMANDED] = effort_margin(rows, k)


@native
def compute_margin(system: int, t: float, y: Any, m: int) -> float:
    """Return event margin m at a state, evaluating only what it depends on."""
    s = load_system(system)
    rows, k, kind = s.contact_rows, m // EACH, m % EACH
    r = load_rows(rows)
    if r.bearing_loads != 0 or (kind == BEARING and is_active_state(r.mode[k])):
        derivative_with_bearing_loads(system, t, y, scratch(len(y)))
    else:
        set_time(system, t)
        if kind in (LIMITED, COMMANDED):
            evaluate_motor_commands(system, t, y)
        elif kind == BEARING:
            evaluate_friction_levels(system, t, y)
        update_rows(system, y[: s.nq], y[s.nq : s.nq + s.nv])
    if kind == BEARING:
        return force_margin(rows, k)
    if kind == STANDING:
        return stop_margin(rows, k)
    return speed_margin(rows, k) if kind == LIMITED else effort_margin(rows, k)


@native
def effort_margin(rows: int, k: int) -> float:
    """Return the effort margin: the motor's reserve, or by how much the command exceeds it."""
    r = load_rows(rows)
    if not np.isfinite(r.strongest[k]):
        return np.inf
    if r.clipped[k] == 0:
        return r.strongest[k] - abs(r.wished[k])
    return r.clipped[k] * r.wished[k] - r.strongest[k]


@native
def speed_margin(rows: int, k: int) -> float:
    """Return the distance to a speed limit, or by how much loads drive the row beyond it."""
    r = load_rows(rows)
    if abs(r.mode[k]) == MOVING:  # without a command there is nothing to withhold
        return r.fastest[k] - abs(r.rate[k]) if r.asked[k] != 0.0 else np.inf
    return abs(r.rate[k]) - r.fastest[k] if abs(r.mode[k]) == OVERRUN else np.inf


@native
def force_margin(rows: int, k: int) -> float:
    """Return the force reserve of an active row, or the speed of a sliding one."""
    r = load_rows(rows)
    mode = r.mode[k]
    if r.shares[k] == 0:  # its first row tells
        return np.inf
    if is_active_state(mode):
        if r.shares[k] > 1:
            return r.static_onward[k] - vector_magnitude(rows, k, r.carried)
        hair = ROUNDING * (r.static_onward[k] + r.static_backward[k])
        return min(largest_allowed_force(rows, k) - r.carried[k], r.carried[k] - smallest_allowed_force(rows, k)) + hair
    if abs(mode) == MOVING and r.free[k] == 1:  # until there is friction
        return -1.0 if has_friction(rows, k) else 1.0
    if abs(mode) == MOVING and (has_friction(rows, k) or r.controlled[k] >= 0):
        if r.shares[k] > 1:
            return speed_in_sliding_direction(rows, k) + (rest_speed(rows, k) if r.zone[k] > 0.0 else 0.0)
        return r.rate[k] if mode > 0 else -r.rate[k]
    return np.inf


@native
def margin_rounding(rows: int, m: int) -> float:
    """Return the rounding error of margin m that results from the rounding of its coordinate; it is large for stiff
    stops, whose margins are forces."""
    r, k = load_rows(rows), m // EACH
    if m % EACH != STANDING or abs(r.stop[k]) not in (PRESSED, LEAVING):
        return 0.0
    edge = r.upper[k] if r.stop[k] > 0 else r.lower[k]
    return ROUNDED * max(abs(r.value[k]), abs(edge)) * (r.stiffness[k] if r.law[k] == LINEAR else 1.0)


@native
def rest_speed(rows: int, k: int) -> float:
    """Return the speed below which a row is at rest."""
    r = load_rows(rows)
    return REST * (r.quickest[k] + SLOW)


@native
def stop_margin(rows: int, k: int) -> float:
    """Return the stop margin: the gap of an open stop, the force of a compressed one, or the remaining penetration of a
    separating one."""
    r = load_rows(rows)
    stop = r.stop[k]
    side = 1 if stop > 0 else -1
    if stop == APART:
        gap = min(r.upper[k] - r.value[k], r.value[k] - r.lower[k])
        if r.rigid[k] == 1 and abs(r.rate[k]) <= rest_speed(rows, k):
            gap += DRIFT_AT_REST * max(1.0, abs(r.value[k]))
        return gap
    if abs(stop) == PRESSED:
        return min(stop_penetration(rows, k, side), stop_pressure(rows, k, side))
    if abs(stop) == LEAVING:  # pushed in again before it was left?
        return min(stop_penetration(rows, k, side), -stop_pressure(rows, k, side))
    return np.inf

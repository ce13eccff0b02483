"""Changes of contact state after an event margin has reached zero (`core.simulation.events.contact_margins`); the entry
point is `change`.

In this order: elastic stops are hit or left (`core.simulation.events.elastic_stops`), rigid ones exchange impulses
(`core.simulation.events.impacts`), rows at rest become candidates for sticking (`mark_candidates`), and the convex
problem decides which of them stick (`core.simulation.events.contact_resolution`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import native, scratch
from core.simulation.equations.contact_rows import (
    AGAINST,
    APART,
    AT_SPEED,
    HELD,
    MOVING,
    OVERRUN,
    PRESSED,
    SATURATED,
    STOPS,
    evaluate_friction_levels,
    has_friction,
    is_active_state,
    largest_allowed_force,
    load_rows,
    set_sliding_direction,
    smallest_allowed_force,
    update_rows,
    vector_magnitude,
)
from core.simulation.equations.system import load_system, set_time
from core.simulation.events.contact_margins import BEARING, COMMANDED, EACH, LIMITED, STANDING, rest_speed
from core.simulation.events.contact_resolution import (
    STOPPING,
    onset_speed,
    resolve_contact_states,
    saturate_row,
    update_speed_limit_state,
)
from core.simulation.events.elastic_stops import derive_stop_stiffness, update_stop
from core.simulation.events.impacts import apply_impacts, end_bouncing, is_touching, returns_to_stop
from core.simulation.methods.step_state import load_state, project
from core.simulation.stepping import reset_history

_pending: Any = np.arange(-3, 0)
BEGINS, NOTHING_PENDING, LOOK_AGAIN = _pending
"""Values of `StepState.pending` other than a margin number: a run begins, nothing, saturated rows are to be checked.
NumPy integers: Numba would compile every change again for each literal."""


STILL_FAST = 1.0 - 1e-6
"""Fraction of a speed limit above which a row counts as being at it."""


@native
def toggle_clipping(rows: int, k: int) -> None:
    """Toggle the clipping state of a row's motor command, which has just crossed its effort limit."""
    r = load_rows(rows)
    r.clipped[k] = 0 if r.clipped[k] != 0 else 1 if r.wished[k] > 0.0 else -1


@native
def is_at_speed_limit(rows: int, k: int) -> Any:
    """Return true if the row's speed agrees with its contact state "at the speed limit", or if the row is in another
    state."""
    r = load_rows(rows)
    if abs(r.mode[k]) != AT_SPEED and abs(r.mode[k]) != OVERRUN:
        return True
    speed = r.rate[k] if r.mode[k] > 0 else -r.rate[k]
    too_fast = abs(r.mode[k]) == AT_SPEED and speed > r.fastest[k] * (2.0 - STILL_FAST)
    return speed >= STILL_FAST * r.fastest[k] and not too_fast


@native
def update_brake_release(rows: int, k: int, margin_ended: bool) -> Any:
    """Return true if a brake or clutch releases its row because its friction has vanished; also updates the row's
    `free` flag."""
    r = load_rows(rows)
    if r.controlled[k] < 0:
        return False
    if margin_ended and r.mode[k] == HELD and not has_friction(rows, k) and abs(r.stop[k]) != AGAINST:
        r.mode[k] = -MOVING if r.carried[k] > 0.0 else MOVING  # it gives way to what it carried
        return True
    r.free[k] = 0 if has_friction(rows, k) or (margin_ended and r.free[k] == 1) else 1
    return False


@native
def rest_threshold(state: int, k: int, margin_index: int) -> float:
    """Return the speed below which row k is at rest. For a row that was at rest and not struck, this includes the
    integration error allowed by the tolerances."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r, struck = load_rows(rows), margin_index >= 0 and margin_index % EACH == STANDING
    rested = r.mode[k] == HELD or abs(r.mode[k]) == SATURATED
    return max(rest_speed(rows, k), w.atol + w.rtol * r.quickest[k] if rested and not struck else 0.0)


@native
def mark_disk_rows(state: int, k: int, margin_index: int) -> int:
    """Mark the rows of a friction disk (k: the first) as sticking if possible, else as sliding; returns the number of
    sticking rows."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r, count = load_rows(rows), load_rows(rows).shares[k]
    speed, ended = vector_magnitude(rows, k, r.rate), margin_index == EACH * k + BEARING
    for i in range(k, k + count):
        r.held_at[i] = r.value[i] if r.mode[i] != HELD else r.held_at[i]
    r.quickest[k] = max(r.quickest[k], speed)
    passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
    passes = passes and (r.zone[k] == STOPS or speed <= STOPPING * (w.atol + w.rtol * r.quickest[k]))
    let = update_brake_release(rows, k, ended)
    rubbing = not let and (r.free[k] == 0 if r.controlled[k] >= 0 else has_friction(rows, k))
    tolerance = rest_threshold(state, k, margin_index)
    held = rubbing and (speed <= tolerance or passes)
    if let:
        r.began[k], r.zone[k] = w.time, onset_speed(w.atol)
        set_sliding_direction(rows, k, r.carried, -1.0)
    elif not held and (speed > max(tolerance, r.zone[k]) or (ended and r.zone[k] > 0.0)):
        set_sliding_direction(rows, k, r.rate, 1.0)
        r.zone[k] = 0.0
    if held or r.zone[k] == STOPS:
        r.zone[k] = 0.0
    for i in range(k, k + count):
        r.mode[i], r.free[i] = HELD if held else MOVING, r.free[k]
    return count if held else 0


@native
def mark_candidates(state: int, y: Any, margin_index: int) -> int:
    """Mark rows at rest as candidates for sticking (`HELD`) and all others as moving; returns the number of active
    rows."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, count = s.contact_rows, 0
    r = load_rows(rows)
    update_rows(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        located = margin_index >= 0 and margin_index // EACH == k
        if r.shares[k] != 1:
            count += mark_disk_rows(state, k, margin_index) if r.shares[k] > 1 else 0
            continue
        r.held_at[k] = r.value[k] if r.mode[k] != HELD else r.held_at[k]
        r.quickest[k] = max(r.quickest[k], abs(r.rate[k]))
        tolerance = rest_threshold(state, k, margin_index)
        side = is_touching(rows, k)
        presses = side != 0 and (side * r.rate[k] >= -tolerance or r.ends[k] == 1)
        ended = located and margin_index % EACH == BEARING
        passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
        if update_brake_release(rows, k, ended):
            r.began[k] = w.time
            continue
        rubbing = r.free[k] == 0 if r.controlled[k] >= 0 else has_friction(rows, k)
        rubbing = rubbing or (r.ends[k] == 1 and abs(r.stop[k]) == PRESSED)
        resting = abs(r.rate[k]) <= tolerance or r.ends[k] == 1 or passes
        if not is_at_speed_limit(rows, k):  # an impact has slowed it, or thrown it back
            r.mode[k] = MOVING if r.rate[k] >= 0.0 else -MOVING
        limiting = located and margin_index % EACH == LIMITED
        too_fast = abs(r.rate[k]) > r.fastest[k] * (2.0 - STILL_FAST) and r.asked[k] != 0.0
        if too_fast and abs(r.mode[k]) not in (AT_SPEED, OVERRUN) and not limiting:  # an impact has made it faster
            r.mode[k] = OVERRUN if r.rate[k] > 0.0 else -OVERRUN
            r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]
        if abs(r.mode[k]) in (AT_SPEED, OVERRUN) or limiting:
            if limiting or ended:
                update_speed_limit_state(rows, k)
            count += 1 if is_active_state(r.mode[k]) else 0
            continue
        r.stop[k] = (
            side * AGAINST
            if presses and (resting or side * r.rate[k] > 0.0)
            else (APART if abs(r.stop[k]) == AGAINST else r.stop[k])
        )
        if (rubbing and resting) or abs(r.stop[k]) == AGAINST:
            r.mode[k] = HELD
            count += 1
        elif r.rate[k] != 0.0 or not rubbing:
            r.mode[k] = MOVING if r.rate[k] >= 0.0 else -MOVING
    return count


@native
def release_chattering_row(state: int, margin_index: int) -> None:
    """Release a row that can no longer stick and whose contact state keeps changing at one instant."""
    w = load_state(state)
    rows, k = load_system(w.system).contact_rows, margin_index // EACH
    r = load_rows(rows)
    if r.cramped == 0:
        r.cramped, r.cramped_at = margin_index + 1, w.time
    if margin_index % EACH == BEARING and r.mode[k] == HELD:
        saturate_row(
            rows, k, largest_allowed_force(rows, k) - r.carried[k] < r.carried[k] - smallest_allowed_force(rows, k)
        )
    w.pending, w.fresh = NOTHING_PENDING, 0
    reset_history(state)


@native
def has_reversed_direction(state: int, y: Any) -> bool:
    """Return True if a sliding row has reversed its direction because other rows came to a stop."""
    w = load_state(state)
    s = load_system(w.system)
    rows, turned = s.contact_rows, False
    r = load_rows(rows)
    update_rows(w.system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if r.shares[k] == 1 and abs(r.mode[k]) == MOVING and r.began[k] != w.time and has_friction(rows, k):
            turned = turned or r.mode[k] * r.rate[k] < -rest_speed(rows, k)
    return turned


@native
def update_contact_states(state: int, y: Any, margin_index: int) -> None:
    """Determine the contact states at the state y after margin `margin_index` reached zero (−1: a run begins, or
    saturated rows are checked)."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.contact_rows)
    before = scratch(r.count)
    set_time(place, w.time)
    evaluate_friction_levels(place, w.time, y)
    update_rows(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        before[k] = r.mode[k]
    returns = (
        margin_index >= 0 and margin_index % EACH == STANDING and returns_to_stop(s.contact_rows, margin_index // EACH)
    )
    if margin_index >= 0 and margin_index % EACH == STANDING:
        met = r.stop[margin_index // EACH] == APART  # what presses again before it was left is as it was
        update_stop(state, margin_index)
        if met:
            derive_stop_stiffness(state, y, margin_index)
    elif margin_index >= 0 and margin_index % EACH == COMMANDED:
        toggle_clipping(s.contact_rows, margin_index // EACH)
    apply_impacts(state, y)
    end_bouncing(state, y, margin_index)
    if returns:
        r.ends[margin_index // EACH] = 1
    if mark_candidates(state, y, margin_index) > 0:
        resolve_contact_states(state, y, margin_index, before)
        if has_reversed_direction(state, y):
            mark_candidates(state, y, LOOK_AGAIN)
            resolve_contact_states(state, y, LOOK_AGAIN, before)
    project(state, w.time, y, w.failed[:0])

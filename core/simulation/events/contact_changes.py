"""Changes of contact state after an event margin has reached zero (`core.simulation.events.contact_margins`); the entry
point is `change`.

Stops do what they do (`core.simulation.events.stops`); then those rows that are at rest and may be held are, unless
bounds do not suffice: `core.simulation.equations.ball_forces.resolved`; speeds of held rows are set to nothing by the
least change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import correct, motion
from core.simulation.equations.ball_forces import resolved
from core.simulation.equations.bearing_loads import (
    BEARING_ROUNDS,
    WELL,
    evaluate_bearing_loads,
    gap_of,
    update_bearing_loads,
)
from core.simulation.equations.contact_derivative import act, force_scale, is_a_speed, responses
from core.simulation.equations.contact_rows import (
    AGAINST,
    APART,
    AT_SPEED,
    HELD,
    MOVING,
    OVERRUN,
    PRESSED,
    REST,
    SATURATED,
    STOPS,
    adjust,
    along,
    has_settled,
    is_held,
    least,
    length,
    load_rows,
    most,
    refresh,
    rubs,
    set_sliding_direction,
    sliding,
)
from core.simulation.equations.system import load_system, tick
from core.simulation.events.contact_margins import BEARING, COMMANDED, EACH, LIMITED, STANDING, rest_speed
from core.simulation.events.stops import (
    apply_impacts,
    comes_back,
    derive_stop_stiffness,
    end_bouncing,
    is_touching,
    update_stop,
)
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.methods.step_state import load_state, project
from core.simulation.stepping import begin_anew

_pending: Any = np.arange(-3, 0)
BEGINS, NOTHING_PENDING, LOOK_AGAIN = _pending
"""Values of `StepState.pending` other than a margin number: a run begins, nothing, saturated rows are to be checked.
NumPy integers: Numba would compile every change again for each literal."""
STOPPING = 10.0
"""Largest transverse speed, relative to the run's tolerance of a speed, at which a friction disk comes to rest when its
speed along its direction reaches zero."""
EXCESS = 1e-5
"""Share of `force_scale` by which a row located at its bound exceeds it; more than the rounding error of non-unique
forces."""
LED = 1e-9
"""Share of a force's usual effect on its row above which a row at a dead point is accelerated by others."""
STILL_FAST = 1.0 - 1e-6
"""Share of a speed limit above which a row counts as being at it."""


@native
def clip(rows: int, k: int) -> None:
    """Toggle the clipping state of a row's motor command, which has just crossed its effort limit."""
    r = load_rows(rows)
    r.clipped[k] = 0 if r.clipped[k] != 0 else 1 if r.wished[k] > 0.0 else -1


@native
def limit_speed(rows: int, k: int) -> None:
    """Set the contact state of a row whose speed has reached its limit or leaves it."""
    r = load_rows(rows)
    sense = 1 if r.rate[k] > 0.0 else -1
    if abs(r.mode[k]) == AT_SPEED:
        slack = -sense * r.carried[k] < 0.5 * sense * r.asked[k]  # the command alone would be slower
        r.mode[k] = sense * (MOVING if slack else OVERRUN)
    elif abs(r.mode[k]) == OVERRUN:
        r.mode[k] = sense * MOVING
    else:
        r.mode[k] = sense * (OVERRUN if abs(r.rate[k]) > (1.0 + REST) * r.fastest[k] else AT_SPEED)


@native
def is_at_speed_limit(rows: int, k: int) -> Any:
    """Return true if the row's speed agrees with its state at a speed limit, or if it is in another state."""
    r = load_rows(rows)
    if abs(r.mode[k]) != AT_SPEED and abs(r.mode[k]) != OVERRUN:
        return True
    speed = r.rate[k] if r.mode[k] > 0 else -r.rate[k]
    too_fast = abs(r.mode[k]) == AT_SPEED and speed > r.fastest[k] * (2.0 - STILL_FAST)
    return speed >= STILL_FAST * r.fastest[k] and not too_fast


@native
def release_brake(rows: int, k: int, ended: bool) -> Any:
    """Return true if a brake or clutch whose friction has vanished releases its row; also updates the row's `free`
    flag."""
    r = load_rows(rows)
    if r.controlled[k] < 0:
        return False
    if ended and r.mode[k] == HELD and not rubs(rows, k) and abs(r.stop[k]) != AGAINST:
        r.mode[k] = -MOVING if r.carried[k] > 0.0 else MOVING  # it gives way to what it carried
        return True
    r.free[k] = 0 if rubs(rows, k) or (ended and r.free[k] == 1) else 1
    return False


@native
def rest_threshold(state: int, k: int, which: int) -> float:
    """Return the speed below which row k is at rest. For a row that was at rest and not struck, this includes the
    integration error allowed by the tolerances."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, struck = load_rows(rows), which >= 0 and which % EACH == STANDING
    rested = r.mode[k] == HELD or abs(r.mode[k]) == SATURATED
    return max(rest_speed(rows, k), w.atol + w.rtol * r.quickest[k] if rested and not struck else 0.0)


@native
def mark_disk_rows(state: int, k: int, which: int) -> int:
    """Mark the rows of a friction disk (k: the first) as sticking if possible, else as sliding; returns the number of
    sticking rows."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, count = load_rows(rows), load_rows(rows).shares[k]
    speed, ended = length(rows, k, r.rate), which == EACH * k + BEARING
    for i in range(k, k + count):
        r.held_at[i] = r.value[i] if r.mode[i] != HELD else r.held_at[i]
    r.quickest[k] = max(r.quickest[k], speed)
    passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
    passes = passes and (r.zone[k] == STOPS or speed <= STOPPING * (w.atol + w.rtol * r.quickest[k]))
    let = release_brake(rows, k, ended)
    rubbing = not let and (r.free[k] == 0 if r.controlled[k] >= 0 else rubs(rows, k))
    tolerance = rest_threshold(state, k, which)
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
def mark_candidates(state: int, y: Any, which: int) -> int:
    """Mark rows at rest that may stick (`HELD`) and others as moving; returns the number of all active rows."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, count = s.mode_rows, 0
    r = load_rows(rows)
    refresh(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        located = which >= 0 and which // EACH == k
        if r.shares[k] != 1:
            count += mark_disk_rows(state, k, which) if r.shares[k] > 1 else 0
            continue
        r.held_at[k] = r.value[k] if r.mode[k] != HELD else r.held_at[k]
        r.quickest[k] = max(r.quickest[k], abs(r.rate[k]))
        tolerance = rest_threshold(state, k, which)
        side = is_touching(rows, k)
        presses = side != 0 and (side * r.rate[k] >= -tolerance or r.ends[k] == 1)
        ended = located and which % EACH == BEARING
        passes = ended and abs(r.mode[k]) == MOVING and r.free[k] == 0
        if release_brake(rows, k, ended):
            r.began[k] = w.time
            continue
        rubbing = r.free[k] == 0 if r.controlled[k] >= 0 else rubs(rows, k)
        rubbing = rubbing or (r.ends[k] == 1 and abs(r.stop[k]) == PRESSED)
        resting = abs(r.rate[k]) <= tolerance or r.ends[k] == 1 or passes
        if not is_at_speed_limit(rows, k):  # an impact has slowed it, or thrown it back
            r.mode[k] = MOVING if r.rate[k] >= 0.0 else -MOVING
        limiting = located and which % EACH == LIMITED
        too_fast = abs(r.rate[k]) > r.fastest[k] * (2.0 - STILL_FAST) and r.asked[k] != 0.0
        if too_fast and abs(r.mode[k]) not in (AT_SPEED, OVERRUN) and not limiting:  # an impact has made it faster
            r.mode[k] = OVERRUN if r.rate[k] > 0.0 else -OVERRUN
            r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]
        if abs(r.mode[k]) in (AT_SPEED, OVERRUN) or limiting:
            if limiting or ended:
                limit_speed(rows, k)
            count += 1 if is_held(r.mode[k]) else 0
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
def solve_candidate_forces(
    state: int,
    y: Any,
    which: int,
    before: Any,
    chosen: Any,
    shares: Any,
    columns: Any,
    A: Any,
    base: Any,
    c: Any,
    bounds: Any,
    broken: Any,
    hair: Any,
    lam: Any,
    side: Any,
    g: Any,
    n: int,
) -> None:
    """Compute the admissible forces λ of the n candidates and mark in `broken` those that break away nevertheless."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r = load_rows(rows)
    act(place, w.time, y)  # held rows exert nothing
    call_entry(r.inner, place, w.time, address_of(y), address_of(base))
    responses(place, w.time, y, base, chosen, columns, A, n)
    for i in range(n):
        k = int(chosen[i])
        c[i] = along(rows, k, base[nq : nq + nv]) + r.bias[k]
        broken[i] = hair[i] = 0.0
        if r.mode[k] != HELD:
            bounds[i], bounds[n + i] = least(rows, k), most(rows, k)
            bounds[2 * n + i], bounds[3 * n + i] = bounds[i], bounds[n + i]
            continue
        stop = r.stop[k]
        bounds[i], bounds[n + i] = least(rows, k), most(rows, k)
        bounds[2 * n + i] = (
            -np.inf if stop == AGAINST else -sliding(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
        )
        bounds[3 * n + i] = (
            np.inf if stop == -AGAINST else sliding(r.static_backward[k], r.kinetic_backward[k], r.stribeck[k], 0.0)
        )
        located = which == EACH * r.leader[k] + BEARING
        broken[i] = 1.0 if r.began[r.leader[k]] == w.time else 0.0
        hair[i] = EXCESS * force_scale(rows, r.leader[k]) if located and int(before[k]) == HELD else 0.0
    if not resolved(A, c, bounds, shares, broken, hair, lam, side, g, n):
        r.approximate = 1


@native
def bearings_agree(place: int, y: Any, base: Any, chosen: Any, columns: Any, lam: Any, turn: int, n: int) -> Any:
    """Return true if the friction bounds used for λ agree with the resulting bearing reactions; otherwise update the
    load estimate. base (n,): ẏ without λ on entry, with λ on return."""
    s = load_system(place)
    rows, nq, nv = s.mode_rows, s.nq, s.nv
    r, fresh = load_rows(rows), scratch(len(load_rows(rows).loads))
    for i in range(n):
        k = int(chosen[i])
        r.carried[k] = lam[i]
        r.force[k] += lam[i]
        for j in range(nv):
            base[nq + j] += lam[i] * columns[i * nv + j]
    if not evaluate_bearing_loads(place, y, base[nq : nq + nv], fresh):
        r.unsettled = 1
        return True
    gap = gap_of(rows, fresh)
    if update_bearing_loads(rows, fresh, turn) or turn >= BEARING_ROUNDS:
        r.unsettled = 0 if gap <= WELL else 1
        return True
    return False


@native
def settle_modes(state: int, y: Any, which: int, before: Any, n: int) -> None:
    """Decide which of the n candidates stick and in which direction the others slide; rows at a speed limit stay there
    while their motors can restrain them. before (count,): previous contact states."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nv = s.mode_rows, s.nv
    r = load_rows(rows)
    chosen, columns, A, base = scratch(n), scratch(n * nv), scratch(n * n), scratch(len(y))
    c, bounds, broken, hair = scratch(n), scratch(4 * n), scratch(n), scratch(n)
    lam, side, g, count = scratch(n), scratch(n), scratch(n), 0
    shares = scratch(n)
    for k in range(r.count):
        if is_held(r.mode[k]):
            chosen[count], shares[count] = k, r.shares[k]
            count += 1
    turn = 0
    while True:
        solve_candidate_forces(
            state, y, which, before, chosen, shares, columns, A, base, c, bounds, broken, hair, lam, side, g, n
        )
        if r.bearing_loads == 0 or bearings_agree(place, y, base, chosen, columns, lam, turn, n):
            break
        turn += 1
    for i in range(n):
        k = int(chosen[i])
        if r.shares[k] != 1:
            if r.shares[k] > 1 and side[i] != 0.0:
                end_disk_sticking(state, k, lam[i : i + r.shares[k]], broken[i] > 0.0)
        elif abs(r.mode[k]) != AT_SPEED:
            led = A[i * n + i] == 0.0 and abs(g[i]) > LED * r.largest[k] * force_scale(rows, k)  # no force moves it
            pulled = g[i] if led else -side[i]
            if not leave_sticking(state, k, side[i], pulled, broken[i] > 0.0) and which < 0:
                keep_saturated(rows, k, int(before[k]), lam[i])
        elif broken[i] > 0.0 and side[i] != 0.0:  # its motor cannot keep it at its limit
            r.carried[k] = lam[i]
            limit_speed(rows, k)
    stop_rows(state, y, chosen, A, columns, n)


@native
def leave_sticking(state: int, k: int, side: float, pulled: float, breaks: bool) -> bool:
    """Update the contact state of a candidate row; returns True if it does not stick. side: bound reached by its force,
    0: none; pulled: direction in which it is driven."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    if breaks and pulled != 0.0:  # the force at its upper bound drives backward no more
        r.mode[k], r.began[k] = -MOVING if pulled < 0.0 else MOVING, w.time
        r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]
        return True
    if side != 0.0 and (rubs(rows, k) or abs(r.stop[k]) == AGAINST or has_settled(rows, k)):
        saturate_row(rows, k, side > 0.0)
        return True
    return False


@native
def keep_saturated(rows: int, k: int, before: int, force: float) -> None:
    """Keep a row saturated that still carries its maximum force up to rounding error; it would saturate again at
    once."""
    r = load_rows(rows)
    if abs(before) != SATURATED or r.mode[k] != HELD or r.stop[k] == AGAINST or r.stop[k] == -AGAINST:
        return
    bound = r.static_backward[k] if before > 0 else -r.static_onward[k]
    if abs(force - bound) < EXCESS * force_scale(rows, k):
        r.mode[k] = before


@native
def end_disk_sticking(state: int, k: int, carried: Any, breaks: bool) -> None:
    """Let a friction disk (k: its first row) at its maximum friction slide, or mark it as saturated while other rows
    hold it."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r, size = load_rows(rows), 0.0
    for i in range(len(carried)):
        size += carried[i] * carried[i]
    for i in range(len(carried)):
        r.mode[k + i] = MOVING if breaks else SATURATED
        if size > 0.0:
            r.aim[k + i] = -carried[i] / np.sqrt(size)
    if breaks:
        r.began[k], r.zone[k] = w.time, onset_speed(w.atol)


@native
def onset_speed(atol: float) -> float:
    """Return the speed up to which a friction disk counts as beginning to slide
    (`core.simulation.equations.sliding_onset`), rad/s or m/s: above it, direction errors are far below the tolerance
    and the equations less stiff."""
    return 0.5 * np.sqrt(24.0 * STOPPING * atol)


@native
def saturate_row(rows: int, k: int, upper: bool) -> None:
    """Mark an active row at its force bound as saturated while other rows hold it, or release its stop."""
    r = load_rows(rows)
    if r.shares[k] > 1:
        set_sliding_direction(rows, k, r.carried, -1.0)
        for i in range(k, k + r.shares[k]):
            r.mode[i] = SATURATED
        return
    r.mode[k] = (SATURATED if rubs(rows, k) else -MOVING) * (1 if upper else -1)
    r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]


@native
def give_way(state: int, which: int) -> None:
    """Release a row whose contact state keeps changing at one instant and that can no longer stick."""
    w = load_state(state)
    rows, k = load_system(w.system).mode_rows, which // EACH
    r = load_rows(rows)
    if r.cramped == 0:
        r.cramped, r.cramped_at = which + 1, w.time
    if which % EACH == BEARING and r.mode[k] == HELD:
        saturate_row(rows, k, most(rows, k) - r.carried[k] < r.carried[k] - least(rows, k))
    w.pending, w.fresh = NOTHING_PENDING, 0
    begin_anew(state)


@native
def stop_rows(state: int, y: Any, chosen: Any, A: Any, columns: Any, n: int) -> None:
    """Set the speeds of sticking rows to zero by the smallest change in the metric of M."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    c, lam, side, g = scratch(n), scratch(n), scratch(n), scratch(n)
    for i in range(n):
        k = int(chosen[i])
        rests = r.mode[k] == HELD or r.shares[k] != 1  # what a ball had left across its aim is gone, too
        c[i] = r.rate[k] if rests else 0.0
        lam[i], side[i] = 0.0, 0.0 if rests or is_held(r.mode[k]) else 1.0
    motion(A, c, lam, g, n)
    for _ in range(3):
        correct(A, g, lam, side, n)
        motion(A, c, lam, g, n)
    for i in range(n):
        for j in range(s.nv):
            y[s.nq + j] += lam[i] * columns[i * s.nv + j]
    # exactly so where a row is a speed
    for i in range(n):
        k = int(chosen[i])
        if (r.mode[k] == HELD or r.shares[k] != 1) and is_a_speed(w.system, k):
            y[s.nq + r.columns[r.begins[k]]] = 0.0


@native
def reversed_direction(state: int, y: Any) -> bool:
    """Return True if a sliding row has reversed its direction because other rows were stopped."""
    w = load_state(state)
    s = load_system(w.system)
    rows, turned = s.mode_rows, False
    r = load_rows(rows)
    refresh(w.system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if r.shares[k] == 1 and abs(r.mode[k]) == MOVING and r.began[k] != w.time and rubs(rows, k):
            turned = turned or r.mode[k] * r.rate[k] < -rest_speed(rows, k)
    return turned


@native
def change(state: int, y: Any, which: int) -> None:
    """Determine the contact states at the state y after margin `which` reached zero (−1: a run begins, or saturated
    rows are checked)."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r = load_rows(s.mode_rows)
    before = scratch(r.count)
    tick(place, w.time)
    adjust(place, w.time, y)
    refresh(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        before[k] = r.mode[k]
    returns = which >= 0 and which % EACH == STANDING and comes_back(s.mode_rows, which // EACH)
    if which >= 0 and which % EACH == STANDING:
        met = r.stop[which // EACH] == APART  # what presses again before it was left is as it was
        update_stop(state, which)
        if met:
            derive_stop_stiffness(state, y, which)
    elif which >= 0 and which % EACH == COMMANDED:
        clip(s.mode_rows, which // EACH)
    apply_impacts(state, y)
    end_bouncing(state, y, which)
    if returns:
        r.ends[which // EACH] = 1
    n = mark_candidates(state, y, which)
    if n > 0:
        settle_modes(state, y, which, before, n)
        if reversed_direction(state, y):
            n = mark_candidates(state, y, LOOK_AGAIN)
            settle_modes(state, y, LOOK_AGAIN, before, n)
    project(state, w.time, y, w.failed[:0])

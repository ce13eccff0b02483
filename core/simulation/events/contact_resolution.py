"""Determines which rows stick: contact states at one instant, from the convex problem of
`core.simulation.equations.contact_problem`.

The problem is set up for the candidates (`set_up_problem`) and solved; where friction grows with reactions of joints,
again until the bearing loads are those of its forces (`update_bearing_estimate`). Candidates that break away slide;
those at a bound that do not move are saturated: others hold them. Speeds of sticking rows are set to zero by the least
change (`stop_sticking_rows`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import compute_row_accelerations, refine_forces
from core.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.equations.bearing_loads import (
    BEARING_ROUNDS,
    WELL,
    evaluate_bearing_loads,
    relative_load_error,
    update_bearing_loads,
)
from core.simulation.equations.contact_derivative import (
    apply_known_forces,
    compute_response_matrix,
    force_scale,
    is_generalized_speed,
)
from core.simulation.equations.contact_problem import load_problem, resolve_breakaway
from core.simulation.equations.contact_rows import (
    AGAINST,
    APART,
    AT_SPEED,
    HELD,
    MOVING,
    OVERRUN,
    REST,
    SATURATED,
    has_friction,
    has_settled,
    is_active_state,
    largest_allowed_force,
    load_rows,
    set_sliding_direction,
    sliding_friction,
    smallest_allowed_force,
    speed_along,
)
from core.simulation.equations.system import load_system
from core.simulation.events.contact_margins import BEARING, EACH
from core.simulation.methods.step_state import load_state

STOPPING = 10.0
"""Largest transverse speed, relative to the run's tolerance of a speed, at which a friction disk comes to rest when its
speed along its direction reaches zero."""
EXCESS = 1e-5
"""Fraction of `force_scale` by which a row located at its bound exceeds it; more than the rounding error of non-unique
forces."""
LED = 1e-9
"""Fraction of a force's usual effect on its row above which a row at a dead point counts as accelerated by other rows.
"""


@native
def update_speed_limit_state(rows: int, k: int) -> None:
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
def choose_candidates(rows: int) -> None:
    """Choose the active rows as the candidates of the problem."""
    r = load_rows(rows)
    p = load_problem(r.problem)
    p.count = 0
    for k in range(r.count):
        if is_active_state(r.mode[k]):
            p.chosen[p.count], p.shares[p.count] = k, r.shares[k]
            p.count += 1


@native
def set_candidate_bounds(rows: int, i: int) -> None:
    """Set the smallest and largest force of candidate i, at rest and while sliding."""
    r = load_rows(rows)
    p = load_problem(r.problem)
    k = int(p.chosen[i])
    p.static_low[i] = p.kinetic_low[i] = smallest_allowed_force(rows, k)
    p.static_high[i] = p.kinetic_high[i] = largest_allowed_force(rows, k)
    if r.mode[k] != HELD:
        return
    if r.stop[k] != AGAINST:
        p.kinetic_low[i] = -sliding_friction(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
    if r.stop[k] != -AGAINST:
        p.kinetic_high[i] = sliding_friction(r.static_backward[k], r.kinetic_backward[k], r.stribeck[k], 0.0)


@native
def set_up_problem(state: int, y: Any, margin_index: int, previous_states: Any) -> None:
    """Set up the problem of the candidates: responses, accelerations without their forces, bounds, and those that have
    broken away at this instant already."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    rows, nq, nv = s.contact_rows, s.nq, s.nv
    r = load_rows(rows)
    p = load_problem(r.problem)
    apply_known_forces(place, w.time, y)  # held rows exert nothing
    call_entry(r.inner, place, w.time, address_of(y), address_of(p.base))
    compute_response_matrix(place, w.time, y, p.base, p.chosen, p.responses, p.A, p.count)
    for i in range(p.count):
        k = int(p.chosen[i])
        p.c[i] = speed_along(rows, k, p.base[nq : nq + nv]) + r.bias[k]
        p.broken[i] = p.excess[i] = 0.0
        set_candidate_bounds(rows, i)
        if r.mode[k] == HELD:
            located = margin_index == EACH * r.leader[k] + BEARING
            p.broken[i] = 1.0 if r.began[r.leader[k]] == w.time else 0.0
            p.excess[i] = (
                EXCESS * force_scale(rows, r.leader[k]) if located and int(previous_states[k]) == HELD else 0.0
            )


@native
def update_bearing_estimate(system: int, y: Any, iteration: int) -> Any:
    """Return true if the friction bounds used for λ agree with the resulting bearing reactions; otherwise update the
    load estimate. Adds the effect of λ to the problem's `base`."""
    s = load_system(system)
    rows, nq, nv = s.contact_rows, s.nq, s.nv
    r, fresh = load_rows(rows), scratch(len(load_rows(rows).loads))
    p = load_problem(r.problem)
    for i in range(p.count):
        k = int(p.chosen[i])
        r.carried[k] = p.force[i]
        r.force[k] += p.force[i]
        for j in range(nv):
            p.base[nq + j] += p.force[i] * p.responses[i * nv + j]
    if not evaluate_bearing_loads(system, y, p.base[nq : nq + nv], fresh):
        r.unsettled = 1
        return True
    gap = relative_load_error(rows, fresh)
    if update_bearing_loads(rows, fresh, iteration) or iteration >= BEARING_ROUNDS:
        r.unsettled = 0 if gap <= WELL else 1
        return True
    return False


@native
def resolve_contact_states(state: int, y: Any, margin_index: int, previous_states: Any) -> None:
    """Determine which active rows stick and in which direction the others slide. Rows at a speed limit stay there as
    long as their motors can restrain them. before (count,): previous contact states."""
    w = load_state(state)
    place = w.system
    rows, turn = load_system(place).contact_rows, 0
    r = load_rows(rows)
    p = load_problem(r.problem)
    choose_candidates(rows)
    while True:
        set_up_problem(state, y, margin_index, previous_states)
        if not resolve_breakaway(r.problem):
            r.approximate = 1
        if r.bearing_loads == 0 or update_bearing_estimate(place, y, turn):
            break
        turn += 1
    n = p.count
    for i in range(n):
        k, breaks = int(p.chosen[i]), p.broken[i] > 0.0
        if r.shares[k] != 1:
            if r.shares[k] > 1 and p.side[i] != 0.0:
                end_disk_sticking(state, k, p.force[i : i + r.shares[k]], breaks)
        elif abs(r.mode[k]) != AT_SPEED:
            # no force moves it
            led = p.A[i * n + i] == 0.0 and abs(p.rate[i]) > LED * r.largest[k] * force_scale(rows, k)
            pulled = p.rate[i] if led else -p.side[i]
            if not update_candidate_state(state, k, p.side[i], pulled, breaks) and margin_index < 0:
                keep_saturated(rows, k, int(previous_states[k]), p.force[i])
        elif breaks and p.side[i] != 0.0:  # its motor cannot keep it at its limit
            r.carried[k] = p.force[i]
            update_speed_limit_state(rows, k)
    stop_sticking_rows(state, y)


@native
def update_candidate_state(state: int, k: int, side: float, drive_direction: float, breaks: bool) -> bool:
    """Update the contact state of a candidate row; returns True if it does not stick. side: bound reached by its force,
    0: none; pulled: direction in which it is driven."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    if breaks and drive_direction != 0.0:  # the force at its upper bound drives backward no more
        r.mode[k], r.began[k] = -MOVING if drive_direction < 0.0 else MOVING, w.time
        r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]
        return True
    if side != 0.0 and (has_friction(rows, k) or abs(r.stop[k]) == AGAINST or has_settled(rows, k)):
        saturate_row(rows, k, side > 0.0)
        return True
    return False


@native
def keep_saturated(rows: int, k: int, previous_states: int, force: float) -> None:
    """Keep a row saturated if it still carries its maximum force up to rounding error; otherwise it would saturate
    again at once."""
    r = load_rows(rows)
    if abs(previous_states) != SATURATED or r.mode[k] != HELD or r.stop[k] == AGAINST or r.stop[k] == -AGAINST:
        return
    bound = r.static_backward[k] if previous_states > 0 else -r.static_onward[k]
    if abs(force - bound) < EXCESS * force_scale(rows, k):
        r.mode[k] = previous_states


@native
def end_disk_sticking(state: int, k: int, disk_forces: Any, breaks: bool) -> None:
    """Let a friction disk (k: its first row) at its maximum friction slide, or mark it as saturated while other rows
    hold it."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r, size = load_rows(rows), 0.0
    for i in range(len(disk_forces)):
        size += disk_forces[i] * disk_forces[i]
    for i in range(len(disk_forces)):
        r.mode[k + i] = MOVING if breaks else SATURATED
        if size > 0.0:
            r.aim[k + i] = -disk_forces[i] / np.sqrt(size)
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
    r.mode[k] = (SATURATED if has_friction(rows, k) else -MOVING) * (1 if upper else -1)
    r.stop[k] = APART if abs(r.stop[k]) == AGAINST else r.stop[k]


@native
def stop_sticking_rows(state: int, y: Any) -> None:
    """Set the speeds of sticking rows to zero by the smallest change in the metric of M."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    p = load_problem(r.problem)
    n = p.count
    c, impulse, side, g = scratch(n), scratch(n), scratch(n), scratch(n)
    for i in range(n):
        k = int(p.chosen[i])
        rests = r.mode[k] == HELD or r.shares[k] != 1  # what a friction disk had left across its aim is gone, too
        c[i] = r.rate[k] if rests else 0.0
        impulse[i], side[i] = 0.0, 0.0 if rests or is_active_state(r.mode[k]) else 1.0
    compute_row_accelerations(p.A, c, impulse, g, n)
    for _ in range(3):
        refine_forces(p.A, g, impulse, side, n)
        compute_row_accelerations(p.A, c, impulse, g, n)
    for i in range(n):
        for j in range(s.nv):
            y[s.nq + j] += impulse[i] * p.responses[i * s.nv + j]
    # exactly so where a row is a speed
    for i in range(n):
        k = int(p.chosen[i])
        if (r.mode[k] == HELD or r.shares[k] != 1) and is_generalized_speed(w.system, k):
            y[s.nq + r.columns[r.begins[k]]] = 0.0

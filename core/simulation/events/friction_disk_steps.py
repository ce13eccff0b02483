"""Step size control for vector friction (friction disks) at very low sliding speeds.

There friction F turns them at the rate A F/v, A their response and v their speed, without end toward rest. How they
begin to slide is told by `core.simulation.equations.sliding_onset`, in steps that end about where they have begun;
steps near rest are such as turn them steadily; within what tolerances leave open it is asked whether they stay at rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import POLISHES, compute_row_accelerations, refine_forces
from core.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.equations.contact_derivative import apply_known_forces, compute_response_matrix
from core.simulation.equations.contact_rows import (
    MOVING,
    REST,
    SLOW,
    STOPS,
    has_friction,
    load_rows,
    set_sliding_direction,
    sliding_friction,
    speed_along,
    update_rows,
    vector_magnitude,
)
from core.simulation.equations.system import load_system
from core.simulation.events.contact_changes import NOTHING_PENDING
from core.simulation.events.contact_margins import BEARING, EACH
from core.simulation.events.contact_resolution import STOPPING
from core.simulation.methods.step_state import TOLD, load_state, shortest_resolvable_time
from core.simulation.stepping import reset_history

SLOWLY = 0.02
"""Fraction of the largest speed that a friction disk has had, below which the disk is about to come to rest."""
NEARLY_RESTING = 100.0
"""Multiple of the speed at which sticking is checked; below it the sliding direction must not reverse within a step."""
STEADY, STEADY_STEP = 0.6, 0.3
"""Largest step without reversal: share of the method's stability limit; h |λ| for methods with unknown stability."""
TOO_FAST = 4.0
"""Largest speed at the end of the first sliding step, as a multiple of the speed up to which a friction disk counts as
beginning to slide."""
STEADY_PART = 1.2
"""Largest h |λ| of the parts of fixed steps."""


@native
def update_disk_directions(state: int) -> None:
    """Update the sliding directions of friction disks at the beginning of a step. A disk with almost no speed is
    scheduled for a sticking check, unless it is just beginning to slide, when its direction is not yet known."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    update_rows(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING:
            speed = vector_magnitude(s.contact_rows, k, r.rate)
            r.quickest[k] = max(r.quickest[k], speed)
            if speed > REST * (r.quickest[k] + SLOW):
                set_sliding_direction(s.contact_rows, k, r.rate, 1.0)
            if speed <= r.zone[k]:
                continue
            if r.zone[k] > 0.0:
                r.zone[k] = 0.0
                reset_history(state)
            if speed <= STOPPING * w.atol and r.free[k] == 0 and has_friction(s.contact_rows, k):
                w.pending = EACH * k + BEARING


@native
def is_onset_over(state: int) -> bool:
    """Return True if a friction disk that begins to slide is already too fast at the end of the step taken."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    if w.taken <= shortest_resolvable_time(w.time):
        return False
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING and r.zone[k] > 0.0:
            update_rows(w.system, w.new[: s.nq], w.new[s.nq : s.nq + s.nv])
            if vector_magnitude(s.contact_rows, k, r.rate) > TOO_FAST * r.zone[k]:
                return True
    return False


@native
def compute_disk_responses(state: int, k: int, A: Any, base: Any) -> None:
    """Compute the response matrix A (n n,) of the n rows of a friction disk (k: its first), and ẏ (n,) with all forces
    except those of active rows."""
    w = load_state(state)
    s = load_system(w.system)
    r, n = load_rows(s.contact_rows), load_rows(s.contact_rows).shares[k]
    chosen, columns = scratch(n), scratch(n * s.nv)
    for i in range(n):
        chosen[i] = k + i
    apply_known_forces(w.system, w.time, w.y)
    call_entry(r.inner, w.system, w.time, address_of(w.y), address_of(base))
    compute_response_matrix(w.system, w.time, w.y, base, chosen, columns, A, n)


@native
def turning_bound(state: int, k: int) -> float:
    """Return an upper bound (Gershgorin) of A F for a sliding friction disk (k: its first row), m/s² or rad/s²."""
    w = load_state(state)
    s = load_system(w.system)
    r, n, size, turning = load_rows(s.contact_rows), load_rows(s.contact_rows).shares[k], 0.0, 0.0
    A, base = scratch(n * n), scratch(len(w.y))
    compute_disk_responses(state, k, A, base)
    for i in range(n):
        size += r.force[k + i] ** 2
        row = 0.0
        for j in range(n):
            row += abs(A[i * n + j])
        turning = max(turning, row)
    return turning * np.sqrt(size)


@native
def limit_step_against_reversal(state: int, k: int) -> None:
    """Limit the step so that the direction of a slowly sliding friction disk (k: its first row) does not reverse.
    Friction F turns a sliding velocity w at the rate A F/w, where A is the response; explicit methods limited only by
    stability would never bring the disk to rest."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    speed = vector_magnitude(rows, k, load_rows(rows).rate)
    if speed == 0.0 or speed > NEARLY_RESTING * STOPPING * w.atol:
        return
    turning = turning_bound(state, k) / speed
    if turning > 0.0:
        w.step = min(w.step, (STEADY * w.stability if w.stability > 0.0 else STEADY_STEP) / turning)


@native
def may_stop_within(rows: int, k: int, h: float) -> Any:
    """Return true if friction alone can roughly cancel the velocity of a friction disk (k: its first row) within a time
    h."""
    r, most_quickly = load_rows(rows), 0.0
    for i in range(k, k + r.shares[k]):
        most_quickly += r.largest[i]
    level = sliding_friction(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
    return vector_magnitude(rows, k, r.rate) <= 2.0 * h * level * most_quickly


@native
def stops_within(state: int, k: int, h: float) -> Any:
    """Return true if friction can bring a sliding friction disk (k: its first row) to rest within a time h (implicit
    Euler: the force that stops and holds it is admissible)."""
    w = load_state(state)
    s = load_system(w.system)
    r, n, size = load_rows(s.contact_rows), load_rows(s.contact_rows).shares[k], 0.0
    if not may_stop_within(s.contact_rows, k, h):
        return False
    level = sliding_friction(r.static_onward[k], r.kinetic_onward[k], r.stribeck[k], 0.0)
    A, base, c, lam, side, g = scratch(n * n), scratch(len(w.y)), scratch(n), scratch(n), scratch(n), scratch(n)
    compute_disk_responses(state, k, A, base)
    for i in range(n):
        c[i] = speed_along(s.contact_rows, k + i, base[s.nq : s.nq + s.nv]) + r.bias[k + i] + r.rate[k + i] / h
        for j in range(n):
            c[i] -= A[i * n + j] * r.force[k + j]
        lam[i] = side[i] = 0.0
    compute_row_accelerations(A, c, lam, g, n)
    for _ in range(POLISHES):
        refine_forces(A, g, lam, side, n)
        compute_row_accelerations(A, c, lam, g, n)
    for i in range(n):
        size += lam[i] * lam[i]
    return np.sqrt(size) < level


@native
def mark_stopping_disks(state: int, h: float, stopping: Any) -> None:
    """Mark in `stopping` (count,) the sliding friction disks that come to rest within the fixed step about to begin
    (1)."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    update_rows(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        slides = r.shares[k] > 1 and r.mode[k] == MOVING and r.free[k] == 0 and has_friction(s.contact_rows, k)
        stopping[k] = 1.0 if slides and stops_within(state, k, h) else 0.0


@native
def length_without_reversal(state: int, h: float, stopping: Any) -> float:
    """Return the length of the next part of the remaining fixed step h in which no friction disk reverses that does not
    stop."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    for k in range(r.count):
        if r.shares[k] > 1 and r.mode[k] == MOVING and r.free[k] == 0 and r.zone[k] == 0.0 and stopping[k] == 0.0:
            speed = vector_magnitude(rows, k, r.rate)
            if speed > 0.0 and may_stop_within(rows, k, h):
                turning = turning_bound(state, k) / speed
                part = STEADY_PART / turning if turning > 0.0 else h
                h = part if part < 0.99 * h else h  # no sliver before the end
    return h


@native
def stop_disks(state: int, stopping: Any) -> None:
    """Let the next step begin with sticking for a friction disk that should have come to rest but slides on, because
    its friction reversed it within the step."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    for k in range(r.count):
        if stopping[k] == 1.0 and r.mode[k] == MOVING and w.pending == NOTHING_PENDING:
            r.zone[k], w.pending = STOPS, EACH * k + BEARING


@native
def reset_stiffness_counters(state: int) -> None:
    """Reset the stiffness counters when a friction disk comes to rest, because its direction then no longer turns
    quickly."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    for k in range(r.count):
        slow = vector_magnitude(rows, k, r.rate) < SLOWLY * r.quickest[k] if r.shares[k] > 1 else False
        if slow and r.mode[k] == MOVING and w.stiff_steps != TOLD:
            w.stiff_steps = 0

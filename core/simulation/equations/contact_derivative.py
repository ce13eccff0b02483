"""Derivative ẏ of a machine with contact rows: friction, stops and limits (`core.simulation.equations.contact_rows`).

The equations of motion are those of the machine without modes, for other joint forces: u + Σ W_kᵀ λ_k. They are
linear in forces, so that the response of a row, what a unit of its force changes, is a difference of two evaluations,
whatever the machine is: tree, loops by iteration or in closed form. With A = W ∂a/∂λ and c = W a₀ + Ẇ v, what holds
the rows that are held solves A λ = −c. Rounding does not add up: γ and what it has moved since it was held decay
(Baumgarte).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import POLISHES, correct, motion
from core.simulation.equations.bearing_loads import (
    BEARING_ROUNDS,
    WELL,
    all_bearings_stick,
    copy_loads,
    evaluate_bearing_loads,
    gap_of,
    update_bearing_loads,
)
from core.simulation.equations.contact_rows import (
    APART,
    HELD,
    MOVING,
    PRESSED,
    add_row_force,
    evaluate_friction_levels,
    evaluate_motor_commands,
    has_friction,
    is_held,
    length,
    load_rows,
    smooth_force,
    speed_along,
    update_rows,
)
from core.simulation.equations.jacobian import slopes
from core.simulation.equations.sliding_onset import (
    LATER,
    LOOKS,
    any_disk_begins,
    begins,
    directions,
    measure_turning,
    solve_onset_forces,
)
from core.simulation.equations.system import load_system
from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import address_of, call_entry, native, scratch, view
from core.simulation.machine_code.outcome import FINE, NOT_FINITE

STEP = 1e-6
"""Relative increment of a state in central differences."""
LEAST = 1e-8
"""rad/s or m/s: smallest increment of a speed."""


@native
def force_scale(rows: int, k: int) -> float:
    """Return the typical magnitude of the force along a row, N·m or N."""
    r = load_rows(rows)
    static = max(r.static_onward[k], r.static_backward[k])
    return max(static if static > 0.0 else 1.0, abs(r.carried[k]))


@native
def response(place: int, t: float, y: Any, k: int, base: Any, column: Any) -> Any:
    """Compute the change of accelerations (nv,) per unit force of row k into column; `base` (n,) is ẏ without that
    force."""
    s = load_system(place)
    r, other = load_rows(s.contact_rows), scratch(len(y))
    for i in range(s.nv):
        column[i] = s.u[i]
    add_row_force(s.contact_rows, k, r.weight[k], s.u)
    happened = call_entry(r.inner, place, t, address_of(y), address_of(other))
    for i in range(s.nv):
        s.u[i] = column[i]
        column[i] = (other[s.nq + i] - base[s.nq + i]) / r.weight[k]
    return happened


@native
def responses(place: int, t: float, y: Any, base: Any, chosen: Any, columns: Any, A: Any, n: int) -> Any:
    """Compute the acceleration responses of the chosen rows (n,) to their forces, (n nv,) one after another, and the
    response matrix A (n n,), symmetrised. Responses of rows locked by loops count as zero."""
    s = load_system(place)
    r, nv, happened = load_rows(s.contact_rows), s.nv, FINE
    for j in range(n):
        column = columns[j * nv : (j + 1) * nv]
        happened = max(happened, response(place, t, y, int(chosen[j]), base, column))
        for i in range(n):
            A[i * n + j] = speed_along(s.contact_rows, int(chosen[i]), column)
    for i in range(n):
        k = int(chosen[i])
        r.largest[k] = max(r.largest[k], A[i * n + i])
        for j in range(i):
            A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i])
    for i in range(n):
        if A[i * n + i] < 1e-10 * r.largest[int(chosen[i])]:
            for j in range(n):
                A[i * n + j] = A[j * n + i] = 0.0
    return happened


@native
def apply_known_forces(place: int, t: float, y: Any) -> int:
    """Sum all forces determined by the state into `System.u`; returns the number of rows with unknown forces."""
    s = load_system(place)
    r, held = load_rows(s.contact_rows), 0
    evaluate_motor_commands(place, t, y)
    if r.steady == 1:
        for k in range(r.count):
            if r.force[k] != 0.0:
                add_row_force(s.contact_rows, k, r.force[k], s.u)
        return 0
    evaluate_friction_levels(place, t, y)
    update_rows(place, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if is_held(r.mode[k]) or (r.disks == 1 and begins(s.contact_rows, k)):
            held += 1
    for k in range(r.count):
        r.force[k] = smooth_force(s.contact_rows, k)
        if r.force[k] != 0.0:
            add_row_force(s.contact_rows, k, r.force[k], s.u)
    return held


@native
def keep_forces(rows: int) -> None:
    """Mark the row forces as constant for this step if all rows slide and their friction is constant or zero."""
    r = load_rows(rows)
    r.steady = 0
    if r.bearing_loads != 0 or r.levels != 0:
        return
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING or r.stop[k] != APART:
            return
        if has_friction(rows, k) and (r.stribeck[k] != 0.0 or r.shares[k] != 1 or k >= r.own):
            return
    r.steady = 1
    for k in range(r.count):
        r.force[k] = smooth_force(rows, k)


@native
def returning_rate(rows: int, k: int) -> float:
    """Return the value of −γ̇ of an active row that makes its rounding drift decay."""
    r = load_rows(rows)
    if r.mode[k] != HELD:
        return 0.0
    moved = r.value[k] - r.held_at[k] if k < r.own and r.at_q[k] >= 0 else 0.0
    return 2.0 * r.decay * r.rate[k] + r.decay * r.decay * moved


@native
def is_a_speed(place: int, k: int) -> Any:
    """Return true if the speed γ of a row is one of the speeds of a machine without loops, or a multiple of it."""
    s = load_system(place)
    r = load_rows(s.contact_rows)
    return s.rows == 0 and r.begins[k + 1] == r.begins[k] + 1


@native
def solve_for_rest(A: Any, c: Any, lam: Any, n: int) -> None:
    """Solve A λ = −c for λ (n,)."""
    side, g = scratch(n), scratch(n)
    for i in range(n):
        lam[i] = side[i] = 0.0
    motion(A, c, lam, g, n)
    for _ in range(POLISHES if n > 1 else 1):
        correct(A, g, lam, side, n)
        motion(A, c, lam, g, n)


@native
def add_row_forces(place: int, t: float, y: Any, turning: Any, out: Any, n: int) -> Any:
    """Add to ẏ the effect of n unknown row forces: those of active rows, and those of friction disks that begin to
    slide, whose force until now is opposite to their speed. turning (count,): rates ḋ of their sliding directions."""
    s = load_system(place)
    rows, nq, nv = s.contact_rows, s.nq, s.nv
    r = load_rows(rows)
    chosen, columns, A, c = scratch(n), scratch(n * nv), scratch(n * n), scratch(n)
    lam, count = scratch(n), 0
    for k in range(r.count):
        if is_held(r.mode[k]) or (r.disks == 1 and begins(rows, k)):
            chosen[count] = k
            count += 1
    happened = responses(place, t, y, out, chosen, columns, A, n)
    for i in range(n):
        k = int(chosen[i])
        c[i] = speed_along(rows, k, out[nq : nq + nv]) + r.bias[k] + returning_rate(rows, k)
    if any_disk_begins(rows):
        solve_onset_forces(rows, turning, chosen, A, c, lam, n)
    else:
        solve_for_rest(A, c, lam, n)
    for i in range(n):
        k = int(chosen[i])
        r.force[k] += lam[i]
        if is_held(r.mode[k]):
            r.carried[k] = lam[i]
        if r.mode[k] == HELD:
            r.weight[k] = force_scale(rows, k)
        for j in range(nv):
            out[nq + j] += lam[i] * columns[i * nv + j]
    for i in range(n):  # exactly so where a row is a speed
        k = int(chosen[i])
        if is_held(r.mode[k]) and is_a_speed(place, k):
            first = r.begins[k]
            out[nq + r.columns[first]] = -returning_rate(rows, k) / r.W[first]
    return happened


@native
def derivative_at_turning(place: int, t: float, y: Any, turning: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) for the present contact states and the present estimates of bearing loads; `turning`
    (count,) holds the rates ḋ of the sliding directions of friction disks that begin to slide."""
    held = apply_known_forces(place, t, y)
    happened = call_entry(load_rows(load_system(place).contact_rows).inner, place, t, address_of(y), address_of(out))
    return add_row_forces(place, t, y, turning, out, held) if happened == FINE and held > 0 else happened


@native
def derivative_by_rows(place: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) as `derivative_at_turning` does, with the rates ḋ of sliding directions determined
    first."""
    rows, n = load_system(place).contact_rows, len(y)
    turning = scratch(load_rows(rows).count)
    for k in range(len(turning)):
        turning[k] = 0.0
    happened = derivative_at_turning(place, t, y, turning, out)
    if not any_disk_begins(rows):
        return happened
    d, later, rate = scratch(len(turning)), scratch(n), scratch(n)
    for _ in range(LOOKS):
        directions(rows, d)
        for i in range(n):
            later[i] = y[i] + LATER * out[i]
        happened = max(happened, derivative_at_turning(place, t + LATER, later, turning, rate))
        measure_turning(rows, d, turning)
        happened = max(happened, derivative_at_turning(place, t, y, turning, out))
    return happened


@native
def settled_derivative(place: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) for the present contact states, with bearing loads iterated to consistency."""
    s = load_system(place)
    rows = s.contact_rows
    r, happened = load_rows(rows), derivative_by_rows(place, t, y, out)
    if r.bearing_loads == 0 or happened != FINE:
        return happened
    fresh, a, gap = scratch(len(r.loads)), out[s.nq : s.nq + s.nv], np.inf
    for turn in range(BEARING_ROUNDS):
        if not evaluate_bearing_loads(place, y, a, fresh):
            break
        if all_bearings_stick(rows):  # what they may carry decides nothing here
            copy_loads(rows, fresh)
            evaluate_friction_levels(place, t, y)
            gap = 0.0
            break
        gap = gap_of(rows, fresh)
        if update_bearing_loads(rows, fresh, turn):
            break
        happened = derivative_by_rows(place, t, y, out)
        if happened != FINE:
            return happened
    r.unsettled = 0 if gap <= WELL else 1
    return FINE if gap <= WELL else NOT_FINITE


@entry
def derivative_with_contacts(place: int, t: float, y: int, out: int) -> int:
    """Compute ẏ into out (n,) of a machine with contact rows."""
    s = load_system(place)
    n = s.nq + s.nv + s.nx
    happened: int = settled_derivative(place, t, view(y, n), view(out, n))
    return happened


@native
def has_varying_forces(place: int) -> Any:
    """Return true if row forces or motor commands are not constant."""
    s = load_system(place)
    r = load_rows(s.contact_rows)
    for i in range(s.nv):
        if abs(r.given[i]) >= r.effort[i]:
            return True
    for k in range(r.count):
        curved = (r.stribeck[k] != 0.0 and has_friction(s.contact_rows, k)) or (r.controlled[k] >= 0 and r.free[k] == 0)
        if abs(r.mode[k]) != MOVING or abs(r.stop[k]) == PRESSED or curved or r.shares[k] != 1:
            return True
    return False


@native
def slowest_disk_speed(place: int) -> float:
    """Return the speed of the slowest sliding friction disk, which sets how fast its friction can turn; infinite if
    there is none."""
    s = load_system(place)
    r, slowest = load_rows(s.contact_rows), np.inf
    for k in range(r.count):
        if r.shares[k] > 1 and abs(r.mode[k]) == MOVING:
            slowest = min(slowest, length(s.contact_rows, k, r.rate))
    return slowest


@native
def central_differences(place: int, t: float, state: Any, J: Any) -> int:
    """Compute ∂f/∂y at a state into J (n n,), row by row, by central differences, with the forces of active rows
    following the state."""
    n, s = len(state), load_system(place)
    f, g, slowest = scratch(n), scratch(n), slowest_disk_speed(place)
    for j in range(n):
        kept = state[j]
        step = STEP * max(abs(kept), 1.0)
        if s.nq <= j < s.nq + s.nv:
            step = min(step, max(0.01 * slowest, LEAST))
        state[j] = kept + step
        happened = settled_derivative(place, t, state, f)
        state[j] = kept - step
        happened = max(happened, settled_derivative(place, t, state, g))
        state[j] = kept
        if happened != FINE:
            return NOT_FINITE
        for i in range(n):
            J[i * n + j] = (f[i] - g[i]) / (2.0 * step)
    return FINE


@entry
def jacobian_with_contacts(place: int, t: float, y: int, out: int) -> int:
    """Compute ∂f/∂y into out (n n,), row by row; from symbolic derivatives while all rows slide."""
    s = load_system(place)
    n = s.nq + s.nv + s.nx
    state, J, f = view(y, n), view(out, n * n), scratch(n)
    apply_known_forces(place, t, state)
    if has_varying_forces(place):
        return central_differences(place, t, state, J)
    if call_entry(s.full, place, t, y, address_of(f)) != FINE:
        return NOT_FINITE
    if s.by_matrix and s.crossing == 1:
        return central_differences(place, t, state, J)
    return FINE if slopes(place, t, state, f, J) else NOT_FINITE

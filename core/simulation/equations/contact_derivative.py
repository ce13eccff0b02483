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

from core.constraints.admissible_forces import POLISHES, compute_row_accelerations, refine_forces
from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, scratch, view
from core.machine_code.outcome import FINE, NOT_FINITE
from core.simulation.equations.bearing_loads import (
    BEARING_ROUNDS,
    WELL,
    all_bearings_stick,
    evaluate_bearing_loads,
    relative_load_error,
    set_loads,
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
    is_active_state,
    load_rows,
    speed_along,
    state_dependent_force,
    update_rows,
    vector_magnitude,
)
from core.simulation.equations.jacobian import compute_jacobian
from core.simulation.equations.sliding_onset import (
    LATER,
    LOOKS,
    compute_direction_rates,
    compute_directions,
    is_any_disk_beginning,
    is_disk_beginning,
    solve_onset_forces,
)
from core.simulation.equations.system import load_system

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
def compute_row_response(system: int, t: float, y: Any, k: int, base: Any, column: Any) -> Any:
    """Compute the change of accelerations (nv,) per unit force of row k into column; `base` (n,) is ẏ without that
    force."""
    s = load_system(system)
    r, other = load_rows(s.contact_rows), scratch(len(y))
    for i in range(s.nv):
        column[i] = s.u[i]
    add_row_force(s.contact_rows, k, r.weight[k], s.u)
    happened = call_entry(r.inner, system, t, address_of(y), address_of(other))
    for i in range(s.nv):
        s.u[i] = column[i]
        column[i] = (other[s.nq + i] - base[s.nq + i]) / r.weight[k]
    return happened


@native
def compute_response_matrix(
    system: int, t: float, y: Any, base: Any, selected_rows: Any, columns: Any, A: Any, n: int
) -> Any:
    """Compute the acceleration responses of the chosen rows (n,) to their forces as columns (n nv,), one after another,
    and the symmetrised response matrix A (n n,). Responses of rows locked by loops count as zero."""
    s = load_system(system)
    r, nv, happened = load_rows(s.contact_rows), s.nv, FINE
    for j in range(n):
        column = columns[j * nv : (j + 1) * nv]
        happened = max(happened, compute_row_response(system, t, y, int(selected_rows[j]), base, column))
        for i in range(n):
            A[i * n + j] = speed_along(s.contact_rows, int(selected_rows[i]), column)
    for i in range(n):
        k = int(selected_rows[i])
        r.largest[k] = max(r.largest[k], A[i * n + i])
        for j in range(i):
            A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i])
    for i in range(n):
        if A[i * n + i] < 1e-10 * r.largest[int(selected_rows[i])]:
            for j in range(n):
                A[i * n + j] = A[j * n + i] = 0.0
    return happened


@native
def apply_known_forces(system: int, t: float, y: Any) -> int:
    """Sum all forces determined by the state into `System.u`; returns the number of rows with unknown forces."""
    s = load_system(system)
    r, held = load_rows(s.contact_rows), 0
    evaluate_motor_commands(system, t, y)
    if r.steady == 1:
        for k in range(r.count):
            if r.force[k] != 0.0:
                add_row_force(s.contact_rows, k, r.force[k], s.u)
        return 0
    evaluate_friction_levels(system, t, y)
    update_rows(system, y[: s.nq], y[s.nq : s.nq + s.nv])
    for k in range(r.count):
        if is_active_state(r.mode[k]) or (r.disks == 1 and is_disk_beginning(s.contact_rows, k)):
            held += 1
    for k in range(r.count):
        r.force[k] = state_dependent_force(s.contact_rows, k)
        if r.force[k] != 0.0:
            add_row_force(s.contact_rows, k, r.force[k], s.u)
    return held


@native
def mark_constant_forces(rows: int) -> None:
    """Mark the row forces as constant for this step if all rows slide with constant or zero friction."""
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
        r.force[k] = state_dependent_force(rows, k)


@native
def drift_correction_rate(rows: int, k: int) -> float:
    """Return the target for −γ̇ of an active row with which the row's drift by rounding errors decays."""
    r = load_rows(rows)
    if r.mode[k] != HELD:
        return 0.0
    moved = r.value[k] - r.held_at[k] if k < r.own and r.at_q[k] >= 0 else 0.0
    return 2.0 * r.decay * r.rate[k] + r.decay * r.decay * moved


@native
def is_generalized_speed(system: int, k: int) -> Any:
    """Return true if the speed γ of a row is a generalised speed, or a multiple of one, of a machine without loops."""
    s = load_system(system)
    r = load_rows(s.contact_rows)
    return s.rows == 0 and r.begins[k + 1] == r.begins[k] + 1


@native
def solve_constraint_forces(A: Any, c: Any, lam: Any, n: int) -> None:
    """Solve A λ = −c for λ (n,)."""
    side, g = scratch(n), scratch(n)
    for i in range(n):
        lam[i] = side[i] = 0.0
    compute_row_accelerations(A, c, lam, g, n)
    for _ in range(POLISHES if n > 1 else 1):
        refine_forces(A, g, lam, side, n)
        compute_row_accelerations(A, c, lam, g, n)


@native
def add_row_forces(system: int, t: float, y: Any, direction_rates: Any, out: Any, n: int) -> Any:
    """Add to ẏ the effect of n unknown row forces: those of active rows, and those of friction disks that begin to
    slide, whose force until now is opposite to their speed. turning (count,): rates ḋ of their sliding directions."""
    s = load_system(system)
    rows, nq, nv = s.contact_rows, s.nq, s.nv
    r = load_rows(rows)
    chosen, columns, A, c = scratch(n), scratch(n * nv), scratch(n * n), scratch(n)
    lam, count = scratch(n), 0
    for k in range(r.count):
        if is_active_state(r.mode[k]) or (r.disks == 1 and is_disk_beginning(rows, k)):
            chosen[count] = k
            count += 1
    happened = compute_response_matrix(system, t, y, out, chosen, columns, A, n)
    for i in range(n):
        k = int(chosen[i])
        c[i] = speed_along(rows, k, out[nq : nq + nv]) + r.bias[k] + drift_correction_rate(rows, k)
    if is_any_disk_beginning(rows):
        solve_onset_forces(rows, direction_rates, chosen, A, c, lam, n)
    else:
        solve_constraint_forces(A, c, lam, n)
    for i in range(n):
        k = int(chosen[i])
        r.force[k] += lam[i]
        if is_active_state(r.mode[k]):
            r.carried[k] = lam[i]
        if r.mode[k] == HELD:
            r.weight[k] = force_scale(rows, k)
        for j in range(nv):
            out[nq + j] += lam[i] * columns[i * nv + j]
    for i in range(n):  # exactly so where a row is a speed
        k = int(chosen[i])
        if is_active_state(r.mode[k]) and is_generalized_speed(system, k):
            first = r.begins[k]
            out[nq + r.columns[first]] = -drift_correction_rate(rows, k) / r.W[first]
    return happened


@native
def derivative_at_direction_rates(system: int, t: float, y: Any, direction_rates: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) for the present contact states and the present estimates of bearing loads;
    `direction_rates` (count,) holds the rates ḋ of the sliding directions of friction disks that begin to slide."""
    held = apply_known_forces(system, t, y)
    happened = call_entry(load_rows(load_system(system).contact_rows).inner, system, t, address_of(y), address_of(out))
    return add_row_forces(system, t, y, direction_rates, out, held) if happened == FINE and held > 0 else happened


@native
def derivative_with_row_forces(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) as `derivative_at_direction_rates` does, with the rates ḋ of sliding directions
    determined first."""
    rows, n = load_system(system).contact_rows, len(y)
    turning = scratch(load_rows(rows).count)
    for k in range(len(turning)):
        turning[k] = 0.0
    happened = derivative_at_direction_rates(system, t, y, turning, out)
    if not is_any_disk_beginning(rows):
        return happened
    d, later, rate = scratch(len(turning)), scratch(n), scratch(n)
    for _ in range(LOOKS):
        compute_directions(rows, d)
        for i in range(n):
            later[i] = y[i] + LATER * out[i]
        happened = max(happened, derivative_at_direction_rates(system, t + LATER, later, turning, rate))
        compute_direction_rates(rows, d, turning)
        happened = max(happened, derivative_at_direction_rates(system, t, y, turning, out))
    return happened


@native
def derivative_with_bearing_loads(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out (n,) for the present contact states, iterating until bearing loads and friction are
    consistent."""
    s = load_system(system)
    rows = s.contact_rows
    r, happened = load_rows(rows), derivative_with_row_forces(system, t, y, out)
    if r.bearing_loads == 0 or happened != FINE:
        return happened
    fresh, a, gap = scratch(len(r.loads)), out[s.nq : s.nq + s.nv], np.inf
    for turn in range(BEARING_ROUNDS):
        if not evaluate_bearing_loads(system, y, a, fresh):
            break
        if all_bearings_stick(rows):  # what they may carry decides nothing here
            set_loads(rows, fresh)
            evaluate_friction_levels(system, t, y)
            gap = 0.0
            break
        gap = relative_load_error(rows, fresh)
        if update_bearing_loads(rows, fresh, turn):
            break
        happened = derivative_with_row_forces(system, t, y, out)
        if happened != FINE:
            return happened
    r.unsettled = 0 if gap <= WELL else 1
    return FINE if gap <= WELL else NOT_FINITE


@entry
def derivative_with_contacts(system: int, t: float, y: int, out: int) -> int:
    """Compute ẏ into out (n,) of a machine with contact rows."""
    s = load_system(system)
    n = s.nq + s.nv + s.nx
    happened: int = derivative_with_bearing_loads(system, t, view(y, n), view(out, n))
    return happened


@native
def has_varying_forces(system: int) -> Any:
    """Return true if row forces or motor commands are not constant."""
    s = load_system(system)
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
def slowest_disk_speed(system: int) -> float:
    """Return the speed of the slowest sliding friction disk, which sets how fast its friction can turn; infinite if
    there is none."""
    s = load_system(system)
    r, slowest = load_rows(s.contact_rows), np.inf
    for k in range(r.count):
        if r.shares[k] > 1 and abs(r.mode[k]) == MOVING:
            slowest = min(slowest, vector_magnitude(s.contact_rows, k, r.rate))
    return slowest


@native
def central_difference_jacobian(system: int, t: float, state: Any, J: Any) -> int:
    """Compute ∂f/∂y at a state into J (n n,), row by row, by central differences; the forces of active rows are
    recomputed at each displaced state."""
    n, s = len(state), load_system(system)
    f, g, slowest = scratch(n), scratch(n), slowest_disk_speed(system)
    for j in range(n):
        kept = state[j]
        step = STEP * max(abs(kept), 1.0)
        if s.nq <= j < s.nq + s.nv:
            step = min(step, max(0.01 * slowest, LEAST))
        state[j] = kept + step
        happened = derivative_with_bearing_loads(system, t, state, f)
        state[j] = kept - step
        happened = max(happened, derivative_with_bearing_loads(system, t, state, g))
        state[j] = kept
        if happened != FINE:
            return NOT_FINITE
        for i in range(n):
            J[i * n + j] = (f[i] - g[i]) / (2.0 * step)
    return FINE


@entry
def jacobian_with_contacts(system: int, t: float, y: int, out: int) -> int:
    """Compute ∂f/∂y into out (n n,), row by row; from symbolic derivatives while all rows slide."""
    s = load_system(system)
    n = s.nq + s.nv + s.nx
    state, J, f = view(y, n), view(out, n * n), scratch(n)
    apply_known_forces(system, t, state)
    if has_varying_forces(system):
        return central_difference_jacobian(system, t, state, J)
    if call_entry(s.full, system, t, y, address_of(f)) != FINE:
        return NOT_FINITE
    if s.by_matrix and s.crossing == 1:
        return central_difference_jacobian(system, t, state, J)
    return FINE if compute_jacobian(system, t, state, f, J) else NOT_FINITE

"""Equations of motion ẏ = f(t, y) in independent speeds, for machines whose loops all have an analytic closure.

y keeps all coordinates and speeds. Each evaluation takes the independent ones from it, and the others as guesses of the
branch: v = Φ v_i, Φᵀ M Φ a_i = Φᵀ (τ − M b − h), a = Φ a_i + b; loops that have no closed form, constraints and
drivers stay as rows G Φ a_i = −(Ġ v + G b). After a step the dependent coordinates are set: nothing is iterated.

Near poses where two branches meet, Φ is a quotient of small numbers. Where the motion itself is regular there (a
parallelogram in line), the accelerations are taken from a little before and behind; elsewhere (a toggle position of
what was chosen to be independent) the multipliers of the cut joints carry the machine through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import native, scratch
from core.machine_code.outcome import FINE, NOT_FINITE, UNSUITABLE
from core.numerics.tolerances import BYPASS_STEP, INDEPENDENT_ROW, SINGULAR_SINE
from core.programs.native_function import evaluate_function, load_function, put_argument, result_view
from core.simulation.equations.constrained import project_unconstrained
from core.simulation.equations.elimination_places import factorise, gather_mass_entries, load_sparse, solve_transposed
from core.simulation.equations.elimination_places import solve_lower as solve_factored
from core.simulation.equations.system import AT_Q, compute_rates, load_system, normalise, put_all_arguments
from core.simulation.equations.unconstrained import begin_evaluation, complete_derivative, joint_forces

REGULAR_SINE, STEEP_RATIO = 0.3, 5.0
"""Analytic loop closure is used where the worst transmission sine is above REGULAR_SINE, or above SINGULAR_SINE while
the largest ratio of dependent to independent speeds is below STEEP_RATIO: nearer to a toggle position of the
independent coordinates a fixed step would be inaccurate."""

GOOD, DOUBLE, NONE = 0, 1, 2
"""Quality of a pose: regular; two branches meet; no solution, or excessive speed ratios."""

ROUNDING_FRACTION = 1e-24
"""Fraction of its squared norm below which a remaining row is already satisfied by the analytic loop closure, up to
rounding."""


@native
def is_evaluated(system: int, t: float, q: Any, v: Any) -> Any:
    """Return true if the reduced equations were last evaluated at this state, or at one that was projected to it: a
    step ends with its last stage and a projection, and the next step begins at the same state."""
    s = load_system(system)
    if s.reduced_at != t:
        return False
    f = load_function(s.reduced)
    for i in range(s.nq):
        if q[i] != f.memory[i] and q[i] != f.memory[f.result + i]:
            return False
    for i in range(s.nq, s.nq + s.nv):
        if v[i - s.nq] != f.memory[i] and v[i - s.nq] != f.memory[f.result + i]:
            return False
    if f.states >= 0:
        for i in range(2 * s.nx):
            if s.own[i] != f.memory[f.states + i]:
                return False
    return True


@native
def evaluate_reduced(system: int, t: float, q: Any, v: Any) -> Any:
    """Evaluate the reduced equations at a state; returns the quality of the pose: GOOD, DOUBLE or NONE."""
    s = load_system(system)
    if is_evaluated(system, t, q, v):
        return GOOD
    s.reduced_at = np.nan
    put_all_arguments(system, s.reduced, q, v)
    evaluate_function(s.reduced)
    size = s.nq + 2 * s.nv + len(s.moved) + len(load_sparse(s.masses).masses) + s.independent + 3
    r = result_view(s.reduced, size)
    reach, sine, gain = r[size - 3], r[size - 2], r[size - 1]
    if reach > 0.0 and (sine > REGULAR_SINE or (sine > SINGULAR_SINE and gain < STEEP_RATIO)):
        s.reduced_at = t
        return GOOD
    return DOUBLE if sine <= SINGULAR_SINE else NONE


@native
def solve_accelerations(system: int, t: float, u: Any, a: Any) -> Any:
    """Compute accelerations (nv,) from the last evaluated reduced equations; returns false if they are singular."""
    s = load_system(system)
    n, nv, sparse = s.independent, s.nv, load_sparse(s.masses)
    b, begin = s.nq + nv, s.nq + 2 * nv
    mass = begin + len(s.moved)
    load = mass + len(sparse.masses)
    r = result_view(s.reduced, load + n)
    own = scratch(n)  # Φᵀ u − Φᵀ (M b + h)
    for i in range(n):
        total = -r[load + i]
        for k in range(s.moves[i], s.moves[i + 1]):
            total += r[begin + k] * u[s.moved[k]]
        own[i] = total
    if n == 1 and len(s.kept) == 0:
        if not r[mass] > 0.0:
            return False
        own[0] /= r[mass]
    else:
        diagonal = scratch(n)
        for i in range(n):
            diagonal[i] = r[mass + sparse.diagonal[i]]
        gather_mass_entries(s.masses, r[mass:load])
        if not factorise(s.masses, diagonal):
            return False
        solve_transposed(s.masses, own)
        if len(s.kept) > 0:
            add_remaining_rows(system, t, own)
        solve_factored(s.masses, own)
    for k in range(nv):  # b + Φ a_i
        a[k] = r[b + k]
    for i in range(n):
        x = own[i]
        for k in range(s.moves[i], s.moves[i + 1]):
            a[s.moved[k]] += r[begin + k] * x
    return True


@native
def add_remaining_rows(system: int, t: float, scaled_accelerations: Any) -> None:
    """Add the forces of the constraint rows without analytic closure; `scaled_accelerations` and the result are L a_i,
    where Lᵀ L is the reduced mass matrix."""
    s = load_system(system)
    n, nv, m = s.independent, s.nv, len(s.kept)
    begin = s.nq + 2 * nv
    r = result_view(s.reduced, begin + len(s.moved))
    q, v, b, spans = r[: s.nq], r[s.nq : s.nq + nv], r[s.nq + nv : begin], r[begin:]
    put_argument(s.constraint_entries, AT_Q, q)
    evaluate_function(s.constraint_entries)
    sparse = load_sparse(s.sparse)
    G = result_view(s.constraint_entries, sparse.entries[s.rows])
    put_all_arguments(system, s.constraint_bias, q, v)
    evaluate_function(s.constraint_bias)
    drift = result_view(s.constraint_bias, s.rows)
    Y, row, whole = scratch(m * n), scratch(n), scratch(nv)
    for k in range(nv):
        whole[k] = 0.0
    count, largest = 0, 0.0
    # orthonormal rows one after another; wanted: components of `own` along them
    for j in range(m):
        first, last = sparse.entries[s.kept[j]], sparse.entries[s.kept[j] + 1]
        line, columns = G[first:last], sparse.columns[first:last]
        target, square = -drift[s.kept[j]] - sparse_dot(line, columns, b), 0.0
        for k in range(len(line)):
            whole[columns[k]] += line[k]
        moving = row_in_independent_speeds(system, whole, dot(line, line), spans, row)
        for k in range(len(line)):
            whole[columns[k]] = 0.0
        if not moving:  # met already, whatever moves
            continue
        solve_transposed(s.masses, row)
        largest = max(largest, dot(row, row))
        for k in range(count):
            before = Y[k * n : (k + 1) * n]
            part = dot(before, row)
            target -= part * dot(before, scaled_accelerations)
            for i in range(n):
                row[i] -= part * before[i]
        square = dot(row, row)
        if square > INDEPENDENT_ROW * largest:
            change = (target - dot(row, scaled_accelerations)) / square
            for i in range(n):
                scaled_accelerations[i] += change * row[i]
                Y[count * n + i] = row[i] / np.sqrt(square)
            count += 1


@native
def row_in_independent_speeds(system: int, constraint_row: Any, squared_norm: float, phi_entries: Any, row: Any) -> Any:
    """Express a constraint row (nv,) in independent speeds, into `row` (n,); returns false if only rounding error
    remains. square: its squared norm; spans: entries of Φ."""
    s = load_system(system)
    whole, left = 0.0, 0.0
    for i in range(s.independent):
        total = 0.0
        for k in range(s.moves[i], s.moves[i + 1]):
            total += phi_entries[k] * constraint_row[s.moved[k]]
            whole += squared_norm * phi_entries[k] * phi_entries[k]
        row[i] = total
        left += total * total
    return left > ROUNDING_FRACTION * whole


@native
def dot(a: Any, b: Any) -> Any:
    """Return the dot product a · b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@native
def sparse_dot(entries: Any, columns: Any, b: Any) -> Any:
    """Return the dot product a · b, with a given by its entries at `columns`."""
    total = 0.0
    for i in range(len(entries)):
        total += entries[i] * b[columns[i]]
    return total


@native
def interpolate_accelerations(system: int, t: float, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Interpolate accelerations at a pose where two branches meet from poses on both sides: (4 A(ε) − A(2ε))/3 of their
    means A."""
    s = load_system(system)
    largest = 0.0
    for k in range(s.nv):
        largest = max(largest, abs(v[k]))
    if not largest > 1e-9:
        return False
    qdot, point, own = scratch(s.nq), scratch(s.nq), scratch(s.nv)
    compute_rates(system, q, v, qdot)
    for k in range(s.nv):
        a[k] = 0.0
    for part in range(4):
        step = (BYPASS_STEP if part < 2 else 2.0 * BYPASS_STEP) / largest * (1.0 if part % 2 == 0 else -1.0)
        for k in range(s.nq):
            point[k] = q[k] + step * qdot[k]
        normalise(system, point)
        if evaluate_reduced(system, t, point, v) != GOOD or not solve_accelerations(system, t, u, own):
            return False
        weight = 2.0 / 3.0 if part < 2 else -1.0 / 6.0
        for k in range(s.nv):
            a[k] += weight * own[k]
    return True


@native
def compute_derivative(system: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out; returns FINE, NOT_FINITE, or UNSUITABLE where analytic loop closure does not apply."""
    s = load_system(system)
    nq, last = s.nq, s.nq + s.nv
    q, v = y[:nq], y[nq:last]
    if not begin_evaluation(system, t, y):
        return NOT_FINITE
    u = joint_forces(system, t, y)
    how = evaluate_reduced(system, t, q, v)
    if how == GOOD and solve_accelerations(system, t, u, out[nq:last]):
        return FINE if complete_derivative(system, result_view(s.reduced, last), out) else NOT_FINITE
    if how == DOUBLE and interpolate_accelerations(system, t, q, v, u, out[nq:last]):
        return FINE if complete_derivative(system, y, out) else NOT_FINITE
    return UNSUITABLE


@native
def project(system: int, t: float, y: Any, error: Any) -> Any:
    """Project y onto the constraint manifold, with dependent coordinates and speeds from analytic loop closure; returns
    UNSUITABLE where that has no solution, see `core.simulation.equations.constrained.project`."""
    s = load_system(system)
    if len(s.kept) > 0:
        return UNSUITABLE
    project_unconstrained(system, t, y)
    how = evaluate_reduced(system, t, y[: s.nq], y[s.nq : s.nq + s.nv])
    if how == GOOD:
        r = result_view(s.reduced, s.nq + s.nv)
        total = 0.0
        for i in range(s.nq + s.nv):
            y[i] = r[i]
            total += r[i] * 0.0
        return FINE if total == 0.0 else NOT_FINITE
    return FINE if how == DOUBLE else UNSUITABLE

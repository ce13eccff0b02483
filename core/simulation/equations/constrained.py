"""Machines with loops, constraints and drivers: accelerations, and projection of states onto the constraint manifold.

The equations of `core.constraints.multipliers` in machine code. With M = Lᵀ L and w = L v the constraints read Y w = b,
Y = G L⁻¹. Rows of Y that others do not make redundant are found by QR of Yᵀ (`core.simulation.equations.sparse_rows`),
and the change of w that meets the constraints is the least one: in the metric of M, as Gauss's principle wants it
(Featherstone, RBDA 8.5). Where bodies without mass make M singular, M + ρ Gᵀ G takes its place: with G a given, both
have the same accelerations.

Accelerations (`by_matrix`), M a + h = u + Gᵀ λ with G a = −(Ġ v − f̈):
1. L of M (`factor_mass`), and w = L⁻ᵀ (u − h), which is L a of the machine without constraints.
2. Q and R of Yᵀ (`factor_rows`); the least change of w that meets Y w = −(Ġ v − f̈) (`meet`). Where a person says that
   no row is redundant, by Cholesky's method instead (`core.simulation.equations.row_products`).
3. a = L⁻¹ w. The multipliers are needed nowhere.
Factors are kept for what is asked next at the same q (`are_factors_current`): other speeds, other forces.
Next to poses where rows become dependent that are not so elsewhere (two branches meet: a parallelogram in line), the
last row is little but rounding. Where the motion is regular there, accelerations are taken from a little before and
behind (`interpolate_accelerations`), and projection leaves what that row would hold as it was integrated.

Projection of a state that steps have carried off the manifold (`project`):
1. q by Newton's method, G δq = −r with the least δq in the metric of M, until the residuals r are below
   `System.closed_gap`, or `System.closings` times (`close_loops`); M is factored once.
2. v by the least change with G v = ḟ; what is normal to the manifold in an error estimate is taken off likewise
   (`project_speeds`).
3. States of junctions by Newton steps to where forces balance (`balance_junctions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import address_of, inserted, merged, native, scratch, view
from core.machine_code.outcome import DRIFTED, FINE, NOT_FINITE
from core.numerics.tolerances import BYPASS_STEP, CLOSED_GAP, INDEPENDENT_ROW, OPEN_GAP, SINGULAR_SINE
from core.programs.native_function import evaluate_function, put_argument, result_view
from core.simulation.equations.elimination_places import (
    add_constraint_products,
    factorise,
    gather_mass_entries,
    gather_speeds,
    load_sparse,
    scatter_speeds,
    solve_lower,
    solve_transposed,
)
from core.simulation.equations.row_products import factor_products, multipliers_by_products, satisfy_rows_by_cholesky
from core.simulation.equations.sparse_rows import (
    HELD_LEVELS,
    compute_sparse_multipliers,
    factor_fronts,
    fill_fronts,
    satisfy_sparse_rows,
    set_copy_rows,
)
from core.simulation.equations.system import (
    ACCELERATION,
    AT_Q,
    POSITION,
    SPEED,
    compute_rates,
    load_system,
    normalise,
    put_all_arguments,
    put_states_and_time,
    set_time,
)

PROJECTIONS = 12
BRANCH_JUMP_ERROR = 1e-4
"""Position error before projection, relative to 1 + |q| (m, rad), above which the loop might be closed on another
branch."""
VECTORS = 6
"""Number of work vectors in `System.room`, each of `System.span` numbers; the last two hold the squared norm of each
row and its largest value so far."""


@merged
def work_vector_address(system: int, index: int) -> Any:
    """Return the address of a work vector."""
    s = load_system(system)
    return address_of(s.room) + 8 * index * s.span


@inserted
def work_vector(system: int, index: int) -> Any:
    """Return a view of a work vector, long enough for q, the unknowns or the rows."""
    return view(work_vector_address(system, index), load_system(system).span)


@native
def factor_mass(system: int, q: Any) -> Any:
    """Factor M at q; returns false if M is not positive definite and the constraints do not compensate for it. Also
    evaluates G if there are constraints."""
    s, sparse, well = load_system(system), load_sparse(load_system(system).sparse), True
    s.factored_rank = -1
    put_argument(s.mass_entries, AT_Q, q)
    evaluate_function(s.mass_entries)
    evaluate_rows(system, q)
    s.weight = 0.0
    M, diagonal = result_view(s.mass_entries, len(sparse.masses)), work_vector(system, 3)
    for i in range(len(sparse.diagonal)):
        diagonal[i] = M[sparse.diagonal[i]]
        well = well and diagonal[i] > 0.0
    if well:
        gather_mass_entries(s.sparse, M)
        well = factorise(s.sparse, diagonal)
    return well or (sparse.supported == 1 and factor_augmented_mass(system))


@native
def factor_augmented_mass(system: int) -> Any:
    """Factor M + ρ Gᵀ G after both matrices were evaluated."""
    s = load_system(system)
    sparse = load_sparse(s.sparse)
    M, diagonal = result_view(s.mass_entries, len(sparse.masses)), work_vector(system, 3)
    G = result_view(s.constraint_entries, sparse.entries[s.rows])
    largest, held = 0.0, 0.0
    for i in range(len(sparse.diagonal)):
        largest = max(largest, diagonal[i])
    for i in range(len(G)):
        held = max(held, G[i] * G[i])
    if not held > 0.0:
        return False
    # ρ makes both parts equally large
    weight = (largest if largest > 0.0 else 1.0) / held
    s.weight = weight
    gather_mass_entries(s.sparse, M)
    add_constraint_products(s.sparse, weight, G, s.rows)
    for i in range(len(sparse.diagonal)):
        diagonal[i] = sparse.factor[sparse.lines[i] + sparse.depths[i]]
    return factorise(s.sparse, diagonal)


@merged
def evaluate_rows(system: int, q: Any) -> None:
    """Evaluate G and the rows that join segments at q."""
    s = load_system(system)
    if s.rows > 0:
        put_argument(s.constraint_entries, AT_Q, q)
        evaluate_function(s.constraint_entries)
    if s.segment_entries != 0:
        put_argument(s.segment_entries, AT_Q, q)
        evaluate_function(s.segment_entries)


@native
def factor_rows(system: int) -> Any:
    """Factor the evaluated rows: Q and R of Yᵀ, or the Cholesky factor of Y Yᵀ. Returns the rank, −1 if rows are
    dependent where that is not allowed. Needs the factor of M."""
    s = load_system(system)
    sparse, squares, sizes, largest = (
        load_sparse(s.sparse),
        work_vector(system, VECTORS - 2),
        work_vector(system, VECTORS - 1),
        0.0,
    )
    G = result_view(s.constraint_entries, sparse.entries[s.rows])
    # without segments nothing is read of what stands behind G
    links = result_view(
        s.constraint_entries if s.segment_entries == 0 else s.segment_entries, len(sparse.columns) - len(G)
    )
    fill_fronts(s.sparse, G, links, squares)
    if s.products != 0:
        s.dependent = 0 if factor_products(s.products, sparse.matrices) else 1
        return s.rows if s.dependent == 0 else -1
    for i in range(s.rows):
        if s.levels[i] <= HELD_LEVELS:
            largest = max(largest, squares[i])
    if len(sparse.glue) > 0:
        set_copy_rows(s.sparse, np.sqrt(largest))
    for i in range(len(sparse.entries) - 1, len(s.levels)):
        squares[i] = largest
    for i in range(len(s.levels)):
        sizes[i] = max(sizes[i], squares[i])
    # what is not positive is no remainder
    part = s.crossing * SINGULAR_SINE**2
    rank, s.least_sine = factor_fronts(s.sparse, s.levels, INDEPENDENT_ROW * largest, part, sizes)
    return rank


@native
def are_factors_current(system: int, q: Any) -> Any:
    """Return true if masses and rows were last factored at this q. This saves work between consecutive steps and when
    contact forces are tried at one state."""
    s = load_system(system)
    if s.factored_rank < 0 or s.crossing != 0:
        return False
    for i in range(s.nq):
        if s.factored[i] != q[i]:
            return False
    return True


@native
def record_factored_pose(system: int, q: Any, rank: int) -> None:
    """Record that masses and rows are factored at q, with this rank."""
    s = load_system(system)
    if s.crossing == 0:
        for i in range(s.nq):
            s.factored[i] = q[i]
        s.factored_rank = rank


@native
def satisfy_rows(system: int, targets: Any, w: Any, level: int, is_nonzero: bool) -> None:
    """Compute the smallest change of w (n,) such that Y w = wanted (rows,), starting from zero unless `is_nonzero`;
    rows that do not act at the level `level` (position, speed, acceleration) keep their value."""
    s = load_system(system)
    if s.products != 0:
        satisfy_rows_by_cholesky(s.products, targets, s.rows, w, s.levels, level, is_nonzero)
    else:
        satisfy_sparse_rows(s.sparse, targets, s.rows, w, s.levels, level, is_nonzero)


@native
def row_space_multipliers(system: int, w: Any, out: Any) -> None:
    """Compute the multipliers λ into out (rows,) such that Yᵀ λ is the component of w (n,) in the row space; zero for
    redundant rows."""
    s = load_system(system)
    if s.products != 0:
        multipliers_by_products(s.products, w, out)
    else:
        compute_sparse_multipliers(s.sparse, w, out)


@native
def accelerations_by_matrix(system: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Compute the accelerations of a machine with loops into a; returns false if they are not finite."""
    s = load_system(system)
    s.crossing = 0
    rank = constrained_accelerations(system, q, v, u, a)
    if rank < 0:
        return False
    singular = rank < s.largest_rank or s.least_sine < SINGULAR_SINE**2
    s.largest_rank = max(s.largest_rank, rank)
    if singular and s.rows > 0 and s.constraint_time == 0:
        own = scratch(s.nv)
        if interpolate_accelerations(system, q, v, u, own):
            s.crossing = 1
        if constrained_accelerations(system, q, v, u, a) < 0:  # what was evaluated last is at q again
            return False
        if s.crossing == 1:
            for k in range(s.nv):
                a[k] = own[k]
    return True


@native
def interpolate_accelerations(system: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Interpolate accelerations at a pose where rows become dependent although the motion is regular, from poses on
    both sides: (4 A(ε) − A(2ε))/3, where A is the mean of both sides. Returns false if the interpolation is impossible
    or rows are dependent there too."""
    s = load_system(system)
    n, largest = s.nv, 0.0
    for k in range(n):
        largest = max(largest, abs(v[k]))
        a[k] = 0.0
    if not largest > 1e-9:
        return False
    qdot, point, speed, own = scratch(s.nq), scratch(s.nq), scratch(n), scratch(n)
    compute_rates(system, q, v, qdot)
    for part in range(4):
        step = (BYPASS_STEP if part < 2 else 2.0 * BYPASS_STEP) / largest * (1.0 if part % 2 == 0 else -1.0)
        for k in range(s.nq):
            point[k] = q[k] + step * qdot[k]
        normalise(system, point)
        for k in range(n):
            speed[k] = v[k]
        gaps, rank = close_loops(system, point, 0, CLOSED_GAP)
        if not gaps < OPEN_GAP or rank < s.largest_rank or s.least_sine < 4.0 * SINGULAR_SINE**2:
            return False
        project_speeds(system, speed, SPEED, False)
        if constrained_accelerations(system, point, speed, u, own) < 0:
            return False
        weight = 2.0 / 3.0 if part < 2 else -1.0 / 6.0
        for k in range(n):
            a[k] += weight * own[k]
    return True


@native
def constrained_accelerations(system: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Compute accelerations from the constraints at q into a; returns their rank, −1 if the result is not finite."""
    s, w, known = load_system(system), work_vector(system, 1), are_factors_current(system, q)
    rank, well = s.factored_rank if known else 0, known or factor_mass(system, q)
    put_all_arguments(system, s.bias_smooth, q, v)
    if not (well and evaluate_function(s.bias_smooth)):
        return -1
    # w = L⁻ᵀ (u − h), changed as little as the constraints want, then a = L⁻¹ w
    h = result_view(s.bias_smooth, s.nv)
    for i in range(s.nv):
        a[i] = u[i] - h[i]
    scatter_speeds(s.sparse, a, w)
    solve_transposed(s.sparse, w)
    if s.rows > 0:
        if not known:
            rank = factor_rows(system)
        if rank < 0:
            return -1
        put_all_arguments(system, s.constraint_bias, q, v)
        evaluate_function(s.constraint_bias)
        drift, wanted = result_view(s.constraint_bias, s.rows), work_vector(system, 0)
        for i in range(s.rows):
            wanted[i] = -drift[i]
        satisfy_rows(system, wanted, w, ACCELERATION, True)
    solve_lower(s.sparse, w)
    gather_speeds(s.sparse, w, a)
    record_factored_pose(system, q, rank)
    return rank


@native
def largest_residual(system: int, q: Any, negative_residuals: Any) -> Any:
    """Return the largest constraint residual at q; writes the negative residuals into `negative_residuals`."""
    s = load_system(system)
    put_argument(s.constraint_residual, AT_Q, q)
    put_states_and_time(system, s.constraint_residual)
    evaluate_function(s.constraint_residual)
    gaps, largest = result_view(s.constraint_residual, s.rows), 0.0
    for i in range(s.rows):
        negative_residuals[i] = -gaps[i]
        if not abs(gaps[i]) <= largest:
            largest = abs(gaps[i])
    return largest


@native
def close_loops(system: int, q: Any, newton_steps: int, tolerance: float) -> Any:
    """Move q to the nearest position at which loops close, with `newton_steps` Newton steps; count 0: until the
    residual is below the tolerance or stops decreasing. Returns (residual, rank)."""
    s = load_system(system)
    wanted, w, step, change = (
        work_vector(system, 0),
        work_vector(system, 1),
        work_vector(system, 2),
        work_vector(system, 3),
    )
    known = are_factors_current(system, q)
    if not (known or factor_mass(system, q)):
        return np.nan, 0
    rank = s.factored_rank if known else factor_rows(system)
    if rank < 0:
        return np.nan, 0
    record_factored_pose(system, q, rank)
    largest, before = largest_residual(system, q, wanted), np.inf
    for _ in range(newton_steps if newton_steps > 0 else PROJECTIONS):
        if newton_steps == 0 and (largest < tolerance or not largest < before):
            break
        before = largest
        # the least δq in the metric of M with G δq = −r
        compute_least_change(system, wanted, w, POSITION)
        gather_speeds(s.sparse, w, step[: s.nv])
        compute_rates(system, q, step[: s.nv], change[: s.nq])
        for i in range(s.nq):
            q[i] += change[i]
        normalise(system, q)
        s.factored_rank = -1
        evaluate_rows(system, q)
        rank = factor_rows(system)
        if rank < 0:
            return np.nan, 0
        largest = largest_residual(system, q, wanted)
    return largest, rank


@native
def compute_least_change(system: int, targets: Any, w: Any, level: int) -> None:
    """Compute the smallest unknowns w (n,) in the metric of M with G w = wanted (rows,)."""
    s = load_system(system)
    for i in range(len(load_sparse(s.sparse).unknowns)):
        w[i] = 0.0
    satisfy_rows(system, targets, w, level, False)
    solve_lower(s.sparse, w)


@native
def project_speeds(system: int, v: Any, level: int, with_drivers: bool) -> None:
    """Project v (nv,) to the nearest speeds with G v = 0, or with G v = ḟ of drivers if `with_drivers`, in rows of the
    level `level`."""
    s = load_system(system)
    sparse, wanted, w = load_sparse(s.sparse), work_vector(system, 0), work_vector(system, 1)
    G = result_view(s.constraint_entries, sparse.entries[s.rows])
    for row in range(s.rows):
        total = 0.0
        for i in range(sparse.entries[row], sparse.entries[row + 1]):
            total -= G[i] * v[sparse.columns[i]]
        wanted[row] = total
    if with_drivers:
        put_states_and_time(system, s.constraint_time)
        evaluate_function(s.constraint_time)
        opposite = result_view(s.constraint_time, s.rows)
        for i in range(s.rows):
            wanted[i] -= opposite[i]
    compute_least_change(system, wanted, w, level)
    for i in range(s.nv):
        v[i] += w[sparse.unknowns[i]]


@native
def balance_junctions(system: int, q: Any, v: Any, x: Any) -> None:
    """Move massless junctions to the points where their forces balance."""
    s = load_system(system)
    if s.settle == 0:
        return
    for _ in range(s.closings if s.closings > 0 else PROJECTIONS):
        for i in range(s.nx):
            s.own[i] = x[i]
        put_all_arguments(system, s.settle, q, v)
        evaluate_function(s.settle)
        step, longest = result_view(s.settle, s.nx), 0.0
        for i in range(s.nx):
            longest = max(longest, abs(step[i]))
        if s.closings == 0 and not longest > CLOSED_GAP:
            return
        for i in range(s.nx):
            x[i] += step[i]


@native
def project_unconstrained(system: int, t: float, y: Any) -> None:
    """Normalise quaternions and balance the forces on massless junctions of a machine without constraints."""
    s = load_system(system)
    normalise(system, y[: s.nq])
    set_time(system, t)
    balance_junctions(system, y[: s.nq], y[s.nq : s.nq + s.nv], y[s.nq + s.nv :])


@native
def may_jump_branch(system: int, q: Any, error: Any) -> Any:
    """Return true if the position error of a step is too large for an unambiguous projection."""
    s = load_system(system)
    largest = 0.0
    for i in range(min(s.nq, len(error))):
        largest = max(largest, abs(error[i]) / (1.0 + abs(q[i])))
    return not largest <= BRANCH_JUMP_ERROR


@native
def project(system: int, t: float, y: Any, error: Any) -> Any:
    """Project y onto the constraint manifold: unit quaternions, closed loops, drivers followed, consistent speeds, all
    by the smallest change in the metric of M; massless junctions in balance. The part removed by projection is
    subtracted from the error vector (n,), so that step size control sees only the remainder (Eich, SIAM J. Numer. Anal.
    30, 1993), except for positions with quaternions. Large position errors stay large: where drivers leave no mobility,
    steps would otherwise grow without bound. Returns FINE, NOT_FINITE or DRIFTED."""
    s = load_system(system)
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    normalise(system, q)
    set_time(system, t)
    if may_jump_branch(system, q, error):
        return DRIFTED
    largest, _ = close_loops(system, q, s.closings, s.closed_gap)
    if not np.isfinite(largest):
        return NOT_FINITE
    if len(error) > 0 and len(s.quaternions) == 0:
        project_speeds(system, error[: s.nq], POSITION, False)
    project_speeds(system, v, SPEED, s.constraint_time != 0)
    if len(error) > 0:
        project_speeds(system, error[s.nq : s.nq + s.nv], SPEED, False)
    balance_junctions(system, q, v, y[s.nq + s.nv :])
    return FINE if largest < OPEN_GAP else DRIFTED

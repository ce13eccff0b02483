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
Factors are kept for what is asked next at the same q (`factors_are_current`): other speeds, other forces.
Next to poses where rows become dependent that are not so elsewhere (two branches meet: a parallelogram in line), the
last row is little but rounding. Where the motion is regular there, accelerations are taken from a little before and
behind (`accelerations_across`), and projection leaves what that row would hold as it was integrated.

Projection of a state that steps have carried off the manifold (`project`):
1. q by Newton's method, G δq = −r with the least δq in the metric of M, until the residuals r are below
   `System.closed_gap`, or `System.closings` times (`close_position`); M is factored once.
2. v by the least change with G v = ḟ; what is normal to the manifold in an error estimate is taken off likewise
   (`project_speeds`).
3. States of junctions by Newton steps to where forces balance (`settle_junctions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.numerics.tolerances import BYPASS_STEP, CLOSED_GAP, INDEPENDENT_ROW, OPEN_GAP, SINGULAR_SINE
from core.simulation.equations.elimination_places import (
    collect,
    factorise,
    gather,
    load_sparse,
    solve,
    solve_transposed,
    spread,
    support,
)
from core.simulation.equations.row_products import factor_products, satisfy_rows_by_cholesky, weights_by_products
from core.simulation.equations.sparse_rows import HELD_LEVELS, factor, fill, glue, satisfy_sparse_rows, weights_of
from core.simulation.equations.system import (
    ACCELERATION,
    AT_Q,
    POSITION,
    SPEED,
    evaluate,
    load_system,
    normalise,
    put,
    put_all,
    put_states_and_time,
    rates,
    result,
    tick,
)
from core.simulation.machine_code.language import address_of, inserted, merged, native, scratch, view
from core.simulation.machine_code.outcome import DRIFTED, FINE, NOT_FINITE

PROJECTIONS = 12
BRANCH_JUMP_ERROR = 1e-4
"""Position error before projection, relative to 1 + |q| (m, rad), above which the loop might be closed on another
branch."""
VECTORS = 6
"""Number of work vectors in `System.room`, each of `System.span` numbers; the last two hold the squared norm of each
row and its largest value so far."""


@merged
def work_vector_place(place: int, index: int) -> Any:
    """Return the address of a work vector."""
    s = load_system(place)
    return address_of(s.room) + 8 * index * s.span


@inserted
def vector(place: int, index: int) -> Any:
    """Return a view of a work vector, long enough for q, the unknowns or the rows."""
    return view(work_vector_place(place, index), load_system(place).span)


@native
def factor_mass(place: int, q: Any) -> Any:
    """Factor M at q; returns false if M is not positive definite and the constraints do not compensate for it. Also
    evaluates G if there are constraints."""
    s, sparse, well = load_system(place), load_sparse(load_system(place).sparse), True
    s.factored_rank = -1
    put(s.mass_entries, AT_Q, q)
    evaluate(s.mass_entries)
    evaluate_rows(place, q)
    s.weight = 0.0
    M, diagonal = result(s.mass_entries, len(sparse.masses)), vector(place, 3)
    for i in range(len(sparse.diagonal)):
        diagonal[i] = M[sparse.diagonal[i]]
        well = well and diagonal[i] > 0.0
    if well:
        gather(s.sparse, M)
        well = factorise(s.sparse, diagonal)
    return well or (sparse.supported == 1 and factor_augmented_mass(place))


@native
def factor_augmented_mass(place: int) -> Any:
    """Factor M + ρ Gᵀ G after both matrices were evaluated."""
    s = load_system(place)
    sparse = load_sparse(s.sparse)
    M, diagonal = result(s.mass_entries, len(sparse.masses)), vector(place, 3)
    G = result(s.constraint_entries, sparse.entries[s.rows])
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
    gather(s.sparse, M)
    support(s.sparse, weight, G, s.rows)
    for i in range(len(sparse.diagonal)):
        diagonal[i] = sparse.factor[sparse.lines[i] + sparse.depths[i]]
    return factorise(s.sparse, diagonal)


@merged
def evaluate_rows(place: int, q: Any) -> None:
    """Evaluate G and the rows that join segments at q."""
    s = load_system(place)
    if s.rows > 0:
        put(s.constraint_entries, AT_Q, q)
        evaluate(s.constraint_entries)
    if s.segment_entries != 0:
        put(s.segment_entries, AT_Q, q)
        evaluate(s.segment_entries)


@native
def factor_rows(place: int) -> Any:
    """Factor the evaluated rows: Q and R of Yᵀ, or the Cholesky factor of Y Yᵀ. Returns the rank, −1 if rows are
    dependent where that is not allowed. Needs the factor of M."""
    s = load_system(place)
    sparse, squares, sizes, largest = load_sparse(s.sparse), vector(place, VECTORS - 2), vector(place, VECTORS - 1), 0.0
    G = result(s.constraint_entries, sparse.entries[s.rows])
    # without segments nothing is read of what stands behind G
    links = result(s.constraint_entries if s.segment_entries == 0 else s.segment_entries, len(sparse.columns) - len(G))
    fill(s.sparse, G, links, squares)
    if s.products != 0:
        s.dependent = 0 if factor_products(s.products, sparse.matrices) else 1
        return s.rows if s.dependent == 0 else -1
    for i in range(s.rows):
        if s.levels[i] <= HELD_LEVELS:
            largest = max(largest, squares[i])
    if len(sparse.glue) > 0:
        glue(s.sparse, np.sqrt(largest))
    for i in range(len(sparse.entries) - 1, len(s.levels)):
        squares[i] = largest
    for i in range(len(s.levels)):
        sizes[i] = max(sizes[i], squares[i])
    # what is not positive is no remainder
    part = s.crossing * SINGULAR_SINE**2
    rank, s.least_sine = factor(s.sparse, s.levels, INDEPENDENT_ROW * largest, part, sizes)
    return rank


@native
def factors_are_current(place: int, q: Any) -> Any:
    """Return true if masses and rows were last factored at this q, which saves work between consecutive steps and when
    contact forces are tried at one state."""
    s = load_system(place)
    if s.factored_rank < 0 or s.crossing != 0:
        return False
    for i in range(s.nq):
        if s.factored[i] != q[i]:
            return False
    return True


@native
def note_factored_pose(place: int, q: Any, rank: int) -> None:
    """Record that masses and rows are factored at q, with this rank."""
    s = load_system(place)
    if s.crossing == 0:
        for i in range(s.nq):
            s.factored[i] = q[i]
        s.factored_rank = rank


@native
def meet(place: int, wanted: Any, w: Any, stage: int, begun: bool) -> None:
    """Compute the smallest change of w (n,), zero unless `begun`, such that Y w = wanted (rows,); rows that do not act
    at the level `stage` (position, speed, acceleration) keep their value."""
    s = load_system(place)
    if s.products != 0:
        satisfy_rows_by_cholesky(s.products, wanted, s.rows, w, s.levels, stage, begun)
    else:
        satisfy_sparse_rows(s.sparse, wanted, s.rows, w, s.levels, stage, begun)


@native
def weights(place: int, w: Any, out: Any) -> None:
    """Compute the multipliers λ into out (rows,) such that Yᵀ λ is the component of w (n,) in the row space; zero for
    redundant rows."""
    s = load_system(place)
    if s.products != 0:
        weights_by_products(s.products, w, out)
    else:
        weights_of(s.sparse, w, out)


@native
def by_matrix(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Compute the accelerations of a machine with loops into a; returns false if they are not finite."""
    s = load_system(place)
    s.crossing = 0
    rank = constrained_accelerations(place, q, v, u, a)
    if rank < 0:
        return False
    singular = rank < s.largest_rank or s.least_sine < SINGULAR_SINE**2
    s.largest_rank = max(s.largest_rank, rank)
    if singular and s.rows > 0 and s.constraint_time == 0:
        own = scratch(s.nv)
        if accelerations_across(place, q, v, u, own):
            s.crossing = 1
        if constrained_accelerations(place, q, v, u, a) < 0:  # what was evaluated last is at q again
            return False
        if s.crossing == 1:
            for k in range(s.nv):
                a[k] = own[k]
    return True


@native
def accelerations_across(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Interpolate accelerations at a pose where rows become dependent but the motion is regular, from poses on both
    sides: (4 A(ε) − A(2ε))/3 of their means A. Returns false if there are none or the rows are no better there."""
    s = load_system(place)
    n, largest = s.nv, 0.0
    for k in range(n):
        largest = max(largest, abs(v[k]))
        a[k] = 0.0
    if not largest > 1e-9:
        return False
    qdot, point, speed, own = scratch(s.nq), scratch(s.nq), scratch(n), scratch(n)
    rates(place, q, v, qdot)
    for part in range(4):
        step = (BYPASS_STEP if part < 2 else 2.0 * BYPASS_STEP) / largest * (1.0 if part % 2 == 0 else -1.0)
        for k in range(s.nq):
            point[k] = q[k] + step * qdot[k]
        normalise(place, point)
        for k in range(n):
            speed[k] = v[k]
        gaps, rank = close_position(place, point, 0, CLOSED_GAP)
        if not gaps < OPEN_GAP or rank < s.largest_rank or s.least_sine < 4.0 * SINGULAR_SINE**2:
            return False
        project_speeds(place, speed, SPEED, False)
        if constrained_accelerations(place, point, speed, u, own) < 0:
            return False
        weight = 2.0 / 3.0 if part < 2 else -1.0 / 6.0
        for k in range(n):
            a[k] += weight * own[k]
    return True


@native
def constrained_accelerations(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Compute accelerations from the constraints at q into a; returns their rank, −1 if the result is not finite."""
    s, w, known = load_system(place), vector(place, 1), factors_are_current(place, q)
    rank, well = s.factored_rank if known else 0, known or factor_mass(place, q)
    put_all(place, s.bias_smooth, q, v)
    if not (well and evaluate(s.bias_smooth)):
        return -1
    # w = L⁻ᵀ (u − h), changed as little as the constraints want, then a = L⁻¹ w
    h = result(s.bias_smooth, s.nv)
    for i in range(s.nv):
        a[i] = u[i] - h[i]
    spread(s.sparse, a, w)
    solve_transposed(s.sparse, w)
    if s.rows > 0:
        if not known:
            rank = factor_rows(place)
        if rank < 0:
            return -1
        put_all(place, s.constraint_bias, q, v)
        evaluate(s.constraint_bias)
        drift, wanted = result(s.constraint_bias, s.rows), vector(place, 0)
        for i in range(s.rows):
            wanted[i] = -drift[i]
        meet(place, wanted, w, ACCELERATION, True)
    solve(s.sparse, w)
    collect(s.sparse, w, a)
    note_factored_pose(place, q, rank)
    return rank


@native
def largest_gap(place: int, q: Any, wanted: Any) -> Any:
    """Return the largest constraint residual at q; writes the negative residuals into `wanted`."""
    s = load_system(place)
    put(s.constraint_residual, AT_Q, q)
    put_states_and_time(place, s.constraint_residual)
    evaluate(s.constraint_residual)
    gaps, largest = result(s.constraint_residual, s.rows), 0.0
    for i in range(s.rows):
        wanted[i] = -gaps[i]
        if not abs(gaps[i]) <= largest:
            largest = abs(gaps[i])
    return largest


@native
def close_position(place: int, q: Any, count: int, tolerance: float) -> Any:
    """Move q to the nearest position at which loops close, with `count` Newton steps (0: until the residual is below
    the tolerance or stops decreasing). Returns (residual, rank)."""
    s = load_system(place)
    wanted, w, step, change = vector(place, 0), vector(place, 1), vector(place, 2), vector(place, 3)
    known = factors_are_current(place, q)
    if not (known or factor_mass(place, q)):
        return np.nan, 0
    rank = s.factored_rank if known else factor_rows(place)
    if rank < 0:
        return np.nan, 0
    note_factored_pose(place, q, rank)
    largest, before = largest_gap(place, q, wanted), np.inf
    for _ in range(count if count > 0 else PROJECTIONS):
        if count == 0 and (largest < tolerance or not largest < before):
            break
        before = largest
        # the least δq in the metric of M with G δq = −r
        least_change(place, wanted, w, POSITION)
        collect(s.sparse, w, step[: s.nv])
        rates(place, q, step[: s.nv], change[: s.nq])
        for i in range(s.nq):
            q[i] += change[i]
        normalise(place, q)
        s.factored_rank = -1
        evaluate_rows(place, q)
        rank = factor_rows(place)
        if rank < 0:
            return np.nan, 0
        largest = largest_gap(place, q, wanted)
    return largest, rank


@native
def least_change(place: int, wanted: Any, w: Any, stage: int) -> None:
    """Compute the smallest unknowns w (n,) in the metric of M with G w = wanted (rows,)."""
    s = load_system(place)
    for i in range(len(load_sparse(s.sparse).unknowns)):
        w[i] = 0.0
    meet(place, wanted, w, stage, False)
    solve(s.sparse, w)


@native
def project_speeds(place: int, v: Any, stage: int, moving: bool) -> None:
    """Project v (nv,) to the nearest speeds with G v = 0, or with G v = ḟ of drivers if `moving`, in rows of the level
    `stage`."""
    s = load_system(place)
    sparse, wanted, w = load_sparse(s.sparse), vector(place, 0), vector(place, 1)
    G = result(s.constraint_entries, sparse.entries[s.rows])
    for row in range(s.rows):
        total = 0.0
        for i in range(sparse.entries[row], sparse.entries[row + 1]):
            total -= G[i] * v[sparse.columns[i]]
        wanted[row] = total
    if moving:
        put_states_and_time(place, s.constraint_time)
        evaluate(s.constraint_time)
        opposite = result(s.constraint_time, s.rows)
        for i in range(s.rows):
            wanted[i] -= opposite[i]
    least_change(place, wanted, w, stage)
    for i in range(s.nv):
        v[i] += w[sparse.unknowns[i]]


@native
def settle_junctions(place: int, q: Any, v: Any, x: Any) -> None:
    """Move massless junctions to force equilibrium."""
    s = load_system(place)
    if s.settle == 0:
        return
    for _ in range(s.closings if s.closings > 0 else PROJECTIONS):
        for i in range(s.nx):
            s.own[i] = x[i]
        put_all(place, s.settle, q, v)
        evaluate(s.settle)
        step, longest = result(s.settle, s.nx), 0.0
        for i in range(s.nx):
            longest = max(longest, abs(step[i]))
        if s.closings == 0 and not longest > CLOSED_GAP:
            return
        for i in range(s.nx):
            x[i] += step[i]


@native
def project_free(place: int, t: float, y: Any) -> None:
    """Normalise quaternions and balance massless junctions of a machine without constraints."""
    s = load_system(place)
    normalise(place, y[: s.nq])
    tick(place, t)
    settle_junctions(place, y[: s.nq], y[s.nq : s.nq + s.nv], y[s.nq + s.nv :])


@native
def may_jump_branch(place: int, q: Any, error: Any) -> Any:
    """Return true if the position error of a step is too large for an unambiguous projection."""
    s = load_system(place)
    largest = 0.0
    for i in range(min(s.nq, len(error))):
        largest = max(largest, abs(error[i]) / (1.0 + abs(q[i])))
    return not largest <= BRANCH_JUMP_ERROR


@native
def project(place: int, t: float, y: Any, error: Any) -> Any:
    """Project y onto the constraint manifold: unit quaternions, closed loops, drivers followed, consistent speeds, all
    by the smallest change in the metric of M; massless junctions in balance. The part removed by projection is
    subtracted from the error vector (n,), so that step size control sees only the remainder (Eich, SIAM J. Numer. Anal.
    30, 1993), except for positions with quaternions. Large position errors stay large: where drivers leave no mobility,
    steps would otherwise grow without bound. Returns FINE, NOT_FINITE or DRIFTED."""
    s = load_system(place)
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    normalise(place, q)
    tick(place, t)
    if may_jump_branch(place, q, error):
        return DRIFTED
    largest, _ = close_position(place, q, s.closings, s.closed_gap)
    if not np.isfinite(largest):
        return NOT_FINITE
    if len(error) > 0 and len(s.quaternions) == 0:
        project_speeds(place, error[: s.nq], POSITION, False)
    project_speeds(place, v, SPEED, s.constraint_time != 0)
    if len(error) > 0:
        project_speeds(place, error[s.nq : s.nq + s.nv], SPEED, False)
    settle_junctions(place, q, v, y[s.nq + s.nv :])
    return FINE if largest < OPEN_GAP else DRIFTED

"""Machines with loops, constraints and drivers: accelerations, and states brought back onto the manifold.

The equations of `core.constraints.multipliers` in machine code. With M = Lᵀ L and w = L v the constraints read Y w = b,
Y = G L⁻¹. Rows of Y that others do not make redundant are found by QR of Yᵀ (`core.simulation.equations.sparse_rows`),
and the change of w that meets the constraints is the least one: in the metric of M, as Gauss's principle wants it
(Featherstone, RBDA 8.5). Where bodies without mass make M singular, M + ρ Gᵀ G takes its place: with G a given, both
have the same accelerations.

Accelerations (`by_matrix`), M a + h = u + Gᵀ λ with G a = −(Ġ v − f̈):
1. L of M (`factor_mass`), and w = L⁻ᵀ (u − h), which is L a of the machine without constraints.
2. Q and R of Yᵀ (`factor_rows`); the least change of w that meets Y w = −(Ġ v − f̈) (`meet`).
3. a = L⁻¹ w. The multipliers are needed nowhere.
Next to poses where rows become dependent that are not so elsewhere (two branches meet: a parallelogram in line), the
last row is little but rounding. Where the motion is regular there, accelerations are taken from a little before and
behind (`across`), and projection leaves what that row would hold as it was integrated.

Projection of a state that steps have carried off the manifold (`project`):
1. q by Newton's method, G δq = −r with the least δq in the metric of M, until the residuals r vanish (`close`).
2. v by the least change with G v = ḟ; what is normal to the manifold in an error estimate is taken off likewise
   (`remove_normal`).
3. States of junctions by Newton steps to where forces balance (`settle`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.numerics.tolerances import BYPASS_STEP, CLOSED_GAP, INDEPENDENT_ROW, OPEN_GAP, SINGULAR_SINE
from core.simulation.equations.elimination_places import load_sparse
from core.simulation.equations.sparse_masses import factorise, gather, multiply, solve, solve_transposed, support
from core.simulation.equations.sparse_rows import HELD_LEVELS, factor, fill, hold_rows
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
    put_rest,
    rates,
    result,
    tick,
)
from core.simulation.machine_code.language import address_of, inserted, native, scratch, view
from core.simulation.stepping.outcome import DRIFTED, FINE, NOT_FINITE

PROJECTIONS = 12
BRANCH_JUMP_ERROR = 1e-4
"""Error of a position before projection, as a part of 1 + |q| (m, rad), from which on it might be closed on another
branch."""
VECTORS = 4
"""Vectors of `System.room`, of max(nq, nv, rows) each; the square of each row, the largest that it has had, and what
stands at the end follow."""
WEIGHT, LARGEST_RANK, CROSSING, LEAST_SINE = -1, -2, -3, -4
"""The end of `System.room`: ρ; the largest rank that was met; 1 while the pose is crossed where rows become dependent
(`across`); square of the least part of an independent row that those before it leave, as a part of its largest size."""


def room_for(nq: int, nv: int, rows: int) -> int:
    """Numbers that `System.room` must hold."""
    return VECTORS * max(nq, nv, rows, 1) + 2 * rows + 4


@native
def vector_size(place: int) -> Any:
    """Enough for q, v or the rows."""
    s = load_system(place)
    return max(s.nq, s.nv, s.rows)


@native
def vector_place(place: int, index: int) -> Any:
    """Address of a vector of the room."""
    return address_of(load_system(place).room) + 8 * index * vector_size(place)


@inserted
def vector(place: int, index: int) -> Any:
    """A vector of the room, long enough for q, v or the rows; a view."""
    return view(vector_place(place, index), vector_size(place))


@native
def factor_mass(place: int, q: Any) -> Any:
    """L of M at q; false if M is not positive definite, and the constraints do not make up."""
    s = load_system(place)
    put(s.mass_entries, AT_Q, q)
    evaluate(s.mass_entries)
    s.room[WEIGHT] = 0.0
    sparse = load_sparse(s.sparse)
    M, diagonal = result(s.mass_entries, len(sparse.masses)), vector(place, 3)
    for i in range(s.nv):
        diagonal[i] = M[sparse.diagonal[i]]
    gather(s.sparse, M)
    return factorise(s.sparse, diagonal) or (sparse.supported == 1 and factor_supported(place, q))


@native
def factor_supported(place: int, q: Any) -> Any:
    """L of M + ρ Gᵀ G."""
    s = load_system(place)
    put(s.constraint_entries, AT_Q, q)
    evaluate(s.constraint_entries)
    sparse = load_sparse(s.sparse)
    M, G, diagonal = (
        result(s.mass_entries, len(sparse.masses)),
        result(s.constraint_entries, len(sparse.columns)),
        vector(place, 3),
    )
    largest, held = 0.0, 0.0
    for i in range(s.nv):
        largest = max(largest, diagonal[i])
    for i in range(len(G)):
        held = max(held, G[i] * G[i])
    if not held > 0.0:
        return False
    # ρ makes both parts equally large
    weight = (largest if largest > 0.0 else 1.0) / held
    s.room[WEIGHT] = weight
    gather(s.sparse, M)
    support(s.sparse, weight, G)
    for i in range(s.nv):
        diagonal[i] = sparse.factor[sparse.lines[i] + sparse.depths[i]]
    return factorise(s.sparse, diagonal)


@native
def factor_rows(place: int, q: Any) -> Any:
    """Q and R of Yᵀ at q; the rank. Needs the factor of M."""
    s = load_system(place)
    put(s.constraint_entries, AT_Q, q)
    evaluate(s.constraint_entries)
    squares = s.room[VECTORS * vector_size(place) :]
    sizes = squares[s.rows :]
    fill(s.sparse, result(s.constraint_entries, len(load_sparse(s.sparse).columns)), squares)
    largest = 0.0
    for i in range(s.rows):
        if s.levels[i] <= HELD_LEVELS:
            largest = max(largest, squares[i])
        sizes[i] = max(sizes[i], squares[i])
    # what is not positive is no remainder
    part = s.room[CROSSING] * SINGULAR_SINE**2
    rank, s.room[LEAST_SINE] = factor(s.sparse, s.levels, INDEPENDENT_ROW * largest, part, sizes)
    return rank


@native
def meet(place: int, wanted: Any, w: Any, stage: int) -> None:
    """The least change of w (nv,) with which Y w = wanted (rows,); rows that do not hold on the level `stage`
    (position, speed, acceleration) keep what they have."""
    s = load_system(place)
    hold_rows(s.sparse, wanted, w, s.levels, stage)


@native
def by_matrix(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations of a machine with loops, into a; false if they are not finite."""
    s = load_system(place)
    s.room[CROSSING] = 0.0
    rank = solved(place, q, v, u, a)
    if rank < 0:
        return False
    singular = rank < s.room[LARGEST_RANK] or s.room[LEAST_SINE] < SINGULAR_SINE**2
    s.room[LARGEST_RANK] = max(s.room[LARGEST_RANK], rank)
    if singular and s.rows > 0 and s.constraint_time == 0:
        own = scratch(s.nv)
        if across(place, q, v, u, own):
            s.room[CROSSING] = 1.0
        if solved(place, q, v, u, a) < 0:  # what was evaluated last is at q again
            return False
        if s.room[CROSSING] == 1.0:
            for k in range(s.nv):
                a[k] = own[k]
    return True


@native
def across(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations at a pose where rows become dependent and the motion is regular, from poses before and behind:
    (4 A(ε) − A(2ε))/3 of their means A. False where there are none, or the rows are no better."""
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
        gaps, rank = close(place, point)
        if not gaps < OPEN_GAP or rank < s.room[LARGEST_RANK] or s.room[LEAST_SINE] < 4.0 * SINGULAR_SINE**2:
            return False
        remove_normal(place, speed, SPEED, False)
        if solved(place, point, speed, u, own) < 0:
            return False
        weight = 2.0 / 3.0 if part < 2 else -1.0 / 6.0
        for k in range(n):
            a[k] += weight * own[k]
    return True


@native
def solved(place: int, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations from the constraints as they are at q, into a; their rank, −1 if they are not finite."""
    s = load_system(place)
    n, rank = s.nv, 0
    well = factor_mass(place, q)
    put_all(place, s.bias_regularised, q, v)
    if not (well and evaluate(s.bias_regularised)):
        return -1
    # w = L⁻ᵀ (u − h), changed as little as the constraints want, then a = L⁻¹ w
    h = result(s.bias_regularised, n)
    for i in range(n):
        a[i] = u[i] - h[i]
    solve_transposed(s.sparse, a)
    if s.rows > 0:
        rank = factor_rows(place, q)
        put_all(place, s.constraint_bias, q, v)
        evaluate(s.constraint_bias)
        drift, wanted = result(s.constraint_bias, s.rows), vector(place, 0)
        for i in range(s.rows):
            wanted[i] = -drift[i]
        meet(place, wanted, a, ACCELERATION)
    solve(s.sparse, a)
    return rank


@native
def gap(place: int, q: Any, wanted: Any) -> Any:
    """The largest residual at q; the residuals' negatives into `wanted`."""
    s = load_system(place)
    put(s.constraint_residual, AT_Q, q)
    put_rest(place, s.constraint_residual)
    evaluate(s.constraint_residual)
    gaps, largest = result(s.constraint_residual, s.rows), 0.0
    for i in range(s.rows):
        wanted[i] = -gaps[i]
        if not abs(gaps[i]) <= largest:
            largest = abs(gaps[i])
    return largest


@native
def close(place: int, q: Any) -> Any:
    """q ← the nearest position at which the loops close, by Newton's method: (gap, rank)."""
    s = load_system(place)
    n, wanted, step, change = s.nv, vector(place, 0), vector(place, 1), vector(place, 2)
    if not factor_mass(place, q):
        return np.nan, 0
    rank = factor_rows(place, q)
    before = np.inf
    for _ in range(PROJECTIONS):
        largest = gap(place, q, wanted)
        if largest < CLOSED_GAP or not largest < before:
            break
        before = largest
        for i in range(n):
            step[i] = 0.0
        # the least δq in the metric of M with G δq = −r
        meet(place, wanted, step, POSITION)
        solve(s.sparse, step)
        rates(place, q, step[:n], change[: s.nq])
        for i in range(s.nq):
            q[i] += change[i]
        normalise(place, q)
        rank = factor_rows(place, q)
    return gap(place, q, wanted), rank


@native
def remove_normal(place: int, v: Any, stage: int, moving: bool) -> None:
    """v ← the nearest v (nv,) with G v = 0, or if `moving` with G v = ḟ of drivers, in rows of the level `stage`."""
    s = load_system(place)
    wanted = vector(place, 0)
    for i in range(s.rows):
        wanted[i] = 0.0
    if moving:
        put_rest(place, s.constraint_time)
        evaluate(s.constraint_time)
        opposite = result(s.constraint_time, s.rows)
        for i in range(s.rows):
            wanted[i] = -opposite[i]
    # w = L v, the least change with Y w as wanted, v = L⁻¹ w
    multiply(s.sparse, v)
    meet(place, wanted, v, stage)
    solve(s.sparse, v)


@native
def settle(place: int, q: Any, v: Any, x: Any) -> None:
    """Junctions to where the forces at them are in balance."""
    s = load_system(place)
    if s.settle == 0:
        return
    for _ in range(PROJECTIONS):
        for i in range(s.nx):
            s.own[i] = x[i]
        put_all(place, s.settle, q, v)
        evaluate(s.settle)
        step, longest = result(s.settle, s.nx), 0.0
        for i in range(s.nx):
            longest = max(longest, abs(step[i]))
        if not longest > CLOSED_GAP:
            return
        for i in range(s.nx):
            x[i] += step[i]


@native
def project_free(place: int, t: float, y: Any) -> None:
    """Where nothing is held: quaternions at length one, junctions in balance."""
    s = load_system(place)
    normalise(place, y[: s.nq])
    tick(place, t)
    settle(place, y[: s.nq], y[s.nq : s.nq + s.nv], y[s.nq + s.nv :])


@native
def jumps_branch(place: int, q: Any, error: Any) -> Any:
    """Whether a step went so far that its position is too uncertain to be projected."""
    s = load_system(place)
    largest = 0.0
    for i in range(min(s.nq, len(error))):
        largest = max(largest, abs(error[i]) / (1.0 + abs(q[i])))
    return not largest <= BRANCH_JUMP_ERROR


@native
def project(place: int, t: float, y: Any, error: Any) -> Any:
    """y on the manifold: quaternions at length one, loops closed, drivers followed, speeds consistent, all by the least
    change in the metric of M; junctions in balance. Of an error vector (n,) what projection takes away is taken off, so
    that the choice of the step sees what remains (Eich, SIAM J. Numer. Anal. 30, 1993); positions with quaternions keep
    theirs. A large error of position stays large: where drivers leave nothing free, steps would grow beyond all bounds.
    Returns FINE, NOT_FINITE or DRIFTED."""
    s = load_system(place)
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    normalise(place, q)
    tick(place, t)
    if jumps_branch(place, q, error):
        return DRIFTED
    largest, _ = close(place, q)
    if not np.isfinite(largest):
        return NOT_FINITE
    if len(error) > 0 and len(s.quaternions) == 0:
        remove_normal(place, error[: s.nq], POSITION, False)
    remove_normal(place, v, SPEED, s.constraint_time != 0)
    if len(error) > 0:
        remove_normal(place, error[s.nq : s.nq + s.nv], SPEED, False)
    settle(place, q, v, y[s.nq + s.nv :])
    return FINE if largest < OPEN_GAP else DRIFTED

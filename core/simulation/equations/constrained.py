"""Machines with loops, constraints and drivers: accelerations, and states brought back onto the manifold.

The equations of `core.constraints.multipliers` in machine code. With M = L Lᵀ and w = Lᵀ v the constraints read Y w =
b, Y = G L⁻ᵀ. The rows of Y are made orthonormal one after another, the largest remainder first (QR of Yᵀ with column
pivoting, Golub and Van Loan 5.4.2, by modified Gram–Schmidt), so that redundant rows of G drop out, and the change of w
that meets the constraints is the least one: in the metric of M, as Gauss's principle wants it (Featherstone, RBDA 8.5).
Where bodies without mass make M singular, M + ρ Gᵀ G takes its place: with G a given, both have the same accelerations.

Accelerations (`by_matrix`), M a + h = u + Gᵀ λ with G a = −(Ġ v − f̈):
1. L of M (`factor_mass`), and w = L⁻¹ (u − h), which is Lᵀ a of the machine without constraints.
2. Orthonormal rows of Y = G L⁻ᵀ (`factor_rows`); the least change of w that meets Y w = −(Ġ v − f̈) (`meet`).
3. a = L⁻ᵀ w. The multipliers are needed nowhere.
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

from core.numerics.tolerances import BYPASS_STEP, CLOSED_GAP, INDEPENDENT_ROW, NEGLIGIBLE_PIVOT, OPEN_GAP, SINGULAR_SINE
from core.simulation.equations.system import (
    BIAS,
    DRIFT,
    DRIFTED,
    FINE,
    FIRST,
    GAP,
    JACOBIAN,
    KIND,
    MASS,
    MOVING,
    NOT_FINITE,
    SECOND,
    SETTLE,
    THIRD,
    evaluate,
    load_system,
    normalise,
    put,
    put_rest,
    rates,
    result,
    tick,
)
from core.simulation.machine_code.language import address_of, inserted, native, scratch, view

PROJECTIONS = 12
BRANCH_JUMP_ERROR = 1e-4
"""Error of a position before projection, as a part of 1 + |q| (m, rad), from which on it might be closed on another
branch."""
VECTORS = 4
"""Vectors of `System.room`, of max(nq, nv, rows) each; the coefficients of the rows (rows, rows) and the
largest square that each row has had (rows,) follow, then what stands at its end."""
WEIGHT, LARGEST_RANK, CROSSING, LEAST_SINE = -1, -2, -3, -4
"""The end of `System.room`: ρ; the largest rank that was met; 1 while the pose is crossed where rows become dependent
(`across`); square of the least part of an independent row that those before it leave, as a part of its largest size."""


def room_for(nq: int, nv: int, rows: int) -> int:
    """Numbers that `System.room` must hold."""
    return VECTORS * max(nq, nv, rows, 1) + rows * rows + rows + 4


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
def cholesky(A: Any, n: int) -> Any:
    """Lower factor in place of A (n n,), row by row, with reciprocals of its diagonal (divisions take longest); false
    if A is not positive definite."""
    for j in range(n):
        d = A[j * n + j]
        least = NEGLIGIBLE_PIVOT * d
        for k in range(j):
            d -= A[j * n + k] * A[j * n + k]
        if not d > least:
            return False
        d = 1.0 / np.sqrt(d)
        A[j * n + j] = d
        for i in range(j + 1, n):
            x = A[i * n + j]
            for k in range(j):
                x -= A[i * n + k] * A[j * n + k]
            A[i * n + j] = x * d
    return True


@native
def forward_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻¹ x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i * n + k] * x[k]
        x[i] = total * L[i * n + i]


@native
def back_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻ᵀ x."""
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= L[k * n + i] * x[k]
        x[i] = total * L[i * n + i]


@native
def by_transpose(L: Any, x: Any, n: int) -> None:
    """x ← Lᵀ x."""
    for i in range(n):
        total = x[i] / L[i * n + i]
        for k in range(i + 1, n):
            total += L[k * n + i] * x[k]
        x[i] = total


@native
def factor_mass(place: int, q: Any) -> Any:
    """L of M at q, in the memory of M; false if M is not positive definite, and the constraints do not make up."""
    s = load_system(place)
    put(place, MASS, FIRST, q)
    evaluate(place, MASS)
    s.room[WEIGHT] = 0.0
    return cholesky(result(place, MASS, s.nv * s.nv), s.nv) or (s.rows > 0 and factor_supported(place, q))


@native
def factor_supported(place: int, q: Any) -> Any:
    """L of M + ρ Gᵀ G, in the memory of M."""
    s = load_system(place)
    n, m = s.nv, s.rows
    put(place, MASS, FIRST, q)
    evaluate(place, MASS)
    put(place, JACOBIAN, FIRST, q)
    evaluate(place, JACOBIAN)
    M, G = result(place, MASS, n * n), result(place, JACOBIAN, m * n)
    largest, held = 0.0, 0.0
    for i in range(n):
        largest = max(largest, M[i * n + i])
    for i in range(m * n):
        held = max(held, G[i] * G[i])
    if not held > 0.0:
        return False
    # ρ makes both parts equally large
    weight = (largest if largest > 0.0 else 1.0) / held
    s.room[WEIGHT] = weight
    for i in range(n):
        for k in range(n):
            for r in range(m):
                M[i * n + k] += weight * G[r * n + i] * G[r * n + k]
    return cholesky(M, n)


@native
def factor_rows(place: int, q: Any) -> Any:
    """Orthonormal rows of Y at q in the memory of G, their coefficients in the room; the rank. Needs the factor of M.

    Row order[j] of Y is Σ_{k ≤ j} coefficient(k, order[j]) · row order[k] of the result.
    """
    s = load_system(place)
    n, m = s.nv, s.rows
    put(place, JACOBIAN, FIRST, q)
    evaluate(place, JACOBIAN)
    L, Y = result(place, MASS, n * n), result(place, JACOBIAN, m * n)
    R = s.room[VECTORS * max(s.nq, n, m) :]
    largest = 0.0
    for i in range(m):
        s.order[i] = i
        square = 0.0
        row = Y[i * n : i * n + n]
        forward_substitute(L, row, n)
        for k in range(n):
            square += row[k] * row[k]
        largest = max(largest, square)
        R[m * m + i] = max(R[m * m + i], square)
    # Gram–Schmidt, the largest remainder first; rows behind the rank are redundant
    singular, s.room[LEAST_SINE] = s.room[CROSSING] * SINGULAR_SINE**2, 1.0
    for j in range(m):
        best, pivot = -1.0, j
        for i in range(j, m):
            square = 0.0
            for k in range(s.order[i] * n, s.order[i] * n + n):
                square += Y[k] * Y[k]
            if square > best:
                best, pivot = square, i
        whole = R[m * m + s.order[pivot]]
        if not best > INDEPENDENT_ROW * largest or best < singular * whole:
            return j
        s.room[LEAST_SINE] = min(s.room[LEAST_SINE], best / whole)
        s.order[j], s.order[pivot] = s.order[pivot], s.order[j]
        chosen = s.order[j] * n
        length = np.sqrt(best)
        R[j * m + s.order[j]] = length
        turned = 1.0 / length
        for k in range(n):
            Y[chosen + k] *= turned
        for i in range(j + 1, m):
            other, part = s.order[i] * n, 0.0
            for k in range(n):
                part += Y[chosen + k] * Y[other + k]
            R[j * m + s.order[i]] = part
            for k in range(n):
                Y[other + k] -= part * Y[chosen + k]
    return m


@native
def meet(place: int, rank: int, wanted: Any, w: Any, stage: int) -> None:
    """The least change of w (nv,) with which Y w = wanted (rows,); rows that do not hold on the level `stage`
    (position, speed, acceleration) keep what they have."""
    s = load_system(place)
    n, m, before = s.nv, s.rows, vector(place, 3)
    Y, R = result(place, JACOBIAN, m * n), s.room[VECTORS * max(s.nq, n, m) :]
    for j in range(rank):
        row = s.order[j]
        part = 0.0
        for k in range(n):
            part += Y[row * n + k] * w[k]
        # component of w along the orthonormal row: Σ_k coefficient(k, row) component(k) = wanted
        target = wanted[row]
        before[j] = part
        if s.levels[row] > stage:
            target = 0.0
            for k in range(j + 1):
                target += R[k * m + row] * before[k]
        for k in range(j):
            target -= R[k * m + row] * wanted[s.order[k]]
        target /= R[j * m + row]
        wanted[row] = target
        for k in range(n):
            w[k] += (target - part) * Y[row * n + k]


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
    if singular and s.rows > 0 and s.entries[MOVING, KIND] == 0:
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
        remove_normal(place, rank, speed, SECOND, False)
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
    put(place, BIAS, FIRST, q)
    put(place, BIAS, s.nq, v)
    put_rest(place, BIAS)
    if not (well and evaluate(place, BIAS)):
        return -1
    # w = L⁻¹ (u − h), changed as little as the constraints want, then a = L⁻ᵀ w
    L, h = result(place, MASS, n * n), result(place, BIAS, n)
    for i in range(n):
        a[i] = u[i] - h[i]
    forward_substitute(L, a, n)
    if s.rows > 0:
        rank = factor_rows(place, q)
        put(place, DRIFT, FIRST, q)
        put(place, DRIFT, s.nq, v)
        put_rest(place, DRIFT)
        evaluate(place, DRIFT)
        drift, wanted = result(place, DRIFT, s.rows), vector(place, 0)
        for i in range(s.rows):
            wanted[i] = -drift[i]
        meet(place, rank, wanted, a, THIRD)
    back_substitute(L, a, n)
    return rank


@native
def gap(place: int, q: Any, wanted: Any) -> Any:
    """The largest residual at q; the residuals' negatives into `wanted`."""
    s = load_system(place)
    put(place, GAP, FIRST, q)
    put_rest(place, GAP)
    evaluate(place, GAP)
    gaps, largest = result(place, GAP, s.rows), 0.0
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
    L = result(place, MASS, n * n)
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
        meet(place, rank, wanted, step, FIRST)
        back_substitute(L, step, n)
        rates(place, q, step[:n], change[: s.nq])
        for i in range(s.nq):
            q[i] += change[i]
        normalise(place, q)
        rank = factor_rows(place, q)
    return gap(place, q, wanted), rank


@native
def remove_normal(place: int, rank: int, v: Any, stage: int, moving: bool) -> None:
    """v ← the nearest v (nv,) with G v = 0, or if `moving` with G v = ḟ of drivers, in rows of the level `stage`."""
    s = load_system(place)
    wanted = vector(place, 0)
    for i in range(s.rows):
        wanted[i] = 0.0
    if moving:
        put_rest(place, MOVING)
        evaluate(place, MOVING)
        opposite = result(place, MOVING, s.rows)
        for i in range(s.rows):
            wanted[i] = -opposite[i]
    # w = Lᵀ v, the least change with Y w as wanted, v = L⁻ᵀ w
    L = result(place, MASS, s.nv * s.nv)
    by_transpose(L, v, s.nv)
    meet(place, rank, wanted, v, stage)
    back_substitute(L, v, s.nv)


@native
def settle(place: int, q: Any, v: Any, x: Any) -> None:
    """Junctions to where the forces at them are in balance."""
    s = load_system(place)
    if s.entries[SETTLE, KIND] == 0:
        return
    for _ in range(PROJECTIONS):
        for i in range(s.nx):
            s.own[i] = x[i]
        put(place, SETTLE, FIRST, q)
        put(place, SETTLE, s.nq, v)
        put_rest(place, SETTLE)
        evaluate(place, SETTLE)
        step, longest = result(place, SETTLE, s.nx), 0.0
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
    largest, rank = close(place, q)
    if not np.isfinite(largest):
        return NOT_FINITE
    if len(error) > 0 and len(s.quaternions) == 0:
        remove_normal(place, rank, error[: s.nq], FIRST, False)
    remove_normal(place, rank, v, SECOND, s.entries[MOVING, KIND] != 0)
    if len(error) > 0:
        remove_normal(place, rank, error[s.nq : s.nq + s.nv], SECOND, False)
    settle(place, q, v, y[s.nq + s.nv :])
    return FINE if largest < OPEN_GAP else DRIFTED

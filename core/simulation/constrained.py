"""Machines with loops, constraints and drivers: accelerations, and states brought back onto the manifold.

With M = L Lᵀ and w = Lᵀ v the constraints read Y w = b, Y = G L⁻ᵀ. The rows of Y are made orthonormal one after
another, the largest remainder first (QR of Yᵀ with column pivoting, Golub and Van Loan 5.4.2, by modified
Gram–Schmidt), so that redundant rows of G drop out, and the change of w that meets the constraints is the least one:
in the metric of M, as Gauss's principle wants it (Featherstone, RBDA 8.5). Where bodies without mass make M singular,
M + ρ Gᵀ G takes its place: with G a given, both have the same accelerations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.native import native, short
from core.simulation.system import (
    BIAS,
    DRIFT,
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
    TORN,
    evaluate,
    normalise,
    put,
    put_rest,
    rates,
    result,
    tick,
)

RANK = 1e-10
"""Rows whose squared remainder is below this part of the largest row's count as redundant."""
DUST = 1e-14
"""Pivots of M below this part of their own diagonal entry count as zero."""
CLOSED = 1e-12
"""Gap (m, rad) at which projection stops."""
OPEN = 1e-7
"""Gap that is an error when projection cannot lower it."""
PROJECTIONS = 12
LEAP = 1e-4
"""Error (of 1 + |q|) of a position before projection with which it might be closed on another branch."""
VECTORS = 4
"""Vectors of `System.room`, of max(nq, nv, rows) each; the coefficients of the rows (rows, rows) follow."""


def room_for(nq: int, nv: int, rows: int) -> int:
    """Numbers that `System.room` must hold."""
    return VECTORS * max(nq, nv, rows, 1) + rows * rows


@short
def vector(s: Any, index: int) -> Any:
    """A vector of the room, long enough for q, v or the rows."""
    size = max(s.nq, s.nv, s.rows)
    return s.room[index * size : (index + 1) * size]


@short
def cholesky(A: Any, n: int) -> Any:
    """Lower factor in place of A (n n,), row by row; false if A is not positive definite."""
    for j in range(n):
        d = A[j * n + j]
        least = DUST * d
        for k in range(j):
            d -= A[j * n + k] * A[j * n + k]
        if not d > least:
            return False
        d = np.sqrt(d)
        A[j * n + j] = d
        for i in range(j + 1, n):
            x = A[i * n + j]
            for k in range(j):
                x -= A[i * n + k] * A[j * n + k]
            A[i * n + j] = x / d
    return True


@short
def forward_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻¹ x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i * n + k] * x[k]
        x[i] = total / L[i * n + i]


@short
def back_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻ᵀ x."""
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= L[k * n + i] * x[k]
        x[i] = total / L[i * n + i]


@native
def by_transpose(L: Any, x: Any, n: int) -> None:
    """x ← Lᵀ x."""
    for i in range(n):
        total = 0.0
        for k in range(i, n):
            total += L[k * n + i] * x[k]
        x[i] = total


@short
def factor_mass(s: Any, q: Any) -> Any:
    """L of M at q, in the memory of M; false if M is not positive definite, and the constraints do not make up."""
    put(s, MASS, FIRST, q)
    evaluate(s, MASS)
    return cholesky(result(s, MASS, s.nv * s.nv), s.nv) or (s.rows > 0 and factor_supported(s, q))


@native
def factor_supported(s: Any, q: Any) -> Any:
    """L of M + ρ Gᵀ G, in the memory of M."""
    n, m = s.nv, s.rows
    put(s, MASS, FIRST, q)
    evaluate(s, MASS)
    put(s, JACOBIAN, FIRST, q)
    evaluate(s, JACOBIAN)
    M, G = result(s, MASS, n * n), result(s, JACOBIAN, m * n)
    largest, held = 0.0, 0.0
    for i in range(n):
        largest = max(largest, M[i * n + i])
    for i in range(m * n):
        held = max(held, G[i] * G[i])
    if not held > 0.0:
        return False
    weight = (largest if largest > 0.0 else 1.0) / held
    for i in range(n):
        for k in range(n):
            for r in range(m):
                M[i * n + k] += weight * G[r * n + i] * G[r * n + k]
    return cholesky(M, n)


@short
def factor_rows(s: Any, q: Any) -> Any:
    """Orthonormal rows of Y at q in the memory of G, their coefficients in the room; the rank. Needs the factor of M.

    Row order[j] of Y is Σ_{k ≤ j} coefficient(k, order[j]) · row order[k] of the result.
    """
    n, m = s.nv, s.rows
    put(s, JACOBIAN, FIRST, q)
    evaluate(s, JACOBIAN)
    L, Y = result(s, MASS, n * n), result(s, JACOBIAN, m * n)
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
    for j in range(m):
        best, pivot = -1.0, j
        for i in range(j, m):
            square = 0.0
            for k in range(s.order[i] * n, s.order[i] * n + n):
                square += Y[k] * Y[k]
            if square > best:
                best, pivot = square, i
        if not best > RANK * largest:
            return j
        s.order[j], s.order[pivot] = s.order[pivot], s.order[j]
        chosen = s.order[j] * n
        length = np.sqrt(best)
        R[j * m + s.order[j]] = length
        for k in range(n):
            Y[chosen + k] /= length
        for i in range(j + 1, m):
            other, part = s.order[i] * n, 0.0
            for k in range(n):
                part += Y[chosen + k] * Y[other + k]
            R[j * m + s.order[i]] = part
            for k in range(n):
                Y[other + k] -= part * Y[chosen + k]
    return m


@short
def meet(s: Any, rank: int, wanted: Any, w: Any, stage: int) -> None:
    """The least change of w (nv,) with which Y w = wanted (rows,); rows that do not hold on the level `stage`
    (position, speed, acceleration) keep what they have."""
    n, m, before = s.nv, s.rows, vector(s, 3)
    Y, R = result(s, JACOBIAN, m * n), s.room[VECTORS * max(s.nq, n, m) :]
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
def by_matrix(s: Any, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations of a machine with loops, into a; false if they are not finite."""
    n = s.nv
    well = factor_mass(s, q)
    put(s, BIAS, FIRST, q)
    put(s, BIAS, s.nq, v)
    put_rest(s, BIAS)
    if not (well and evaluate(s, BIAS)):
        return False
    L, h = result(s, MASS, n * n), result(s, BIAS, n)
    for i in range(n):
        a[i] = u[i] - h[i]
    forward_substitute(L, a, n)
    if s.rows > 0:
        rank = factor_rows(s, q)
        put(s, DRIFT, FIRST, q)
        put(s, DRIFT, s.nq, v)
        put_rest(s, DRIFT)
        evaluate(s, DRIFT)
        drift, wanted = result(s, DRIFT, s.rows), vector(s, 0)
        for i in range(s.rows):
            wanted[i] = -drift[i]
        meet(s, rank, wanted, a, THIRD)
    back_substitute(L, a, n)
    return True


@native
def gap(s: Any, q: Any, wanted: Any) -> Any:
    """The largest residual at q; the residuals' negatives into `wanted`."""
    put(s, GAP, FIRST, q)
    put_rest(s, GAP)
    evaluate(s, GAP)
    gaps, largest = result(s, GAP, s.rows), 0.0
    for i in range(s.rows):
        wanted[i] = -gaps[i]
        if not abs(gaps[i]) <= largest:
            largest = abs(gaps[i])
    return largest


@native
def close(s: Any, q: Any) -> Any:
    """q ← the nearest position at which the loops close, by Newton's method: (gap, rank)."""
    n, wanted, step, change = s.nv, vector(s, 0), vector(s, 1), vector(s, 2)
    L = result(s, MASS, n * n)
    if not factor_mass(s, q):
        return np.nan, 0
    rank = factor_rows(s, q)
    before = np.inf
    for _ in range(PROJECTIONS):
        largest = gap(s, q, wanted)
        if largest < CLOSED or not largest < before:
            break
        before = largest
        for i in range(n):
            step[i] = 0.0
        meet(s, rank, wanted, step, FIRST)
        back_substitute(L, step, n)
        rates(s, q, step[:n], change[: s.nq])
        for i in range(s.nq):
            q[i] += change[i]
        normalise(s, q)
        rank = factor_rows(s, q)
    return gap(s, q, wanted), rank


@native
def remove_normal(s: Any, rank: int, v: Any, stage: int, moving: bool) -> None:
    """v ← the nearest v (nv,) with G v = 0, or if `moving` with G v = ḟ of drivers, in rows of the level `stage`."""
    wanted = vector(s, 0)
    for i in range(s.rows):
        wanted[i] = 0.0
    if moving:
        put_rest(s, MOVING)
        evaluate(s, MOVING)
        opposite = result(s, MOVING, s.rows)
        for i in range(s.rows):
            wanted[i] = -opposite[i]
    L = result(s, MASS, s.nv * s.nv)
    by_transpose(L, v, s.nv)
    meet(s, rank, wanted, v, stage)
    back_substitute(L, v, s.nv)


@native
def settle(s: Any, q: Any, v: Any, x: Any) -> None:
    """Junctions to where the forces at them are in balance."""
    if s.words[SETTLE, KIND] == 0:
        return
    for _ in range(PROJECTIONS):
        for i in range(s.nx):
            s.own[i] = x[i]
        put(s, SETTLE, FIRST, q)
        put(s, SETTLE, s.nq, v)
        put_rest(s, SETTLE)
        evaluate(s, SETTLE)
        step, longest = result(s, SETTLE, s.nx), 0.0
        for i in range(s.nx):
            longest = max(longest, abs(step[i]))
        if not longest > CLOSED:
            return
        for i in range(s.nx):
            x[i] += step[i]


@native
def leaps(s: Any, q: Any, error: Any) -> Any:
    """Whether a step went so far that its position is too uncertain to be projected."""
    largest = 0.0
    for i in range(min(s.nq, len(error))):
        largest = max(largest, abs(error[i]) / (1.0 + abs(q[i])))
    return not largest <= LEAP


@native
def project(s: Any, t: float, y: Any, error: Any) -> Any:
    """y on the manifold: quaternions at length one, loops closed, drivers followed, speeds consistent, all by the least
    change in the metric of M; junctions in balance. Of an error vector (n,) what projection takes away is taken off, so
    that the choice of the step sees what remains (Eich, SIAM J. Numer. Anal. 30, 1993); positions with quaternions keep
    theirs. A large error of position stays large: where drivers leave nothing free, steps would grow beyond all bounds.
    Returns FINE, NOT_FINITE or TORN."""
    q, v = y[: s.nq], y[s.nq : s.nq + s.nv]
    normalise(s, q)
    tick(s, t)
    if s.rows == 0:
        settle(s, q, v, y[s.nq + s.nv :])
        return FINE
    if leaps(s, q, error):
        return TORN
    largest, rank = close(s, q)
    if not np.isfinite(largest):
        return NOT_FINITE
    if len(error) > 0 and len(s.quaternions) == 0:
        remove_normal(s, rank, error[: s.nq], FIRST, False)
    remove_normal(s, rank, v, SECOND, s.words[MOVING, KIND] != 0)
    if len(error) > 0:
        remove_normal(s, rank, error[s.nq : s.nq + s.nv], SECOND, False)
    settle(s, q, v, y[s.nq + s.nv :])
    return FINE if largest < OPEN else TORN

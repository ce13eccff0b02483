"""The equations of motion inside compiled loops: ẏ = f(t, y) with y = (q, v).

Trees call the articulated-body recursion. With loops M a − Gᵀ λ = τ − h and G a = −Ġ v are solved by Cholesky
factors of M and, with pivoting and a limit of rank, of G M⁻¹ Gᵀ: redundant rows of G drop out
(Featherstone, RBDA 8.5; Golub and Van Loan 4.2.8). Positions and speeds are projected in the metric of M.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.simulation.native import address_of, call_single, call_table, native

RANK = 1e-10
"""Pivots of G M⁻¹ Gᵀ below this part of the largest count as zero."""
CLOSED = 1e-12
"""Gap (m, rad) at which projection stops."""
OPEN = 1e-7
"""Gap that is an error when projection cannot lower it."""
PROJECTIONS = 12

FINE, NOT_FINITE, TORN = 0, 2, 4
"""What a call says: all is well; a result is not a finite number; a loop does not close any more."""


_numbers: Any = np.arange(8)
TORQUE, RATE, FORWARD, MASS, BIAS, GAP, JACOBIAN, DRIFT = _numbers
"""Rows of `System.words`: u(t, q, v), q̇, a, M, h, residuals of the cut joints, G, Ġ v.
NumPy integers: for each literal one Numba would compile its callers anew."""
FIRST, SECOND = _numbers[:2]
KIND, ADDRESS, TABLE, ROWS, PLACES, COUNT, RESULT, BASE = range(8)
"""Columns of `System.words`: those of `core.kernel.entry.Entry.words`, and where the entry's memory begins."""


class System(NamedTuple):
    """Everything the loops need, in few arrays: the more, the longer they take to compile."""

    nq: int
    nv: int
    rows: int
    """Residuals of the cut joints."""
    by_matrix: bool
    """Accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Any
    """(k,) first entries of the quaternions in q."""
    u: Any
    """(nv,) constant joint forces."""
    words: Any
    """(8, 8)"""
    memory: Any
    """Of all entries, one behind the other."""


@native
def evaluate(s: Any, function: int) -> Any:
    """Call an entry on its memory; false if a result that must be finite is not."""
    w = s.words[function]
    base = address_of(s.memory) + 8 * w[BASE]
    if w[KIND] == 1:
        return call_single(w[ADDRESS], base) == 0
    result = base + 8 * w[RESULT]
    return call_table(w[ADDRESS], base, w[TABLE], w[ROWS], w[PLACES], w[COUNT], result) == 0


@native
def put(s: Any, function: int, offset: int, x: Any) -> None:
    """x into the arguments of an entry."""
    at = s.words[function, BASE] + offset
    for i in range(len(x)):
        s.memory[at + i] = x[i]


@native
def result(s: Any, function: int, count: int) -> Any:
    """The first `count` numbers of an entry's result; a view."""
    at = s.words[function, BASE] + s.words[function, RESULT]
    return s.memory[at : at + count]


@native
def cholesky(A: Any, n: int) -> Any:
    """Lower factor in place; false if A is not positive definite."""
    for j in range(n):
        d = A[j, j]
        for k in range(j):
            d -= A[j, k] * A[j, k]
        if not d > 0.0:
            return False
        d = np.sqrt(d)
        A[j, j] = d
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = s / d
    return True


@native
def dot(a: Any, b: Any) -> Any:
    """a · b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@native
def add_rows(x: Any, Y: Any, weights: Any) -> None:
    """x ← x + Yᵀ weights."""
    for i in range(len(weights)):
        for k in range(len(x)):
            x[k] += weights[i] * Y[i, k]


@native
def forward_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻¹ x."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s / L[i, i]


@native
def back_substitute(L: Any, x: Any, n: int) -> None:
    """x ← L⁻ᵀ x."""
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= L[k, i] * x[k]
        x[i] = s / L[i, i]


@native
def ranked_cholesky(A: Any, order: Any, n: int) -> Any:
    """Lower factor of P A Pᵀ in place, largest pivot first; returns the rank."""
    largest = 0.0
    for i in range(n):
        order[i] = i
        largest = max(largest, A[i, i])
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if A[i, i] > A[p, p]:
                p = i
        if not A[p, p] > RANK * largest:
            return j
        if p != j:
            order[j], order[p] = order[p], order[j]
            for k in range(n):
                A[j, k], A[p, k] = A[p, k], A[j, k]
            for k in range(n):
                A[k, j], A[k, p] = A[k, p], A[k, j]
        d = np.sqrt(A[j, j])
        A[j, j] = d
        for i in range(j + 1, n):
            A[i, j] /= d
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] -= A[i, j] * A[k, j]
                A[k, i] = A[i, k]
    return n


@native
def factorise(s: Any, q: Any) -> Any:
    """(well, L of M, rows of Y = L⁻¹ Gᵀ as (rows, nv), factor of Y Yᵀ, order, rank) at q."""
    n, m = s.nv, s.rows
    put(s, MASS, FIRST, q)
    well = evaluate(s, MASS)
    L = result(s, MASS, n * n).copy().reshape(n, n)
    well = well and cholesky(L, n)
    Y, S, order = np.zeros((m, n)), np.zeros((m, m)), np.zeros(m, dtype=np.int64)
    rank = 0
    if well and m > 0:
        put(s, JACOBIAN, FIRST, q)
        evaluate(s, JACOBIAN)
        G = result(s, JACOBIAN, m * n)
        for i in range(m * n):
            Y[i // n, i % n] = G[i]
        for i in range(m):
            forward_substitute(L, Y[i], n)
        for i in range(m):
            for j in range(m):
                S[i, j] = dot(Y[i], Y[j])
        rank = ranked_cholesky(S, order, m)
    return well, L, Y, S, order, rank


@native
def multipliers(S: Any, order: Any, rank: int, residual: Any) -> Any:
    """λ with (Y Yᵀ) λ = residual; redundant rows carry nothing."""
    x = np.zeros(rank)
    for i in range(rank):
        x[i] = residual[order[i]]
    forward_substitute(S, x, rank)
    back_substitute(S, x, rank)
    force = np.zeros(len(residual))
    for i in range(rank):
        force[order[i]] = x[i]
    return force


@native
def by_matrix(s: Any, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations of a machine with loops, into a."""
    n, m = s.nv, s.rows
    well, L, Y, S, order, rank = factorise(s, q)
    put(s, BIAS, FIRST, q)
    put(s, BIAS, s.nq, v)
    if not (well and evaluate(s, BIAS)):
        return False
    h = result(s, BIAS, n)
    for i in range(n):
        a[i] = u[i] - h[i]
    forward_substitute(L, a, n)
    if m > 0:
        put(s, DRIFT, FIRST, q)
        put(s, DRIFT, s.nq, v)
        evaluate(s, DRIFT)
        drift = result(s, DRIFT, m)
        residual = np.zeros(m)
        for i in range(m):
            residual[i] = -drift[i] - dot(Y[i], a)
        add_rows(a, Y, multipliers(S, order, rank, residual))
    back_substitute(L, a, n)
    return True


@native
def rates(s: Any, q: Any, v: Any, out: Any) -> None:
    """q̇ into out."""
    x = v
    if len(s.quaternions) > 0:
        put(s, RATE, FIRST, q)
        put(s, RATE, s.nq, v)
        evaluate(s, RATE)
        x = result(s, RATE, s.nq)
    for i in range(s.nq):
        out[i] = x[i]


@native
def accelerations(s: Any, t: float, y: Any, out: Any) -> Any:
    """a into out (nv,); false if it is not finite."""
    nq, nv = s.nq, s.nv
    u = s.u
    if s.words[TORQUE, KIND] != 0:
        s.memory[s.words[TORQUE, BASE]] = t
        put(s, TORQUE, SECOND, y)
        evaluate(s, TORQUE)
        u = result(s, TORQUE, nv)
    if s.by_matrix:
        return by_matrix(s, y[:nq], y[nq:], u, out)
    put(s, FORWARD, FIRST, y)
    put(s, FORWARD, nq + nv, u)
    well = evaluate(s, FORWARD)
    a = result(s, FORWARD, nv)
    for i in range(nv):
        out[i] = a[i]
    return well


@native
def derivative(s: Any, t: float, y: Any, out: Any) -> Any:
    """ẏ into out; false if it is not finite."""
    rates(s, y[: s.nq], y[s.nq :], out[: s.nq])
    well = accelerations(s, t, y, out[s.nq :])
    total = 0.0
    for i in range(len(out)):
        total += out[i] * 0.0
    return well and total == 0.0


@native
def normalise(s: Any, q: Any) -> None:
    """Quaternions at length one."""
    for first in s.quaternions:
        square = 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        if square > 0.0:
            for i in range(first, first + 4):
                q[i] /= np.sqrt(square)


@native
def project(s: Any, y: Any) -> Any:
    """y on the manifold: quaternions at length one, loops closed, speeds consistent, all by the least change in the
    metric of M. Returns FINE, NOT_FINITE or TORN."""
    q, v = y[: s.nq], y[s.nq :]
    normalise(s, q)
    if s.rows == 0:
        return FINE
    change, residual = np.zeros(s.nq), np.zeros(s.rows)
    before = np.inf
    for _ in range(PROJECTIONS):
        put(s, GAP, FIRST, q)
        evaluate(s, GAP)
        gaps = result(s, GAP, s.rows)
        gap = 0.0
        for i in range(s.rows):
            residual[i] = -gaps[i]
            gap = max(gap, abs(gaps[i]))
        well, L, Y, S, order, rank = factorise(s, q)
        if not (well and np.isfinite(gap)):
            return NOT_FINITE
        if gap < CLOSED or not gap < before:
            break
        before = gap
        step = np.zeros(s.nv)
        add_rows(step, Y, multipliers(S, order, rank, residual))
        back_substitute(L, step, s.nv)
        rates(s, q, step, change)
        for i in range(s.nq):
            q[i] += change[i]
        normalise(s, q)
    # v ← v − M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺ G v, with G = Y Lᵀ
    momentum, step = np.zeros(s.nv), np.zeros(s.nv)
    for i in range(s.nv):
        for k in range(i, s.nv):
            momentum[i] += L[k, i] * v[k]
    for i in range(s.rows):
        residual[i] = -dot(Y[i], momentum)
    add_rows(step, Y, multipliers(S, order, rank, residual))
    back_substitute(L, step, s.nv)
    for i in range(s.nv):
        v[i] += step[i]
    return FINE if gap < OPEN else TORN


@native
def sampled_accelerations(s: Any, times: Any, states: Any, out: Any, forces: Any) -> Any:
    """a and τ at every sample; the number of samples with a result that is not finite."""
    bad = 0
    for k in range(len(times)):
        if not accelerations(s, times[k], states[k], out[k]):
            bad += 1
        u = result(s, TORQUE, s.nv) if s.words[TORQUE, KIND] != 0 else s.u
        for i in range(s.nv):
            forces[k, i] = u[i]
    return bad

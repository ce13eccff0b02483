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


class System(NamedTuple):
    """Everything the loops need; words and memory are those of `core.kernel.entry.Entry`."""

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
    torque_words: Any
    torque: Any
    rate_words: Any
    rate: Any
    forward_words: Any
    forward: Any
    mass_words: Any
    mass: Any
    bias_words: Any
    bias: Any
    gap_words: Any
    gap: Any
    jacobian_words: Any
    jacobian: Any
    drift_words: Any
    drift: Any
    """Ġ v."""


@native
def evaluate(words: Any, memory: Any) -> Any:
    """Call an entry on its memory; false if a result that must be finite is not."""
    base = address_of(memory)
    if words[0] == 1:
        return call_single(words[1], base) == 0
    return call_table(words[1], base, words[2], words[3], words[4], words[5], base + 8 * words[6]) == 0


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
    s.mass[: s.nq] = q
    well = evaluate(s.mass_words, s.mass)
    L = s.mass[s.mass_words[6] : s.mass_words[6] + n * n].copy().reshape(n, n)
    well = well and cholesky(L, n)
    Y, S, order = np.zeros((m, n)), np.zeros((m, m)), np.zeros(m, dtype=np.int64)
    rank = 0
    if well and m > 0:
        s.jacobian[: s.nq] = q
        evaluate(s.jacobian_words, s.jacobian)
        Y[:, :] = s.jacobian[s.jacobian_words[6] : s.jacobian_words[6] + m * n].copy().reshape(m, n)
        for i in range(m):
            forward_substitute(L, Y[i], n)
        for i in range(m):
            for j in range(m):
                S[i, j] = np.dot(Y[i], Y[j])
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
    result = np.zeros(len(residual))
    for i in range(rank):
        result[order[i]] = x[i]
    return result


@native
def by_matrix(s: Any, q: Any, v: Any, u: Any, a: Any) -> Any:
    """Accelerations of a machine with loops, into a."""
    n, m = s.nv, s.rows
    well, L, Y, S, order, rank = factorise(s, q)
    s.bias[: s.nq] = q
    s.bias[s.nq : s.nq + n] = v
    if not (well and evaluate(s.bias_words, s.bias)):
        return False
    h = s.bias_words[6]
    a[:] = u - s.bias[h : h + n]
    forward_substitute(L, a, n)
    if m > 0:
        s.drift[: s.nq] = q
        s.drift[s.nq : s.nq + n] = v
        evaluate(s.drift_words, s.drift)
        residual = np.zeros(m)
        for i in range(m):
            residual[i] = -s.drift[s.drift_words[6] + i] - np.dot(Y[i], a)
        force = multipliers(S, order, rank, residual)
        for i in range(m):
            a += force[i] * Y[i]
    back_substitute(L, a, n)
    return True


@native
def rates(s: Any, q: Any, v: Any, out: Any) -> None:
    """q̇ into out."""
    if len(s.quaternions) == 0:
        out[:] = v
        return
    s.rate[: s.nq] = q
    s.rate[s.nq : s.nq + s.nv] = v
    evaluate(s.rate_words, s.rate)
    out[:] = s.rate[s.rate_words[6] : s.rate_words[6] + s.nq]


@native
def accelerations(s: Any, t: float, y: Any, out: Any) -> Any:
    """a into out (nv,); false if it is not finite."""
    nq, nv = s.nq, s.nv
    u = s.u
    if s.torque_words[0] != 0:
        s.torque[0] = t
        s.torque[1 : 1 + nq + nv] = y
        evaluate(s.torque_words, s.torque)
        u = s.torque[s.torque_words[6] : s.torque_words[6] + nv]
    if s.by_matrix:
        return by_matrix(s, y[:nq], y[nq:], u, out)
    s.forward[: nq + nv] = y
    s.forward[nq + nv : nq + 2 * nv] = u
    well = evaluate(s.forward_words, s.forward)
    out[:] = s.forward[s.forward_words[6] : s.forward_words[6] + nv]
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
        length = np.sqrt(np.sum(q[first : first + 4] ** 2))
        if length > 0.0:
            q[first : first + 4] /= length


@native
def project(s: Any, y: Any) -> Any:
    """y on the manifold: quaternions at length one, loops closed, speeds consistent, all by the least change in the
    metric of M. Returns FINE, NOT_FINITE or TORN."""
    q, v = y[: s.nq], y[s.nq :]
    normalise(s, q)
    if s.rows == 0:
        return FINE
    change = np.zeros(s.nq)
    before = np.inf
    for _ in range(PROJECTIONS):
        s.gap[: s.nq] = q
        evaluate(s.gap_words, s.gap)
        residual = s.gap[s.gap_words[6] : s.gap_words[6] + s.rows].copy()
        gap = np.max(np.abs(residual))
        well, L, Y, S, order, rank = factorise(s, q)
        if not (well and np.isfinite(gap)):
            return NOT_FINITE
        if gap < CLOSED or not gap < before:
            break
        before = gap
        step = Y.T @ multipliers(S, order, rank, -residual)
        back_substitute(L, step, s.nv)
        rates(s, q, step, change)
        q += change
        normalise(s, q)
    # v ← v − M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺ G v, with G = Y Lᵀ
    momentum = np.zeros(s.nv)
    for i in range(s.nv):
        for k in range(i, s.nv):
            momentum[i] += L[k, i] * v[k]
    correction = Y.T @ multipliers(S, order, rank, -(Y @ momentum))
    back_substitute(L, correction, s.nv)
    v += correction
    return FINE if gap < OPEN else TORN

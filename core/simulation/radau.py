"""Radau IIA of order 5, for stiff machines (Hairer and Wanner, Solving ODE II, IV.8).

Three implicit stages Z_i = y(t + c_i h) − y are found by simplified Newton iterations on W = T⁻¹ Z, in which the
system falls into a real one, (μ/h − J) ΔW₁ = …, and a complex one; values within a step are those of the collocation
polynomial.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.native import address_of, call_entry, native, view
from core.simulation.work import (
    ACCEPTED,
    CALLS,
    COLLAPSED,
    END,
    FACTORISATIONS,
    FINE,
    FRESH,
    JACOBIAN,
    JACOBIANS,
    LAST_ERROR,
    LAST_STEP,
    LIMIT,
    MOST,
    NOT_FINITE,
    REJECTED,
    ROUNDS,
    RTOL,
    STEP,
    SYSTEM,
    TAKEN,
    TIME,
    TOO_MANY,
    copy,
    derivative,
    first_step,
    load_work,
    note_failure,
    project,
    scaled_norm,
    too_small,
)

NEWTON = 7
"""Iterations at most."""
SLOW = 1e-3
"""Rate of convergence above which the next step gets a new Jacobian."""
SAFETY, SMALLEST, LARGEST, KEPT = 0.9, 0.2, 8.0, 1.2
"""KEPT: a step that would grow by less keeps its length, and with it its factors."""

ROWS = 18
"""Rows of `Work.k`: f (0), Z (1–3), W (4–6), F (7–9), polynomial (10–12), right-hand side, its second part, error, room
(13–17)."""
Z, W, F, Q, RIGHT, SECOND, WRONG, ROOM, CHANGE = 1, 4, 7, 10, 13, 14, 15, 16, 17
RENEWED, PRESENT, COST = 18, 19, 20
"""Places in `Work.counts`: 0 if the Jacobian must be renewed; 1 if it is that of the present point; evaluations that a
Jacobian takes."""
FACTORED = 13
"""Place in `Work.numbers`: the step that the factors are for; 0: none."""
DIVERGED = -1


def coefficients() -> tuple[Any, Any, Any]:
    """(T, its inverse and below them numbers, P).

    A of Radau IIA has the inverse T Λ T⁻¹ with the real eigenvalue μ and the pair α ± iβ (IV.8.3). Returned are T with
    rows for c and the error's weights, T⁻¹ with a row μ, α, β, and the powers of the collocation polynomial.
    """
    r = np.sqrt(6.0)
    A = np.array([
        [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
        [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
        [(16 - r) / 36, (16 + r) / 36, 1 / 9],
    ])  # fmt: skip
    c = A.sum(axis=1)
    values, vectors = np.linalg.eig(np.linalg.inv(A))
    real, pair = int(np.argmin(np.abs(values.imag))), int(np.argmax(values.imag))
    T = np.stack([vectors[:, real].real, vectors[:, pair].real, vectors[:, pair].imag], axis=1)
    weights = np.array([-13 - 7 * r, -13 + 7 * r, -1.0]) / 3.0  # IV.8.19
    spectrum = np.array([values[real].real, values[pair].real, values[pair].imag])
    P = np.linalg.inv(c[:, None] ** np.arange(1, 4))
    return np.vstack([T, c, weights]), np.vstack([np.linalg.inv(T), spectrum]), np.ascontiguousarray(P)


@native
def lu(A: Any, pivots: Any) -> Any:
    """L U = P A in place; false if A is singular."""
    n = A.shape[1]
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[p, j]):
                p = i
        pivots[j] = p
        if not abs(A[p, j]) > 0.0:
            return False
        if p != j:
            for k in range(n):
                A[j, k], A[p, k] = A[p, k], A[j, k]
        for i in range(j + 1, n):
            A[i, j] /= A[j, j]
            for k in range(j + 1, n):
                A[i, k] -= A[i, j] * A[j, k]
    return True


@native
def lu_solve(A: Any, pivots: Any, x: Any) -> None:
    """x ← A⁻¹ x from the factors of `lu`."""
    n = A.shape[1]
    for j in range(n):
        p = pivots[j]
        x[j], x[p] = x[p], x[j]
    for j in range(n):
        for i in range(j + 1, n):
            x[i] -= A[i, j] * x[j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            x[j] -= A[j, k] * x[k]
        x[j] /= A[j, j]


@native
def factorise(work: int, h: float) -> Any:
    """Factors of μ/h − J and (α − iβ)/h − J."""
    w = load_work(work)
    n = len(w.y)
    real, turned = w.rows[3, 0] / h, complex(w.rows[3, 1] / h, -w.rows[3, 2] / h)
    for i in range(n):
        for j in range(n):
            w.square[n + i, j] = -w.square[i, j]
            w.complexes[i, j] = -w.square[i, j]
        w.square[n + i, i] += real
        w.complexes[i, i] += turned
    w.counts[FACTORISATIONS] += 1
    w.numbers[FACTORED] = h
    return lu(w.square[n:], w.pivots[0]) and lu(w.complexes[:n], w.pivots[1])


@native
def prepare(work: int, t: float, h: float) -> Any:
    """Jacobian and factors, where the old ones do not fit any more."""
    w = load_work(work)
    if w.counts[RENEWED] == 0:
        happened = call_entry(w.addresses[JACOBIAN], w.addresses[SYSTEM], t, address_of(w.y), address_of(w.square))
        if happened != FINE:
            return NOT_FINITE
        w.counts[JACOBIANS] += 1
        w.counts[CALLS] += w.counts[COST]
        w.counts[RENEWED], w.counts[PRESENT], w.numbers[FACTORED] = 1, 1, 0.0
    if w.numbers[FACTORED] != h and not factorise(work, h):
        return DIVERGED
    return FINE


@native
def guess(work: int, h: float) -> None:
    """Z from the polynomial of the step before, W = T⁻¹ Z."""
    w = load_work(work)
    before = w.numbers[LAST_STEP]
    for i in range(3):
        theta = 0.0 if before == 0.0 else 1.0 + w.A[3, i] * h / before
        for j in range(len(w.y)):
            x = 0.0
            if before != 0.0:  # the polynomial is y_before + Σ Q_k θ^k, and y = y_before + Σ Q_k
                for m in range(3):
                    x += w.k[Q + m, j] * (theta ** (m + 1) - 1.0)
            w.k[Z + i, j] = x
    mix(work, w.rows, Z, W)


@native
def mix(work: int, M: Any, source: int, target: int) -> None:
    """Three rows of k times a matrix, into three others."""
    w = load_work(work)
    for i in range(3):
        for j in range(len(w.y)):
            w.k[target + i, j] = M[i, 0] * w.k[source, j] + M[i, 1] * w.k[source + 1, j] + M[i, 2] * w.k[source + 2, j]


@native
def newton_change(work: int, h: float) -> None:
    """ΔW, over F: right-hand sides T⁻¹ F − Λ W / h, then both systems are solved."""
    w = load_work(work)
    n, k = len(w.y), w.k
    real, alpha, beta = w.rows[3, 0] / h, w.rows[3, 1] / h, w.rows[3, 2] / h
    right = w.complexes[n]
    for j in range(n):
        f0, f1, f2 = k[F, j], k[F + 1, j], k[F + 2, j]
        w1, w2 = k[W + 1, j], k[W + 2, j]
        k[F, j] = w.rows[0, 0] * f0 + w.rows[0, 1] * f1 + w.rows[0, 2] * f2 - real * k[W, j]
        first = w.rows[1, 0] * f0 + w.rows[1, 1] * f1 + w.rows[1, 2] * f2 - alpha * w1 - beta * w2
        second = w.rows[2, 0] * f0 + w.rows[2, 1] * f1 + w.rows[2, 2] * f2 - alpha * w2 + beta * w1
        right[j] = complex(first, second)
    lu_solve(w.square[n:], w.pivots[0], k[F])
    lu_solve(w.complexes[:n], w.pivots[1], right)
    for j in range(n):
        k[F + 1, j], k[F + 2, j] = right[j].real, right[j].imag


@native
def newton(work: int, t: float, h: float, tolerance: float) -> Any:
    """The stages Z; (what happened, rate of convergence)."""
    w = load_work(work)
    k, n = w.k, len(w.y)
    before, rate = 0.0, 0.0
    for turn in range(NEWTON):
        w.counts[ROUNDS] = turn + 1
        for i in range(3):
            for j in range(n):
                k[ROOM, j] = w.y[j] + k[Z + i, j]
            if not derivative(work, t + w.A[3, i] * h, k[ROOM], k[F + i]):
                return DIVERGED, rate
        newton_change(work, h)
        size = 0.0
        for i in range(3):
            size += scaled_norm(work, k[F + i], w.y, w.y) ** 2 / 3.0
        size = np.sqrt(size)
        if turn > 0:
            rate = size / before
            if rate >= 1.0 or rate ** (NEWTON - turn) / (1.0 - rate) * size > tolerance:
                return DIVERGED, rate
        if not size < np.inf:
            return DIVERGED, rate
        for i in range(3):
            for j in range(n):
                k[W + i, j] += k[F + i, j]
        mix(work, w.A, W, Z)
        if size == 0.0 or (turn > 0 and rate / (1.0 - rate) * size < tolerance):
            return FINE, rate
        before = size
    return DIVERGED, rate


@native
def estimate(work: int, t: float, h: float) -> None:
    """The error (μ/h − J)⁻¹ (f + Σ e_i Z_i / h) into its row (IV.8.19)."""
    w = load_work(work)
    k = w.k
    for j in range(len(w.y)):
        k[SECOND, j] = (w.A[4, 0] * k[Z, j] + w.A[4, 1] * k[Z + 1, j] + w.A[4, 2] * k[Z + 2, j]) / h
        k[WRONG, j] = k[0, j] + k[SECOND, j]
    lu_solve(w.square[len(w.y) :], w.pivots[0], k[WRONG])


@native
def damp(work: int, t: float) -> None:
    """The error estimated anew from where it leads, if it is large: stiff parts fade (IV.8.20)."""
    w = load_work(work)
    k, n = w.k, len(w.y)
    for j in range(n):
        k[ROOM, j] = w.y[j] + k[WRONG, j]
    if derivative(work, t, k[ROOM], k[CHANGE]):
        for j in range(n):
            k[WRONG, j] = k[CHANGE, j] + k[SECOND, j]
        lu_solve(w.square[n:], w.pivots[0], k[WRONG])


@native
def error_of(work: int, t: float, h: float, tried: bool) -> Any:
    """(what happened, size of the error) of the stages found; their end, on the manifold, into w.new."""
    w = load_work(work)
    k = w.k
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + k[Z + 2, j]
    estimate(work, t, h)
    if tried and scaled_norm(work, k[WRONG], w.y, w.new) > 1.0:
        damp(work, t)
    happened = project(work, t + h, w.new, k[WRONG])
    note_failure(work, k[WRONG], w.new)
    return happened, scaled_norm(work, k[WRONG], w.y, w.new)


@native
def accept(work: int, h: float, error: float, rate: float, rejected: bool) -> None:
    """Note the step and its polynomial, and choose the next (IV.8, predictive control of Gustafsson)."""
    w = load_work(work)
    safety = SAFETY * (2.0 * NEWTON + 1.0) / (2.0 * NEWTON + w.counts[ROUNDS])
    error = max(error, 1e-10)
    factor = error**-0.25
    if w.numbers[LAST_ERROR] > 0.0:
        factor *= min(1.0, h / w.numbers[LAST_STEP] * (w.numbers[LAST_ERROR] / error) ** 0.25)
    factor = min(LARGEST, max(SMALLEST, safety * factor))
    if rejected:
        factor = min(1.0, factor)
    fresh = w.counts[ROUNDS] > 2 and rate > SLOW
    if not fresh and 1.0 <= factor < KEPT:
        factor = 1.0
    w.counts[RENEWED], w.counts[PRESENT] = 0 if fresh else 1, 0
    w.numbers[LAST_STEP], w.numbers[LAST_ERROR] = h, error
    w.numbers[STEP], w.numbers[TAKEN] = h * factor, h
    w.counts[ACCEPTED] += 1
    mix(work, w.P, Z, Q)


@native
def shrink(work: int, h: float, factor: float) -> Any:
    """A step was refused; false if there may be no more."""
    w = load_work(work)
    w.counts[REJECTED] += 1
    w.numbers[STEP] = h * factor
    return w.counts[REJECTED] + w.counts[ACCEPTED] < w.counts[MOST]


@native
def implicit_step(work: int, tolerance: float) -> Any:
    """One accepted step from w.y to w.new, on the manifold."""
    w = load_work(work)
    t, end = w.numbers[TIME], w.numbers[END]
    rejected, happened = w.counts[ACCEPTED] == 0, FINE
    while True:
        h = min(w.numbers[STEP], w.numbers[LIMIT])
        if t + 1.01 * h >= end:  # no sliver before the end
            h = end - t
        if too_small(t, h):
            return COLLAPSED if happened in (FINE, DIVERGED) else happened
        happened = prepare(work, t, h)
        rate = 0.0
        if happened == FINE:
            guess(work, h)
            happened, rate = newton(work, t, h, tolerance)
        if happened == FINE:
            happened, error = error_of(work, t, h, rejected)
            if happened == FINE and error <= 1.0:
                accept(work, h, error, rate, rejected)
                return FINE
            factor = 0.5 if happened != FINE else max(SMALLEST, SAFETY * error**-0.25) if error < np.inf else SMALLEST
        elif w.counts[PRESENT] == 0:
            w.counts[RENEWED], factor = 0, 1.0  # an old Jacobian may be to blame
        else:
            factor = 0.5
        rejected = True
        if not shrink(work, h, factor):
            return TOO_MANY


def step_entry(work: int, t: float, first: int, second: int) -> int:
    """One step."""
    w = load_work(work)
    if w.counts[FRESH] == 0:
        if not derivative(work, t, w.y, w.k[0]):
            copy(w.k[0], w.failed)
            return NOT_FINITE
        w.counts[FRESH] = 1
    if w.numbers[STEP] <= 0.0:
        w.numbers[STEP] = first_step(work, t, w.k[0], 4.0, w.k[ROOM], w.k[WRONG])
    tolerance = max(1e-15 / w.numbers[RTOL], min(0.03, np.sqrt(w.numbers[RTOL])))
    result: int = implicit_step(work, tolerance)
    return result


def within_entry(work: int, theta: float, out: int, second: int) -> int:
    """The point at t + θ h on the collocation polynomial, brought onto the manifold."""
    w = load_work(work)
    point = view(out, len(w.y))
    for j in range(len(w.y)):
        point[j] = w.y[j] + theta * (w.k[Q, j] + theta * (w.k[Q + 1, j] + theta * w.k[Q + 2, j]))
    result: int = project(work, w.numbers[TIME] + theta * w.numbers[TAKEN], point, w.failed[:0])
    return result

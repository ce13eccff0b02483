"""Simplified Newton iterations for the stages of Radau IIA (`core.simulation.methods.radau`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.methods.radau_tables import BLOCK, MOST_STAGES
from core.simulation.methods.stage_systems import HALVED, solve
from core.simulation.stepping.compilation import native
from core.simulation.stepping.step_state import FINE, ROUNDS, derivative, load_state

_places: Any = 1 + MOST_STAGES * np.arange(6)
Z, W, F, DW, Q, RIGHT = _places
SECOND, WRONG, ROOM, CHANGE, SCALE, ROWS = _places[-1] + np.arange(1, 7)
"""Rows of `StepState.k`: f (0), stages Z, W, F (derivatives of the stages, then ΔZ), ΔW, polynomial, right-hand side,
its second part, error, room, a derivative, reciprocals of what the tolerances allow.
NumPy integers, as in `core.simulation.equations.system`."""
RENEWED, PRESENT, COST, STAGE, DEGREE, HIGHEST, LOWEST, SAME = 18, 19, 20, 22, 23, 24, 25, 26
"""Places in `StepState.counts`: 0 if the Jacobian must be renewed; 1 if it was made for the present step; evaluations
that a Jacobian takes; stages; degree of the polynomial; most and fewest stages; steps taken with these stages."""
FACTORED = 13
"""Place in `StepState.numbers`: the step that the factors are for; 0: none."""
DIVERGED = -1


@native
def block(s: int) -> Any:
    """First row of the coefficients of s stages."""
    return BLOCK * ((s - 3) // 2)


@native
def mix(state: int, M: Any, source: int, target: int) -> None:
    """Rows of k times a matrix, into others."""
    w = load_state(state)
    s = w.counts[STAGE]
    first, n = block(s), len(w.y)
    for i in range(s):
        out = w.k[target + i]
        for j in range(n):
            out[j] = 0.0
        for m in range(s):
            x, row = M[first + i, m], w.k[source + m]
            for j in range(n):
                out[j] += x * row[j]


@native
def newton_change(state: int, h: float) -> None:
    """ΔW: right-hand sides T⁻¹ F − Λ W / h, then the systems are solved."""
    w = load_state(state)
    n, k, s = len(w.y), w.k, w.counts[STAGE]
    c, first = w.counts[HALVED], block(s)
    spectrum = w.rows[first + MOST_STAGES]
    J = w.square[:n]
    right, found = w.complexes[MOST_STAGES // 2 * n], w.complexes[MOST_STAGES // 2 * n + 1]
    real = spectrum[0] / h
    for j in range(n):
        x = 0.0
        for m in range(s):
            x += w.rows[first, m] * k[F + m, j]
        k[RIGHT, j] = x - real * k[W, j]
    solve(J, c, real, w.square[n:], w.pivots[0], k[RIGHT], k[DW])
    for p in range((s - 1) // 2):
        alpha, beta, a = spectrum[2 * p + 1] / h, spectrum[2 * p + 2] / h, 2 * p + 1
        for j in range(n):
            x, y = 0.0, 0.0
            for m in range(s):
                x += w.rows[first + a, m] * k[F + m, j]
                y += w.rows[first + a + 1, m] * k[F + m, j]
            right[j] = complex(
                x - alpha * k[W + a, j] - beta * k[W + a + 1, j], y - alpha * k[W + a + 1, j] + beta * k[W + a, j]
            )
        solve(J, c, complex(alpha, -beta), w.complexes[p * n : (p + 1) * n], w.pivots[p + 1], right, found)
        for j in range(n):
            k[DW + a, j], k[DW + a + 1, j] = found[j].real, found[j].imag


@native
def scaled(state: int, x: Any) -> Any:
    """Sum of squares of x in units of what the tolerances allow at the beginning of the step."""
    w = load_state(state)
    scale, total = w.k[SCALE], 0.0
    for j in range(len(scale)):
        e = x[j] * scale[j]
        total += e * e
    return total


@native
def evaluate_stages(state: int, t: float, h: float) -> Any:
    """Derivatives at the stages; false if they are not finite."""
    w = load_state(state)
    k, s = w.k, w.counts[STAGE]
    nodes = w.A[block(s) + MOST_STAGES]
    for i in range(s):
        for j in range(len(w.y)):
            k[ROOM, j] = w.y[j] + k[Z + i, j]
        if not derivative(state, t + nodes[i] * h, k[ROOM], k[F + i]):
            return False
    return True


@native
def most_rounds(s: int) -> Any:
    """Iterations at most, more for more stages."""
    return 7 + 5 * (s - 3) // 2


@native
def newton(state: int, t: float, h: float, tolerance: float) -> Any:
    """The stages Z; (what happened, rate of convergence)."""
    w = load_state(state)
    k, n, s = w.k, len(w.y), w.counts[STAGE]
    most, before, rate = most_rounds(s), 0.0, 0.0
    for turn in range(most):
        w.counts[ROUNDS] = turn + 1
        if not evaluate_stages(state, t, h):
            return DIVERGED, rate
        newton_change(state, h)
        mix(state, w.A, DW, F)
        size = 0.0
        for i in range(s):
            size += scaled(state, k[F + i])
        size = np.sqrt(size / (s * n))
        if not size < np.inf:
            return DIVERGED, rate
        if turn > 0:
            rate = size / before
            if rate >= 1.0 or rate ** (most - turn) / (1.0 - rate) * size > tolerance:
                return DIVERGED, rate
        for i in range(s):
            for j in range(n):
                k[W + i, j] += k[DW + i, j]
                k[Z + i, j] += k[F + i, j]
        if size == 0.0 or (turn > 0 and rate / (1.0 - rate) * size < tolerance):
            return FINE, rate
        before = size
    return DIVERGED, rate

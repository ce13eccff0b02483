"""Butcher tableaux of explicit Runge–Kutta methods: coefficients, error estimators, continuous extensions.

The embedded pairs are those of SciPy's solvers: Bogacki and Shampine 3(2), Dormand and Prince 5(4) with Shampine's
extension, and 8(5,3) of Hairer, Nørsett and Wanner (Solving ODE I, II.5, II.10), whose extension is brought into the
same polynomial form as the others here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass
from core.simulation.methods.coefficients import BOGACKI_SHAMPINE, DORMAND_PRINCE, HAIRER, Pair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """Tableau with s stages for a step and S ≥ s stages in all, the additional ones for values within the step.

    A (S, S), c (S,) : stage i is f(t + c_i h, y + h Σ A_ij k_j)
    b (S,) : y_new = y + h Σ b_i k_i; with `last_is_new`, stage s − 1 is f at the new point
    e, e_low (S,) : error estimate; the second weighs the first down where both are known (Hairer II.10.1)
    P (S, m) : y(t + θ h) = y + h Σ_i k_i Σ_j P_ij θ^(j+1)
    error_order : the step is ∝ error^(−1/(error_order + 1))
    """

    A: Array
    b: Array
    c: Array
    e: Array
    e_low: Array
    P: Array
    steps: int
    error_order: int


@cache
def tableau(method: str) -> Tableau:
    """Return the tableau of a Runge–Kutta method by name."""
    if method == "rk4":
        A = np.zeros((4, 4))
        A[1, 0] = A[2, 1] = 0.5
        A[3, 2] = 1.0
        return _fixed_step_tableau(A, [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0.0, 0.5, 0.5, 1.0])
    if method in ("euler", "semi_implicit_euler"):
        return _fixed_step_tableau(np.zeros((1, 1)), [1.0], [0.0])
    if method == "rk853":
        return _order_8_tableau(HAIRER)
    pair = {"rk32": BOGACKI_SHAMPINE, "rk54": DORMAND_PRINCE}[method]
    s = len(pair.B) + 1  # the last stage is the first of the next step
    A = np.zeros((s, s))
    _fill_lower_triangle(A, (*pair.A, pair.B))
    none = np.zeros(s)
    return Tableau(
        A,
        np.append(pair.B, 0.0),
        np.append(pair.C, 1.0),
        np.array(pair.E),
        none,
        np.array(pair.P),
        s,
        pair.error_order,
    )


def _fill_lower_triangle(A: Array, rows: Sequence[Sequence[float]]) -> None:
    """Write rows into the lower triangle of A."""
    for target, row in zip(A, rows, strict=False):
        target[: len(row)] = row


def _fixed_step_tableau(A: Array, b: list[float], c: list[float]) -> Tableau:
    none = np.zeros(len(b))
    return Tableau(A, np.array(b), np.array(c), none, none, np.zeros((len(b), 1)), len(b), len(b))


def _order_8_tableau(pair: Pair) -> Tableau:
    """Build the tableau of order 8: 13 stages for a step, 3 more for values within it."""
    stages, extra = 13, 3
    A = np.zeros((stages + extra, stages + extra))
    _fill_lower_triangle(A, (*pair.A, pair.B, *pair.A_extra))
    b, e, e_low = (np.zeros(stages + extra) for _ in range(3))
    b[:12] = pair.B
    e[:stages], e_low[:stages] = pair.E, pair.E_low
    c = np.concatenate([pair.C, [1.0], pair.C_extra])
    return Tableau(A, b, c, e, e_low, _dense_output_polynomials(b, np.array(pair.D)), stages, pair.error_order)


def _dense_output_polynomials(b: Array, D: Array) -> Array:
    """Expand the nested form y + θ(F₀ + (1 − θ)(F₁ + θ(F₂ + (1 − θ)(F₃ + …)))) into powers of θ, for each stage.

    F₀ = Δy, F₁ = h f₀ − Δy, F₂ = 2 Δy − h (f₀ + f₁), F₃… = h D k with f₁ = k₁₂ (Hairer II.6, contd8).
    """
    S = len(b)
    first, new = np.eye(S)[0], np.eye(S)[12]
    F = [b, first - b, 2.0 * b - first - new, *D]
    total = np.zeros((S, len(F) + 1))
    for k in range(len(F) - 1, -1, -1):
        total[:, 0] += F[k]
        shifted = np.roll(total, 1, axis=1)  # times θ; the highest power is still empty
        total = shifted if k % 2 == 0 else total - shifted
    return np.ascontiguousarray(total[:, 1:])

"""Coefficients of Radau IIA with 3, 5 and 7 stages, orders 5, 9 and 13 (Hairer and Wanner, Solving ODE II, IV.5 and
IV.8; J. Comput. Appl. Math. 111, 1999)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import legendre

STAGES = (3, 5, 7)
MOST_STAGES = STAGES[-1]
BLOCK = MOST_STAGES + 2
"""Number of table rows of each method."""


def nodes(s: int) -> Any:
    """Return the (s,) zeros of P_s − P_{s−1}, shifted to [0, 1]; the last is 1."""
    difference = legendre.Legendre.basis(s) - legendre.Legendre.basis(s - 1)
    c: Any = (np.sort(difference.roots().real) + 1.0) / 2.0
    c[-1] = 1.0
    return c


def matrix(c: Any) -> Any:
    """Return the (s, s) matrix A of the collocation method: Σ_j a_ij c_j^(k−1) = c_i^k / k."""
    k = np.arange(1, len(c) + 1)
    return (c[:, None] ** k / k) @ np.linalg.inv(c[:, None] ** (k - 1))


def tables() -> tuple[Any, Any, Any]:
    """Return (T, its inverse, P) of all methods stacked, `BLOCK` rows each.

    A has the inverse T Λ T⁻¹ with a real eigenvalue μ and pairs α ± iβ (IV.8.3). Rows of the blocks: T, c and the
    weights e of the error; T⁻¹, a row μ, α₁, β₁, α₂, β₂ … and the last row of A⁻¹; the powers of the collocation
    polynomial.
    """
    T, back, P = (np.zeros((len(STAGES) * BLOCK, MOST_STAGES)) for _ in range(3))
    for k, s in enumerate(STAGES):
        first, c = k * BLOCK, nodes(s)
        inverse = np.linalg.inv(matrix(c))
        values, vectors = np.linalg.eig(inverse)
        order = [int(np.argmin(np.abs(values.imag))), *np.flatnonzero(values.imag > 1e-6)]
        columns, spectrum = [vectors[:, order[0]].real], [values[order[0]].real]
        for pair in order[1:]:
            columns += [vectors[:, pair].real, vectors[:, pair].imag]
            spectrum += [values[pair].real, values[pair].imag]
        T[first : first + s, :s] = np.stack(columns, axis=1)
        T[first + MOST_STAGES, :s], T[first + MOST_STAGES + 1, :s] = c, weights(c, inverse, spectrum[0])
        back[first : first + s, :s] = np.linalg.inv(T[first : first + s, :s])
        back[first + MOST_STAGES, :s], back[first + MOST_STAGES + 1, :s] = spectrum, inverse[-1]
        P[first : first + s, :s] = np.linalg.inv(c[:, None] ** np.arange(1, s + 1))
    return T, back, P


def weights(c: Any, inverse: Any, mu: float) -> Any:
    """Return the (s,) weights e of the error f(t, y) + Σ e_i Z_i / h: the formula of order s with the weight 1/μ at 0
    minus the method (IV.8.16 ff.), times μ."""
    s = len(c)
    k = np.arange(1, s + 1)
    lower = np.linalg.solve(c[None, :] ** (k - 1)[:, None], 1.0 / k - np.eye(s)[0] / mu)
    return mu * (lower - matrix(c)[-1]) @ inverse

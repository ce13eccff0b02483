"""Stages of Radau IIA methods: coefficients, and the linear systems (λ − J) x = r with real or complex λ.

Coefficients are those with 3, 5 and 7 stages, orders 5, 9 and 13 (Hairer and Wanner, Solving ODE II, IV.5 and IV.8;
J. Comput. Appl. Math. 111, 1999).

Where the coordinates change as fast as the speeds, q̇ = v, the coordinates are eliminated: x_v = λ x_q − r_q, and

    [λ² − λ D − K,  −C ] [x_q]   [r_v + λ r_q − D r_q]
    [  −E − λ F,   λ−G ] [x_x] = [     r_x − F r_q   ]

with the blocks K, D, C, E, F, G of J by q, v, x (as in RADAU5, Hairer and Wanner, Solving ODE II, IV.8: an eighth of
the work for factors). With quaternions the systems stay whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import legendre

from core.machine_code.language import loader, native
from core.machine_code.records import ComplexRows, Fixed, FloatRows, IntRows
from core.simulation.methods.step_state import StepState


class RadauState(StepState):
    """State of an implicit method, with workspace for its linear systems."""

    stage: int
    """Number of stages of the next step."""
    lowest: int
    highest: int
    """Smallest and largest number of stages."""
    degree: int = 0
    """Degree of the last step's polynomial."""
    same: int = 0
    """Number of steps taken so far with the present number of stages."""
    rounds: int = 0
    """Number of rounds of the last Newton iteration."""
    present: int = 0
    """1 if the Jacobian was computed for the present step."""
    cost: Fixed
    """Number of evaluations that a Jacobian takes."""
    factored: float = 0.0
    """Step size for which the factors are valid, s; 0: none."""
    halved: Fixed
    """Number of coordinates eliminated before factoring; 0: none."""
    square: FloatRows
    """(2 n, n) Jacobian, and factors of the real system."""
    complexes: ComplexRows
    """(pairs n + 2, n) stacked factors of the complex systems; a right-hand side and its solution."""
    pivots: IntRows
    """(1 + pairs, n) pivot indices."""


load_radau = loader(RadauState)


@native
def lu_factorise(A: Any, pivots: Any, n: int) -> Any:
    """Factor L U = P A in place, (n, n), with reciprocals on the diagonal of U; returns false if A is singular."""
    for j in range(n):
        p, best = j, 0.0
        for i in range(j, n):
            x = A[i, j]
            size = x.real * x.real + x.imag * x.imag
            if size > best:
                p, best = i, size
        pivots[j] = p
        if not best > 0.0:
            return False
        if p != j:
            for k in range(n):
                A[j, k], A[p, k] = A[p, k], A[j, k]
        turned = 1.0 / A[j, j]
        A[j, j] = turned
        for i in range(j + 1, n):
            part = A[i, j] * turned
            if part.real == 0.0 and part.imag == 0.0:  # as many are where states of forces act on few bodies
                continue
            A[i, j] = part
            for k in range(j + 1, n):
                A[i, k] -= part * A[j, k]
    return True


@native
def lu_solve(A: Any, pivots: Any, x: Any, n: int) -> None:
    """Solve x ← A⁻¹ x with the factors of `lu_factorise`."""
    for j in range(n):
        p = pivots[j]
        if p != j:
            x[j], x[p] = x[p], x[j]
    for i in range(1, n):
        total = x[i]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total * A[i, i]


@native
def fill_shifted_matrix(J: Any, c: int, shift: Any, A: Any) -> None:
    """Compute λ − J into A, with its first c coordinates eliminated."""
    n = J.shape[1]
    if c == 0:
        for i in range(n):
            for j in range(n):
                A[i, j] = -J[i, j]
            A[i, i] += shift
        return
    # the rows of speeds and states, with x_v = λ x_q − r_q put in
    for i in range(c, n):
        for j in range(c):
            A[i - c, j] = -J[i, j] - shift * J[i, c + j]
        for j in range(2 * c, n):
            A[i - c, j - c] = -J[i, j]
    square = shift * shift
    for i in range(c):
        A[i, i] += square
    for i in range(c, n - c):
        A[i, i] += shift


@native
def solve_shifted_system(J: Any, c: int, shift: Any, A: Any, pivots: Any, r: Any, x: Any) -> None:
    """Solve x ← (λ − J)⁻¹ r with the factors A of `fill`; r is overwritten and must not be x."""
    n = J.shape[1]
    if c == 0:
        for i in range(n):
            x[i] = r[i]
        lu_solve(A, pivots, x, n)
        return
    # the same right-hand side as in the head: r_v + λ r_q − D r_q, r_x − F r_q
    for i in range(c, n):
        total = r[i]
        if i < 2 * c:
            total += shift * r[i - c]
        for j in range(c):
            total -= J[i, c + j] * r[j]
        r[i] = total
    right = r[c:]
    lu_solve(A, pivots, right, n - c)
    for i in range(c):
        x[i] = right[i]
        x[c + i] = shift * right[i] - r[i]
    for i in range(2 * c, n):
        x[i] = r[i]


@native
def factorise_systems(state: int, h: float, spectrum: Any, pairs: int) -> Any:
    """Factor μ/h − J and (α − iβ)/h − J for each pair; returns false if one is singular. spectrum: μ, α₁, β₁, …"""
    w = load_radau(state)
    n, c = len(w.y), w.halved
    J, A = w.square[:n], w.square[n:]
    w.factorisations += 1
    fill_shifted_matrix(J, c, spectrum[0] / h, A)
    well = lu_factorise(A, w.pivots[0], n - c)
    for k in range(pairs):
        block = w.complexes[k * n : (k + 1) * n]
        fill_shifted_matrix(J, c, complex(spectrum[2 * k + 1] / h, -spectrum[2 * k + 2] / h), block)
        well = well and lu_factorise(block, w.pivots[k + 1], n - c)
    return well


STAGES = (3, 5, 7)
MOST_STAGES = STAGES[-1]
BLOCK = MOST_STAGES + 2
"""Number of table rows of each method."""


def collocation_nodes(s: int) -> Any:
    """Return the (s,) zeros of P_s − P_{s−1}, shifted to [0, 1]; the last is 1."""
    difference = legendre.Legendre.basis(s) - legendre.Legendre.basis(s - 1)
    c: Any = (np.sort(difference.roots().real) + 1.0) / 2.0
    c[-1] = 1.0
    return c


def collocation_matrix(c: Any) -> Any:
    """Return the (s, s) matrix A of the collocation method: Σ_j a_ij c_j^(k−1) = c_i^k / k."""
    k = np.arange(1, len(c) + 1)
    return (c[:, None] ** k / k) @ np.linalg.inv(c[:, None] ** (k - 1))


def build_tables() -> tuple[Any, Any, Any]:
    """Return (T, its inverse, P) of all methods, stacked, with `BLOCK` rows each.

    A has the inverse T Λ T⁻¹ with a real eigenvalue μ and pairs α ± iβ (IV.8.3). Rows of the blocks: T, c and the
    weights e of the error; T⁻¹, a row μ, α₁, β₁, α₂, β₂ … and the last row of A⁻¹; the powers of the collocation
    polynomial.
    """
    T, back, P = (np.zeros((len(STAGES) * BLOCK, MOST_STAGES)) for _ in range(3))
    for k, s in enumerate(STAGES):
        first, c = k * BLOCK, collocation_nodes(s)
        inverse = np.linalg.inv(collocation_matrix(c))
        values, vectors = np.linalg.eig(inverse)
        order = [int(np.argmin(np.abs(values.imag))), *np.flatnonzero(values.imag > 1e-6)]
        columns, spectrum = [vectors[:, order[0]].real], [values[order[0]].real]
        for pair in order[1:]:
            columns += [vectors[:, pair].real, vectors[:, pair].imag]
            spectrum += [values[pair].real, values[pair].imag]
        T[first : first + s, :s] = np.stack(columns, axis=1)
        T[first + MOST_STAGES, :s], T[first + MOST_STAGES + 1, :s] = c, error_weights(c, inverse, spectrum[0])
        back[first : first + s, :s] = np.linalg.inv(T[first : first + s, :s])
        back[first + MOST_STAGES, :s], back[first + MOST_STAGES + 1, :s] = spectrum, inverse[-1]
        P[first : first + s, :s] = np.linalg.inv(c[:, None] ** np.arange(1, s + 1))
    return T, back, P


def error_weights(c: Any, inverse: Any, mu: float) -> Any:
    """Return the (s,) weights e of the error f(t, y) + Σ e_i Z_i / h: the formula of order s with the weight 1/μ at 0
    minus the method (IV.8.16 ff.), times μ."""
    s = len(c)
    k = np.arange(1, s + 1)
    lower = np.linalg.solve(c[None, :] ** (k - 1)[:, None], 1.0 / k - np.eye(s)[0] / mu)
    return mu * (lower - collocation_matrix(c)[-1]) @ inverse

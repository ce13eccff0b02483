"""Constraint forces within bounds: λ in [low, high] such that γ̇ = A λ + c is zero where λ is inside its bounds, not
positive where λ is at its upper bound, and not negative where it is at its lower bound. These are the optimality
conditions of minimising ½ λᵀ A λ + cᵀ λ within the bounds (Gauss's principle for rows with friction and stops); γ̇ is
unique, λ need not be. For vector friction see `core.constraints.friction_disk_forces`.

`bounded` : block principal pivoting (Júdice and Pires, Computers & Operations Research 21, 1994), one least index at a
time (Murty) where the number of infeasible rows stops falling, which ends for A + ε I; from there on without ε.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import native, scratch

REGULARISATION = 1e-8
"""Fraction of the mean diagonal of A added to it, which selects among non-unique forces."""
TRIES = 8
"""Number of rounds of block pivoting that may pass without reducing the number of infeasible rows; then single pivoting
starts."""
SWEEPS = 50
"""Number of projected Gauss–Seidel sweeps that give the starting guess for single pivoting."""
POLISHES = 3
MOVES = 1e-11
"""A row's acceleration counts as rounding error below this fraction of the sum of the magnitudes of its terms."""

ROUNDING = 2e-15
"""Fraction of that sum below which an acceleration cannot be computed more accurately."""


@native
def solve_by_elimination(D: Any, x: Any, n: int) -> None:
    """Solve x ← D⁻¹ x by Gaussian elimination with pivoting; D (n n,) is overwritten, and a singular D gives non-finite
    numbers."""
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(D[i * n + j]) > abs(D[p * n + j]):
                p = i
        x[j], x[p] = x[p], x[j]
        for k in range(n):
            D[j * n + k], D[p * n + k] = D[p * n + k], D[j * n + k]
        for i in range(j + 1, n):
            part = D[i * n + j] / D[j * n + j]
            x[i] -= part * x[j]
            for k in range(j, n):
                D[i * n + k] -= part * D[j * n + k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= D[i * n + k] * x[k]
        x[i] /= D[i * n + i]


@native
def find_regularisation(A: Any, n: int) -> float:
    """Return the regularisation ε that is added to the diagonal of A."""
    total = 0.0
    for i in range(n):
        total += A[i * n + i]
    return REGULARISATION * (total / max(n, 1) + 1e-300)


@native
def factorise_inside(A: Any, side: Any, inside: Any, D: Any, n: int) -> int:
    """List the rows inside their bounds (side 0), and compute the Cholesky factor (m m,) of A + ε I of these rows, with
    inverse pivots on its diagonal; returns their number m."""
    m, epsilon = 0, find_regularisation(A, n)
    added = epsilon if n > 1 else 0.0
    for i in range(n):
        if side[i] == 0.0:
            inside[m] = i
            m += 1
    for j in range(m):
        q = int(inside[j])
        square = A[q * n + q] + added if A[q * n + q] != 0.0 else 1.0  # 0: no force moves it
        for k in range(j):
            square -= D[j * m + k] ** 2
        pivot = 1.0 / np.sqrt(max(square, epsilon))
        D[j * m + j] = pivot
        for i in range(j + 1, m):
            total = A[int(inside[i]) * n + q]
            for k in range(j):
                total -= D[i * m + k] * D[j * m + k]
            D[i * m + j] = total * pivot
    return m


@native
def refine_forces(A: Any, g: Any, lam: Any, side: Any, n: int) -> None:
    """Refine the forces λ of rows inside their bounds (side 0) by one Newton step toward γ̇ = 0, given the present γ̇
    in g."""
    inside, D = scratch(n), scratch(n * n)
    m = factorise_inside(A, side, inside, D, n)
    refine_with_factor(A, g, lam, inside, D, m, n)


@native
def refine_with_factor(A: Any, g: Any, lam: Any, inside: Any, D: Any, m: int, n: int) -> None:
    """Take the step of `refine_forces` with the m rows and the factor D that `factorise_inside` gives."""
    x = scratch(m)
    for j in range(m):
        q = int(inside[j])
        total = -g[q] if A[q * n + q] != 0.0 else 0.0
        for k in range(j):
            total -= D[j * m + k] * x[k]
        x[j] = total * D[j * m + j]
    for j in range(m - 1, -1, -1):
        total = x[j]
        for k in range(j + 1, m):
            total -= D[k * m + j] * x[k]
        x[j] = total * D[j * m + j]
        lam[int(inside[j])] += x[j]


@native
def compute_row_accelerations(A: Any, c: Any, lam: Any, g: Any, n: int) -> None:
    """Compute γ̇ = A λ + c into g."""
    for i in range(n):
        total = c[i]
        for j in range(n):
            total += A[i * n + j] * lam[j]
        g[i] = total


@native
def acceleration_scale(A: Any, c: Any, lam: Any, i: int, n: int) -> float:
    """Return Σ |A_ij λ_j| + |c_i|, to which the rounding error of γ̇_i is proportional."""
    total = abs(c[i])
    for j in range(n):
        total += abs(A[i * n + j] * lam[j])
    return total


@native
def estimate_active_bounds(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, n: int) -> None:
    """Estimate by projected Gauss–Seidel sweeps which rows are at their lower or upper bound."""
    epsilon = find_regularisation(A, n)
    for _ in range(SWEEPS):
        for i in range(n):
            total = c[i] + epsilon * lam[i]
            for j in range(n):
                total += A[i * n + j] * lam[j]
            lam[i] = min(max(lam[i] - total / (A[i * n + i] + epsilon), low[i]), high[i])
    for i in range(n):
        side[i] = -1.0 if lam[i] <= low[i] else 1.0 if lam[i] >= high[i] else 0.0


@native
def solve_at_active_bounds(
    A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, refinements: int, n: int
) -> None:
    """Compute λ and γ̇ for given sides: each row at its bound, or inside with γ̇ = 0."""
    for i in range(n):
        lam[i] = high[i] if side[i] > 0.0 else low[i] if side[i] < 0.0 else 0.0
    compute_row_accelerations(A, c, lam, g, n)
    inside, D = scratch(n), scratch(n * n)
    m = factorise_inside(A, side, inside, D, n)
    for _ in range(1 + refinements if m > 0 else 0):
        refine_with_factor(A, g, lam, inside, D, m, n)
        compute_row_accelerations(A, c, lam, g, n)
        if is_at_rounding(A, c, lam, side, g, n):
            return


@native
def is_at_rounding(A: Any, c: Any, lam: Any, side: Any, g: Any, n: int) -> Any:
    """Return True if γ̇ of all rows inside their bounds is rounding error, which no refinement reduces."""
    for i in range(n):
        if side[i] == 0.0 and not abs(g[i]) <= ROUNDING * acceleration_scale(A, c, lam, i, n):
            return False
    return True


@native
def mark_infeasible(
    A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, epsilon: float, infeasible: Any, n: int
) -> int:
    """Mark infeasible rows (1, others 0) in bad (n,) and return their number."""
    count = 0
    for i in range(n):
        rate, moves = g[i] + epsilon * lam[i], MOVES * acceleration_scale(A, c, lam, i, n)
        force = moves / A[i * n + i] if A[i * n + i] > 0.0 else 0.0
        infeasible[i] = 1.0 if is_infeasible(low[i], high[i], lam[i], side[i], rate, force, moves) else 0.0
        count += int(infeasible[i])
    return count


@native
def flip_active_bounds(high: Any, lam: Any, side: Any, infeasible: Any, first_only: bool, n: int) -> None:
    """Move infeasible rows to the violated bound, or back inside; only the first of them if `first_only`."""
    for i in range(n):
        if infeasible[i] > 0.0:
            side[i] = 0.0 if side[i] != 0.0 else 1.0 if lam[i] > high[i] else -1.0
            if first_only:
                return


@native
def solve_by_pivoting(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, exact: bool, n: int) -> Any:
    """Compute λ and γ̇ by pivoting from the given sides, with A + ε I or exactly with A. Returns False if the iteration
    limit was reached."""
    bad, fewest, tries = scratch(n), n + 1, TRIES
    epsilon = 0.0 if exact else find_regularisation(A, n)
    for _ in range(50 + 20 * n):
        solve_at_active_bounds(A, c, low, high, lam, side, g, POLISHES if exact else 0, n)
        count = mark_infeasible(A, c, low, high, lam, side, g, epsilon, bad, n)
        if count == 0:
            return True
        if count < fewest:
            fewest, tries = count, TRIES
        else:
            tries -= 1
        if tries == 0 and not exact:
            for i in range(n):
                lam[i] = min(max(lam[i], low[i]), high[i])
            estimate_active_bounds(A, c, low, high, lam, side, n)
        else:
            flip_active_bounds(high, lam, side, bad, tries < 0, n)
    return False


@native
def solve_within_bounds(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, n: int) -> Any:
    """Compute λ within bounds, the bound at which each row is (−1, 0, 1) and γ̇; A (n n,) is stored row by row. Returns
    False if the iteration limit was reached."""
    for i in range(n):
        side[i] = 0.0
    return solve_from_active_bounds(A, c, low, high, lam, side, g, n)


@native
def solve_from_active_bounds(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, n: int) -> Any:
    """Compute those of `solve_within_bounds`, beginning with the given sides."""
    chosen = scratch(n)
    well = solve_by_pivoting(A, c, low, high, lam, side, g, False, n)
    for i in range(n):
        chosen[i] = side[i]
    if not solve_by_pivoting(A, c, low, high, lam, side, g, True, n):  # forces that are not unique: as ε chose
        for i in range(n):
            side[i] = chosen[i]
        solve_at_active_bounds(A, c, low, high, lam, side, g, POLISHES, n)
    return well


@native
def is_infeasible(low: float, high: float, lam: float, side: float, g: float, force: float, rate: float) -> Any:
    """Return True if a row is beyond a bound, or is kept at a bound that should release it."""
    if side == 0.0:
        return lam < low - force or lam > high + force
    return g > rate if side > 0.0 else g < -rate

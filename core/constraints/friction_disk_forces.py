"""Constraint forces with vector friction: like `core.constraints.admissible_forces`, but the λ of some groups
of rows are bounded by the norm of their vector (friction disks), and at the bound γ̇ is opposite to λ.

Newton's method on λ = P(λ − ρ (A λ + c)), P the nearest admissible one (semi-smooth: Qi and Sun, Mathematical
Programming 58, 1993); where it does not end, once more from what the path of a logarithmic barrier leads to. As
`core.numerics.bounded_forces` does it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import (
    acceleration_scale,
    compute_row_accelerations,
    find_regularisation,
    solve_by_elimination,
)
from core.machine_code.language import native, scratch

ROUNDS = 30
"""Largest number of Newton iterations."""
POLISHES = 3
EXACT, WELL = 1e-15, 1e-12
"""Relative residual at which a row counts as solved exactly, or nearly."""
FINEST, GROWTH = 1e-9, 4.0
"""For the interior-point path: relative duality gap at its end; factor from one barrier parameter to the next."""
AT_END = 1.0 - 1e-12
"""Fraction of a friction disk's radius above which a force counts as being at its bound."""


@native
def vector_norm(x: Any, first: int, count: int) -> float:
    """Return the Euclidean norm of x[first : first + count]."""
    total = 0.0
    for i in range(first, first + count):
        total += x[i] * x[i]
    return np.sqrt(total)


@native
def solve_disk_forces(A: Any, c: Any, low: Any, high: Any, shares: Any, lam: Any, side: Any, g: Any, n: int) -> Any:
    """Compute λ with vector friction, the bound at which each row is (−1, 0, 1; 1: on the rim of its friction disk) and
    γ̇. shares (n,): number of rows of the friction disk that begins at a row, bounded together by `high`; 0 for its
    other rows. Returns False if the solution is approximate only."""
    center, epsilon = scratch(n), find_regularisation(A, n)
    for i in range(n):
        lam[i] = center[i] = 0.0
    well = solve_by_newton(A, c, low, high, shares, center, epsilon, lam, n)
    if not well:
        follow_central_path(A, c, low, high, shares, epsilon, lam, n)
        well = solve_by_newton(A, c, low, high, shares, center, epsilon, lam, n)
    for _ in range(POLISHES):
        for i in range(n):
            center[i] = lam[i]
        solve_by_newton(A, c, low, high, shares, center, epsilon, lam, n)
    compute_row_accelerations(A, c, lam, g, n)
    for i in range(n):
        count = int(shares[i])
        if count == 1:
            side[i] = 1.0 if lam[i] >= high[i] else -1.0 if lam[i] <= low[i] else 0.0
        for j in range(i, i + count):
            if count > 1:
                side[j] = 1.0 if vector_norm(lam, i, count) >= AT_END * high[i] else 0.0
    return well


@native
def gradient_step_size(A: Any, epsilon: float, first: int, count: int, n: int) -> float:
    """Return the step size 1/‖A + ε I‖ for a group of rows bounded together."""
    total = 0.0
    for i in range(first, first + count):
        for j in range(first, first + count):
            total += (A[i * n + j] + (epsilon if i == j else 0.0)) ** 2
    return 1.0 / np.sqrt(total)


@native
def solve_by_newton(
    A: Any, c: Any, low: Any, high: Any, shares: Any, center: Any, epsilon: float, lam: Any, n: int
) -> Any:
    """Solve for λ with A + ε I and c − ε center by Newton's method, starting at λ. Returns False if it did not
    converge."""
    d, rate, D, x, best, least = scratch(n), scratch(n), scratch(n * n), scratch(n), scratch(n), np.inf
    slope = scratch(n * n)
    for i in range(n):
        d[i] = c[i] - epsilon * center[i]
        best[i] = lam[i]
    for _ in range(ROUNDS):
        compute_row_accelerations(A, d, lam, rate, n)
        for i in range(n):
            rate[i] += epsilon * lam[i]
        gap = compute_projection_residual(A, d, low, high, shares, epsilon, lam, rate, x, slope, n)
        if gap < least:
            least = gap
            for i in range(n):
                best[i] = lam[i]
        if gap <= EXACT * n:
            break
        build_newton_matrix(A, shares, epsilon, slope, D, n)
        solve_by_elimination(D, x, n)
        for i in range(n):
            lam[i] += x[i]
    for i in range(n):
        lam[i] = best[i]
    return least <= WELL


@native
def compute_projection_residual(
    A: Any,
    d: Any,
    low: Any,
    high: Any,
    shares: Any,
    epsilon: float,
    lam: Any,
    rate: Any,
    x: Any,
    slope: Any,
    n: int,
) -> float:
    """Compute the projection residual P(λ − ρ γ̇) − λ into x and ∂P into slope; return its size relative to the terms
    of the rows' accelerations."""
    gap = 0.0
    for i in range(n * n):
        slope[i] = 0.0
    for first in range(n):
        count = int(shares[first])
        if count == 0:
            continue
        rho, size, away = gradient_step_size(A, epsilon, first, count, n), 0.0, 0.0
        for i in range(first, first + count):
            x[i] = lam[i] - rho * rate[i]
            size += (acceleration_scale(A, d, lam, i, n) + epsilon * abs(lam[i])) ** 2
        project_to_bounds(low, high, x, slope, first, count, n)
        for i in range(first, first + count):
            x[i] -= lam[i]
            away += x[i] * x[i]
        gap = max(gap, np.sqrt(away) / (rho * max(np.sqrt(size), 1e-300)))
    return gap


@native
def project_to_bounds(low: Any, high: Any, x: Any, slope: Any, first: int, count: int, n: int) -> None:
    """Project the forces in x of a group of rows onto their admissible set and compute the derivative of the
    projection."""
    size = vector_norm(x, first, count)
    if count == 1:
        slope[first * n + first] = 1.0 if low[first] < x[first] < high[first] else 0.0
        x[first] = min(max(x[first], low[first]), high[first])
        return
    part = high[first] / size if size > high[first] else 1.0
    for i in range(first, first + count):
        for j in range(first, first + count):
            along = x[i] * x[j] / (size * size) if part < 1.0 else 0.0
            slope[i * n + j] = part * ((1.0 if i == j else 0.0) - along)
    for i in range(first, first + count):
        x[i] *= part


@native
def build_newton_matrix(A: Any, shares: Any, epsilon: float, slope: Any, D: Any, n: int) -> None:
    """Assemble the Newton matrix I − ∂P (I − ρ (A + ε I)) into D."""
    rho = scratch(n)
    for first in range(n):
        count = int(shares[first])
        for i in range(first, first + count):
            rho[i] = gradient_step_size(A, epsilon, first, count, n)
    for i in range(n):
        for j in range(n):
            total = (1.0 if i == j else 0.0) - slope[i * n + j]
            for k in range(n):
                if slope[i * n + k] != 0.0:
                    total += slope[i * n + k] * rho[k] * (A[k * n + j] + (epsilon if k == j else 0.0))
            D[i * n + j] = total


@native
def follow_central_path(A: Any, c: Any, low: Any, high: Any, shares: Any, epsilon: float, lam: Any, n: int) -> None:
    """Approach the solution along the central path of the logarithmic barrier of friction disks and intervals."""
    worth, slope, D, step, g = 1e-300, scratch(n), scratch(n * n), scratch(n), scratch(n)
    for i in range(n):
        free = abs(c[i]) / (A[i * n + i] + epsilon) + 1e-12
        bounded_above, bounded_below = np.isfinite(high[i]), np.isfinite(low[i])
        if bounded_above and bounded_below:
            lam[i] = 0.5 * (low[i] + high[i])
            worth += abs(c[i]) * (high[i] - low[i])
        else:
            lam[i] = high[i] - free if bounded_above else low[i] + free if bounded_below else 0.0
            worth += abs(c[i]) * free
    weight = 1.0 / worth
    while weight < 1.0 / (FINEST * worth):
        for _ in range(ROUNDS):
            compute_row_accelerations(A, c, lam, g, n)
            for i in range(n):
                slope[i] = 0.0
                for j in range(n):
                    D[i * n + j] = weight * (A[i * n + j] + (epsilon if i == j else 0.0))
            compute_barrier_terms(low, high, shares, lam, slope, D, n)
            for i in range(n):
                g[i] = step[i] = -weight * (g[i] + epsilon * lam[i]) - slope[i]
            exclude_tight_rows(low, high, g, step, D, n)
            solve_by_elimination(D, step, n)
            decrement = 0.0
            for i in range(n):
                decrement += g[i] * step[i]
            decrement = np.sqrt(max(decrement, 0.0))
            for i in range(n):
                lam[i] += step[i] / (1.0 + decrement if decrement > 0.25 else 1.0)
            if decrement < 0.25:
                break
        weight *= GROWTH


@native
def exclude_tight_rows(low: Any, high: Any, g: Any, step: Any, D: Any, n: int) -> None:
    """Exclude rows whose lower and upper bounds coincide from the step."""
    for i in range(n):
        if not high[i] - low[i] > 0.0:
            g[i] = step[i] = 0.0
            for j in range(n):
                D[i * n + j] = D[j * n + i] = 0.0
            D[i * n + i] = 1.0


@native
def compute_barrier_terms(low: Any, high: Any, shares: Any, x: Any, slope: Any, D: Any, n: int) -> None:
    """Compute the gradient of the logarithmic barrier −Σ ln(distance to bounds) into slope and add its curvature to
    D."""
    for first in range(n):
        count = int(shares[first])
        if count > 1:
            left = max(high[first] ** 2 - vector_norm(x, first, count) ** 2, 1e-300)
            for i in range(first, first + count):
                slope[i] = 2.0 * x[i] / left
            for i in range(first, first + count):
                D[i * n + i] += 2.0 / left
                for j in range(first, first + count):
                    D[i * n + j] += slope[i] * slope[j]
        elif count == 1:
            above, below = 1.0 / max(high[first] - x[first], 1e-300), 1.0 / max(x[first] - low[first], 1e-300)
            slope[first] = above - below
            D[first * n + first] += above * above + below * below

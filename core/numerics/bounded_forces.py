"""Bounded constraint forces (Gauss's principle): λ in [low, high] that minimises ½ λᵀ A λ + cᵀ λ, so that γ̇ = A λ + c
is zero inside the bounds, not positive at the upper and not negative at the lower bound. The norm of a group of λ may
be bounded instead (friction disk or ball); on its boundary γ̇ opposes the force.

γ̇ is unique, λ need not be: A + ε I chooses. By block principal pivoting (Júdice and Pires, Computers & Operations
Research 21, 1994); where the number of infeasible rows stops falling one least index at a time (Murty), which ends.
With balls by Newton's method on λ = P(λ − ρ (A λ + c)), P the nearest admissible one (semi-smooth: Qi and Sun,
Mathematical Programming 58, 1993); where it does not end once more from the end of the path of a logarithmic barrier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REGULARISATION = 1e-8
"""Regularisation, relative to the mean diagonal of A, that selects a solution where the forces are not unique."""
TRIES = 8
"""Number of iterations without a decrease in the number of infeasible rows after which the method changes one row at a
time."""
POLISHES = 3
ROUNDS = 30
"""Number of Newton iterations where norms of several forces are bounded."""
EXACT = 1e-15
"""Relative residual at which Newton's method counts as converged to machine precision."""
MULTIPLIERS = 6
FINEST, GROWTH = 1e-9, 4.0
"""Duality gap at the end of the barrier path, relative to its start, and growth of the barrier weight per stage."""
MOVES = 1e-11
"""Acceleration of a row, relative to the sum of its contributions, above which it is not attributed to rounding error.
"""


class BoundedForces(NamedTuple):
    """Solution for bounded forces: forces and rates are λ (n,) and γ̇ (n,); side (n,) is the bound at which each row
    is: −1 lower, 0 inside, 1 upper (or the boundary of a friction disk or ball)."""

    forces: Array
    rates: Array
    side: Array


def solve_bounded_forces(A: Array, c: Array, low: Array, high: Array) -> BoundedForces:
    """Solve for constraint forces with a lower and an upper bound each; A (n, n) is symmetric positive semidefinite, c
    (n,)."""
    n = len(c)
    epsilon = REGULARISATION * (float(np.trace(A)) / max(n, 1) + 1e-300)
    side, fewest, tries = np.zeros(n), n + 1, TRIES
    found = _solve_at_bounds(A, c, low, high, side, epsilon, 0)
    for _ in range(50 + 20 * n):
        found = _solve_at_bounds(A, c, low, high, side, epsilon, 0)
        bad = _infeasible_rows(A, c, low, high, found, epsilon)
        count = int(bad.sum())
        if count == 0:
            break
        tries = TRIES if count < fewest else tries - 1
        fewest = min(count, fewest)
        turned = bad if tries > 0 else np.arange(n) == np.flatnonzero(bad)[0]
        beyond = np.where(found.forces > high, 1.0, -1.0)
        side = np.where(turned, np.where(side != 0.0, 0.0, beyond), side)
    return _solve_at_bounds(A, c, low, high, side, epsilon, POLISHES)


def solve_bounded_least_squares(
    h: Array, A: Array, b: Array, low: Array, high: Array, shares: NDArray[np.int64], weight: float = 1e3
) -> Array:
    """Return λ (n,) within bounds that minimises Σ h λ² subject to A λ = b, or, if no λ satisfies it, that comes
    closest; by the method of multipliers (Hestenes and Powell). A and b should be of order 1."""
    x, left = np.zeros(len(h)), np.zeros(len(b))
    for _ in range(MULTIPLIERS):
        problem = _BoundedProblem(np.diag(h) + weight**2 * A.T @ A, weight**2 * A.T @ (left - b), low, high, shares)
        found, well = problem.solve(np.zeros(len(h)), x, 0.0)
        x = found if well else problem.solve(np.zeros(len(h)), problem.barrier_solution(0.0), 0.0)[0]
        left = left + (A @ x - b)
    return x


def group_norms(x: Array, shares: NDArray[np.int64]) -> Array:
    """Return the magnitude (n,) of each row: |x| for single rows, the norm of the group for rows bounded together.
    shares: (n,) number of rows in the group that starts at a row, 0 for its other rows."""
    result = np.abs(x)
    for first in np.flatnonzero(shares > 1):
        ball = slice(first, first + shares[first])
        result[ball] = np.linalg.norm(x[ball])
    return np.asarray(result)


def resolve_sliding_rows(
    A: Array,
    c: Array,
    static_bounds: tuple[Array, Array],
    sliding_bounds: tuple[Array, Array],
    shares: NDArray[np.int64] | None = None,
) -> tuple[BoundedForces, Array]:
    """Find the rows that start to slide: rows that cannot be kept at rest within the static bounds switch to the
    sliding bounds until no further row does. Returns the forces and a mask (n,) of the sliding rows. shares (n,): see
    `group_norms`; the upper bound of a friction disk or ball is its radius."""
    broken = np.zeros(len(c), dtype=bool)
    shares = np.ones(len(c), dtype=np.int64) if shares is None else shares
    while True:
        low, high = (
            np.where(broken, moving, still) for still, moving in zip(static_bounds, sliding_bounds, strict=True)
        )
        found = (
            solve_bounded_forces(A, c, low, high)
            if (shares == 1).all()
            else solve_norm_bounded_forces(A, c, low, high, shares)
        )
        rates, sizes = group_norms(found.rates, shares), group_norms(_rounding_scale(A, c, found.forces), shares)
        more = ~broken & (rates > MOVES * sizes)
        if not more.any():
            return found, broken
        broken |= more


def solve_norm_bounded_forces(A: Array, c: Array, low: Array, high: Array, shares: NDArray[np.int64]) -> BoundedForces:
    """Solve for bounded forces if the norms of some groups of rows are bounded."""
    n = len(c)
    epsilon = REGULARISATION * (float(np.trace(A)) / max(n, 1) + 1e-300)
    problem = _BoundedProblem(A, c, low, high, shares)
    forces, well = problem.solve(np.zeros(n), np.zeros(n), epsilon)
    if not well:
        forces = problem.solve(np.zeros(n), problem.barrier_solution(epsilon), epsilon)[0]
    for _ in range(POLISHES):
        forces = problem.solve(forces, forces, epsilon)[0]
    return BoundedForces(forces, A @ forces + c, problem.active_sides(forces))


class _BoundedProblem:
    """Quadratic problem with forces bounded by intervals and by norms of groups."""

    def __init__(self, A: Array, c: Array, low: Array, high: Array, shares: NDArray[np.int64]) -> None:
        self._A, self._c, self._low, self._high, self._shares = A, c, low, high, shares
        self._blocks = [slice(k, k + shares[k]) for k in np.flatnonzero(shares > 0)]

    def solve(self, center: Array, x: Array, epsilon: float) -> tuple[Array, bool]:
        """Solve with A + ε I and c − ε center by Newton's method from x. Returns the forces (n,) and True if they
        converged to rounding."""
        B, d = self._A + epsilon * np.eye(len(x)), self._c - epsilon * center
        steps = np.ones(len(x))
        for block in self._blocks:
            steps[block] = 1.0 / np.linalg.norm(B[block, block])
        best, least = x, np.inf
        for _ in range(ROUNDS):
            end, slope = self._project_onto_bounds(x - steps * (B @ x + d))
            sizes = group_norms(np.abs(B) @ np.abs(x) + np.abs(d), self._shares)
            gap = float(np.max(np.abs(x - end) / (steps * np.maximum(sizes, 1e-300)), initial=0.0))
            if gap < least:
                best, least = x, gap
            if gap <= EXACT * len(x):
                break
            x = x + np.linalg.solve(np.eye(len(x)) - slope + slope @ (steps[:, None] * B), end - x)
        return best, least <= 0.1 * MOVES

    def barrier_solution(self, epsilon: float) -> Array:
        """Approximate the solution (n,) from inside the bounds, along the central path of a logarithmic barrier."""
        low, high = self._low, self._high
        wide = high - low > 0.0
        B = self._A + epsilon * np.eye(len(low))
        x = np.where(np.isfinite(low) & np.isfinite(high), 0.5 * (low + high), 0.0)
        free = np.abs(self._c) / np.diag(B) + 1e-12
        x = np.where(np.isfinite(low) & ~np.isfinite(high), low + free, x)
        x = np.where(~np.isfinite(low) & np.isfinite(high), high - free, x)
        worth = float(np.abs(self._c) @ np.where(np.isfinite(high - low), high - low, free)) + 1e-300
        weight = 1.0 / worth
        while weight < 1.0 / (FINEST * worth):
            for _ in range(ROUNDS):
                slope, curve = self._barrier_derivatives(x)
                g = (weight * (B @ x + self._c) + slope)[wide]
                step = np.linalg.solve((weight * B + curve)[np.ix_(wide, wide)], -g)
                decrement = max(float(-g @ step), 0.0) ** 0.5
                x[wide] += step / (1.0 + decrement if decrement > 0.25 else 1.0)
                if decrement < 0.25:
                    break
            weight *= GROWTH
        return x

    def _barrier_derivatives(self, x: Array) -> tuple[Array, Array]:
        """Gradient (n,) and Hessian (n, n) of the logarithmic barrier."""
        slope, curve = np.zeros(len(x)), np.zeros((len(x), len(x)))
        for block in self._blocks:
            k = block.start
            if block.stop - k > 1:
                left = max(self._high[k] ** 2 - float(x[block] @ x[block]), 1e-300)
                slope[block] = 2.0 * x[block] / left
                curve[block, block] = 2.0 / left * np.eye(block.stop - k) + np.outer(slope[block], slope[block])
                continue
            for side, bound in ((1.0, self._high[k]), (-1.0, self._low[k])):
                away = 1.0 / max(side * (bound - x[k]), 1e-300)
                slope[k] += side * away
                curve[k, k] += away * away
        return slope, curve

    def active_sides(self, x: Array) -> Array:
        """Return the bound (n,) at which each row is: −1, 0 or 1."""
        side = np.where(x >= self._high, 1.0, np.where(x <= self._low, -1.0, 0.0))
        for block in self._blocks:
            if block.stop - block.start > 1:
                side[block] = float(np.linalg.norm(x[block]) >= self._high[block.start] * (1.0 - 1e-12))
        return side

    def _project_onto_bounds(self, x: Array) -> tuple[Array, Array]:
        """Project forces onto the bounds: the nearest admissible forces (n,) and their derivatives (n, n)."""
        end, slope = np.clip(x, self._low, self._high), np.diag(((x > self._low) & (x < self._high)).astype(float))
        for block in self._blocks:
            if block.stop - block.start > 1:
                length, radius = float(np.linalg.norm(x[block])), self._high[block.start]
                end[block], slope[block, block] = x[block], np.eye(block.stop - block.start)
                if length > radius:
                    n = x[block] / length
                    end[block] = radius * n
                    slope[block, block] = radius / length * (np.eye(len(n)) - np.outer(n, n))
        return end, slope


def _rounding_scale(A: Array, c: Array, forces: Array) -> Array:
    """Return Σ |A_ij λ_j| + |c_i| (n,), the scale of the rounding error of γ̇_i."""
    return np.asarray(np.abs(A) @ np.abs(forces) + np.abs(c))


def _solve_at_bounds(
    A: Array, c: Array, low: Array, high: Array, side: Array, epsilon: float, polishes: int
) -> BoundedForces:
    """Solve for λ and γ̇ with the rows of nonzero side at their bounds, and the others at rest."""
    inside = (side == 0.0) & (np.diag(A) > 0.0)  # what no force moves carries none
    forces = np.where(side > 0.0, high, np.where(side < 0.0, low, 0.0))
    rates = A @ forces + c
    D = A[np.ix_(inside, inside)] + epsilon * np.eye(int(inside.sum()))
    for _ in range(1 + polishes):
        forces[inside] -= np.linalg.solve(D, rates[inside])
        rates = A @ forces + c
    return BoundedForces(forces, rates, side)


def _infeasible_rows(
    A: Array, c: Array, low: Array, high: Array, solution: BoundedForces, epsilon: float
) -> NDArray[np.bool_]:
    """Mask (n,) of rows beyond a bound, or at a bound with a rate of the wrong sign."""
    forces, rates, side = solution
    moves = MOVES * _rounding_scale(A, c, forces)
    own = np.diag(A)
    hair = np.where(own > 0.0, moves / np.where(own > 0.0, own, 1.0), 0.0)
    felt = rates + epsilon * forces
    beyond = (side == 0.0) & ((forces < low - hair) | (forces > high + hair))
    return np.asarray(beyond | ((side > 0.0) & (felt > moves)) | ((side < 0.0) & (felt < -moves)))

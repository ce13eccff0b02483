"""Position solver: coordinates nearest to a given position at which all constraints are satisfied.

Gauss–Newton in a trust region, in weighted coordinates (Moré, Sorensen 1983; Nocedal and Wright, Numerical
Optimization, 4.3 and 10.3): each step minimises |G W⁻¹ y + r|² within |y| ≤ Δ with y = W·step, so heavy coordinates
move last; Δ follows the ratio of actual to predicted reduction. Limits are kept by freezing the coordinates that would
leave them. Where that ends at a minimum of |r| that is no root (a toggle position, say: all links in a line), the gap
is closed gradually (homotopy r(q) = (1 − s) r(q₀)), and then tried again from positions ever farther away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.numerics.matrix_forms import Matrix, scale_matrix, sum_of_squares
from core.numerics.rank import nonzero_row_mask
from core.numerics.tolerances import ACCEPTED_GAP, SOLVED_GAP

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_STEPS = 80
PATIENCE = 8
"""Number of steps in which the residual must at least halve; otherwise the mechanism cannot close."""
HOPELESS_FRACTION = 1e-3
"""Fraction of the squared residual: a step that promises a smaller reduction, although a step of its length could
remove a tenth of the residual, indicates a local minimum that is not a solution."""
LONGEST_STEP = 0.5
"""Largest step of one coordinate (rad or m)."""
FIRST_RADIUS = 1.0
"""Initial trust radius, in weighted coordinates."""
GOOD_RATIO, BAD_RATIO = 0.75, 0.25
"""Ratios of actual to predicted reduction above which the trust region grows, below which it shrinks."""
REDUNDANT_FRACTION = 1e-14
"""Fraction of the largest eigenvalue of G Gᵀ below which an eigenvalue counts as zero (redundant constraint)."""
SUPPORT_FRACTION = 1e-12
"""Fraction of the largest diagonal entry of a large sparse G Gᵀ that is added to its diagonal, so that it is not
singular in spite of redundant constraints."""

FIRST_STAGE = 0.25
"""First stage of the homotopy, as a fraction of the residual."""
SHORTEST_STAGE = 1.0 / 64.0

KICKS = (0.03, 0.1, 0.3, 0.3, 0.6, 0.6, 1.0, 1.0, 1.5, 1.5, 2.0, 3.0)
"""Sizes (rad or m) of the random displacements from which the solver restarts."""


def _always_true(q: Array) -> bool:
    return True


class PositionSearch(Protocol):
    """Search of a position problem in other code than this."""

    def __call__(self, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
        """Find the nearest position that satisfies the constraints, as `solve_position`."""

    def leaving(self, remaining_residual: Array) -> PositionSearch:
        """Return the search for positions at which this residual remains."""

    def with_axis_orientation(self) -> PositionSearch | None:
        """Return the search with residuals that do not vanish for reversed joint axes."""

    def with_limits(self, limits: Any) -> PositionSearch | None:
        """Return the search that also keeps limits of loop-closing joints; None if it cannot."""


class PositionProblem(NamedTuple):
    """Functions of a mechanism that the position solver needs."""

    residual: Callable[[Array], Array]
    """Constraint residuals: q → (rows,)."""
    jacobian: Callable[[Array], Matrix]
    """Constraint Jacobian: q → (rows, nv)."""
    move: Callable[[Array, Array], Array]
    """Displaces q on the manifold: (q, step) → q."""
    room: Callable[[Array], tuple[Array, Array]]
    """Smallest and largest step (nv,) that the joint limits allow at q."""
    fits: Callable[[Array], bool] = _always_true
    """True if a solved position is a valid assembly (no joint axis points the wrong way)."""
    search: PositionSearch | None = None
    """The same search in machine code, where it is ready."""


def solve_with_restarts(problem: PositionProblem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    """Solve as `solve_position`; from a local minimum try a homotopy, then random starts at increasing distance from
    q."""
    best, gap = _check_assembly(problem, *solve_position(problem, q, weights, fixed))
    if gap < ACCEPTED_GAP:
        return best, gap
    tries: list[Callable[[], tuple[Array, float]]] = [lambda: solve_by_homotopy(problem, q, weights, fixed)]
    rng = np.random.default_rng(len(weights))
    for size in KICKS:
        kick = np.where(fixed, 0.0, rng.uniform(-size, size, len(weights)))
        start = problem.move(q, np.clip(kick, *problem.room(q)))
        tries.append(partial(solve_position, problem, start, weights, fixed))
    for attempt in tries:
        trial, trial_gap = _check_assembly(problem, *attempt())
        if trial_gap < gap:
            best, gap = trial, trial_gap
        if gap < ACCEPTED_GAP:
            break
    return best, gap


def _check_assembly(problem: PositionProblem, q: Array, gap: float) -> tuple[Array, float]:
    """Return the position with its residual, or with half a turn as residual if a joint axis has the wrong
    orientation."""
    return (q, gap) if not gap < ACCEPTED_GAP or problem.fits(q) else (q, np.pi)


def solve_by_homotopy(problem: PositionProblem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    """Solve as `solve_position`, by a homotopy: residual(q) = (1 − s) · residual(start) for s from 0 to 1."""
    start = problem.residual(q)
    if not np.isfinite(start).all():
        return q, np.inf
    done, stage = 0.0, FIRST_STAGE
    while done < 1.0 and stage >= SHORTEST_STAGE:
        goal = min(1.0, done + stage)
        left = (1.0 - goal) * start
        shifted = problem._replace(
            residual=partial(_shifted_residual, problem.residual, left),
            search=None if problem.search is None else problem.search.leaving(left),
        )
        trial, gap = solve_position(shifted, q, weights, fixed)
        if gap < 1e-6:
            q, done, stage = trial, goal, 2.0 * stage
        else:
            stage *= 0.5
    return solve_position(problem, q, weights, fixed)


def _shifted_residual(residual: Callable[[Array], Array], remaining_residual: Array, q: Array) -> Array:
    return residual(q) - remaining_residual


def solve_position(problem: PositionProblem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    """Find the nearest position that satisfies the constraints; returns q and the largest remaining residual.

    weights : (nv,) how unwilling a coordinate is to move; fixed : (nv,) True where it must not
    """
    if problem.search is not None:
        return problem.search(q, weights, fixed)
    with np.errstate(over="ignore", invalid="ignore"):  # sizes whose squares are no numbers do not close
        return _iterate_to_solution(problem, q, weights, fixed)


def _iterate_to_solution(problem: PositionProblem, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
    r = problem.residual(q)
    radius = FIRST_RADIUS
    before = np.inf
    G: Matrix = None
    for k in range(MAX_STEPS):
        gap = float(np.max(np.abs(r), initial=0.0))
        if gap < SOLVED_GAP or not np.isfinite(gap) or radius < 1e-12:
            break
        if k % PATIENCE == PATIENCE - 1:
            if gap > 0.5 * before:
                break
            before = gap
        if G is None:
            G = problem.jacobian(q)
        step, length = _step_within_limits(G, r, weights, fixed, radius, problem.room(q))
        trial = problem.move(q, step)
        r_trial = problem.residual(trial)
        square, square_trial = float(r @ r), float(r_trial @ r_trial)
        left = r + G @ step
        predicted = square - float(left @ left)
        if predicted < HOPELESS_FRACTION * square and 0.01 * square < radius**2 * sum_of_squares(
            scale_matrix(G, columns=1.0 / weights)
        ):
            break
        # the trust region grows where the linear model holds, shrinks where it does not
        ratio = (square - square_trial) / predicted if predicted > 0.0 else -1.0
        if ratio < BAD_RATIO:
            radius = 0.25 * length
        elif ratio > GOOD_RATIO:
            radius = max(radius, 2.0 * length)
        if square_trial < square:
            q, r, G = trial, r_trial, None
        elif gap < ACCEPTED_GAP:
            break
    return q, float(np.max(np.abs(r), initial=0.0))


def _step_within_limits(
    G: Matrix, r: Array, weights: Array, fixed: Flags, radius: float, room: tuple[Array, Array]
) -> tuple[Array, float]:
    """Return a step and its weighted length; coordinates that would pass their limits stop there, and the others
    compensate."""
    low, high = room
    free = ~fixed
    step = np.zeros(len(weights))
    for _ in range(len(weights)):
        target = -(r + G[:, ~free] @ step[~free])
        if isinstance(G, np.ndarray):
            y = _trust_region_step(G[:, free] / weights[free], target, radius)
        else:
            y = _trust_region_step_sparse(scale_matrix(G[:, free], columns=1.0 / weights[free]), target, radius)
        step[free] = y / weights[free]
        outside = free & ((step < low - 1e-15) | (step > high + 1e-15))
        if not outside.any():
            break
        step = np.where(outside, np.clip(step, low, high), step)
        free &= ~outside
    longest = float(np.max(np.abs(step), initial=0.0))
    if longest > LONGEST_STEP:
        step *= LONGEST_STEP / longest
    return step, float(np.linalg.norm(weights * step))


def _trust_region_step(C: Array, target: Array, radius: float) -> Array:
    """Return the shortest y that minimises |C y − target| within |y| ≤ radius, by the eigenvalues of C Cᵀ (redundant
    rows have none): y = Cᵀ V (S + μ)⁻¹ Vᵀ target, μ from Hebden's iteration on 1/|y|."""
    if not C.shape[1]:
        return np.zeros(0)
    rows = nonzero_row_mask(C)
    C, target = C[rows], target[rows]
    if not len(C):
        return np.zeros(C.shape[1])
    square = C @ C.T
    if not np.isfinite(square).all():  # sizes whose squares are no numbers
        return np.zeros(C.shape[1])
    s, V = np.linalg.eigh(square)
    kept = s > REDUNDANT_FRACTION * max(float(s[-1]), 1e-300)
    s, V = s[kept], V[:, kept]
    b = V.T @ target
    mu = 0.0
    for _ in range(12):
        size = float(np.sqrt(np.sum(s * (b / (s + mu)) ** 2)))
        if size <= 1.05 * radius:
            break
        slope = float(np.sum(s * b**2 / (s + mu) ** 3)) / size
        if not slope > 0.0:
            break
        mu += (size - radius) / radius * size / slope
    return np.asarray(C.T @ (V @ (b / (s + mu))))


def _trust_region_step_sparse(C: Matrix, target: Array, radius: float) -> Array:
    """Return the trust-region step for a sparse C: y = Cᵀ (C Cᵀ + μ)⁻¹ target, with μ from Newton's iteration on 1/|y|
    (Moré, Sorensen 1983), bounded below so that redundant rows do not matter."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    square = (C @ C.T).tocsc()
    diagonal = square.diagonal()
    among = diagonal > 0.0
    if not among.any() or not np.isfinite(diagonal).all():
        return np.zeros(C.shape[1])
    C, target, square = C[among], target[among], square[among][:, among]
    one = eye_array(len(target), format="csc")
    least = SUPPORT_FRACTION * float(np.max(diagonal))
    mu = least
    for _ in range(12):
        factor = splu((square + mu * one).tocsc(), permc_spec="MMD_AT_PLUS_A")
        z = factor.solve(target)
        y = C.T @ z
        size = float(np.linalg.norm(y))
        if size <= 1.05 * radius:
            break
        slope = float(y @ (C.T @ factor.solve(z))) / size
        if not slope > 0.0:
            break
        mu += (size - radius) / radius * size / slope
    if mu == least:
        y = y + C.T @ factor.solve(target - C @ y)
    return np.asarray(y)

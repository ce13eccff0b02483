"""Assembly branches of loops, compared at two positions; change points, at which two branches meet or come closer than
the resolution of positions.

Beyond a change point the given coordinates no longer decide on which side a dyad is. Branches that meet exactly are
smooth there: a curve through the positions before and beyond closes the loops, and the move continues along it. Where
slightly different lengths separate them, the curve leaves a gap of the order of that difference, and the branch is
undecided.

Branches are compared by the orientation of their parts. With U Σ Vᵀ the constraint matrix of what follows at one
position, Uᵀ G V there is Σ, and stays regular as long as no part of a loop passes a position where it is stretched or
folded. So Σ⁻¹ Uᵀ G V of another position has only eigenvalues with positive real parts on the same branch nearby, and a
negative one for each dyad that has changed sides (the orientation of a path in Allgower, Georg, Introduction to
Numerical Continuation Methods, 2003, 2.1, a dyad each).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.failures import format_coordinate
from core.errors import AssemblyError, join_words
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix, is_sparse, to_dense
from core.numerics.rank import least_squares_solver, nonzero_row_mask
from core.numerics.tolerances import SOLVED_GAP
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


Flags = NDArray[np.bool_]

FOLLOWS_TOLERANCE = 1e-6
"""Singular value, relative to the largest one, below which a direction is not determined to first order."""
LARGEST_BLOCK = 300
"""Number of rows or columns of a connected block of a large machine above which the branch of the block is not checked.
"""


class _DependentBlock(NamedTuple):
    """A connected block of rows and columns of G with the singular vectors of its dependent columns."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    left: Array
    sizes: Array
    right: Array

    def smallest_orientation_measure(self, G: Matrix) -> float:
        """Smallest real part of an eigenvalue of Σ⁻¹ Uᵀ G V."""
        if not len(self.sizes):
            return 1.0
        part = to_dense(G[self.rows][:, self.columns])
        inner = (self.left.T @ part @ self.right) / self.sizes[:, None]
        if not np.isfinite(inner).all():
            return -1.0
        return float(np.min(np.linalg.eigvals(inner).real))


class DependentResponse:
    """First-order response of the dependent coordinates to the driven ones, at one closed position."""

    def __init__(self, compiled: CompiledModel, q: Array, fixed: Flags, p: Values) -> None:
        self.compiled, self.q, self.kept, self.p = compiled, q, fixed, p
        self.G = self.matrix(q)
        self._blocks: tuple[_DependentBlock, ...] | None = None

    def matrix(self, q: Array) -> Matrix:
        """Evaluate the constraint matrix G of the position constraints at q."""
        return self.compiled.constraint_matrix(q, self.p)[self.compiled.levels == 0]

    def follow(self, step: Array) -> Array:
        """Return the (nv,) step completed by the first-order response of the dependent coordinates."""
        others = ~self.kept
        target = self.G[:, self.kept] @ step[self.kept]
        follow = np.zeros(self.compiled.nv)
        if is_sparse(self.G):
            follow[others] = -least_squares_solver(self.G[:, others], FOLLOWS_TOLERANCE)(target)
        else:
            for block in self._dependent_blocks():
                follow[block.columns] = -block.right @ ((block.left.T @ target[block.rows]) / block.sizes)
        return step + follow

    def is_same_branch(self, q: Array) -> bool:
        """Return True if all loops are on the same assembly branch at another closed position nearby."""
        G = self.matrix(q)
        return all(block.smallest_orientation_measure(G) > 0.0 for block in self._dependent_blocks())

    def _dependent_blocks(self) -> tuple[_DependentBlock, ...]:
        if self._blocks is None:
            self._blocks = tuple(
                _dependent_block(self.G, *part) for part in _connected_blocks(self.G, np.flatnonzero(~self.kept))
            )
        return self._blocks


def _dependent_block(G: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> _DependentBlock:
    left, sizes, right = np.linalg.svd(to_dense(G[rows][:, columns]), full_matrices=False)
    kept = sizes > FOLLOWS_TOLERANCE * np.max(sizes, initial=0.0)
    return _DependentBlock(rows, columns, left[:, kept], sizes[kept], right[kept].T)


def _connected_blocks(G: Matrix, columns: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(rows, columns) of the connected blocks of G: a single block if G is small, else the blocks that are not too
    large."""
    if not len(columns):
        return []
    if not is_sparse(G):
        rows = np.flatnonzero(nonzero_row_mask(G[:, columns]))
        return [(rows, columns)] if len(rows) else []
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    part = G[:, columns]
    count = part.shape[0]
    _, labels = connected_components(block_array([[None, part], [part.T, None]], format="csr"), directed=False)
    found = []
    for label in np.unique(labels[count:]):
        rows = np.flatnonzero(labels[:count] == label)
        own = np.flatnonzero(labels[count:] == label)
        if 0 < len(rows) <= LARGEST_BLOCK and len(own) <= LARGEST_BLOCK:
            found.append((rows, columns[own]))
    return found


PLACES = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Fractions of the step at which the closure error of the curve is evaluated."""
TURNING_SHARE = 0.05
"""Smallest entry of the undecided direction, relative to its largest one, for which the message names the joint."""


class UndecidedBranchError(AssemblyError):
    """Error for a motion through a change point beyond which the given coordinates do not determine the branch."""


def branches_meet_exactly(before: DependentResponse, after: DependentResponse, step: Array) -> bool:
    """Return True if the cubic curve between two closed positions, with the rates of both, keeps the loops closed.

    step : (nv,) displacement of what is held from one to the other
    """
    compiled, p = before.compiled, before.p
    gone = compiled.coordinates.speeds_between(before.q, after.q)
    first, last = before.follow(step), after.follow(step)
    for x in PLACES:
        cubic = gone * x * x * (3.0 - 2.0 * x) + first * x * (1.0 - x) ** 2 - last * x * x * (1.0 - x)
        at = compiled.coordinates.integrate_within_limits(before.q, cubic)
        gap = np.abs(compiled.call("constraint_residual", at, p=p)) * (compiled.levels == 0)
        if not float(np.max(gap, initial=0.0)) < SOLVED_GAP:
            return False
    return True


def least_determined_motion(response: DependentResponse, q_after: Array) -> tuple[float, Array]:
    """Return (ratio, (nv,) direction) of the dependent motion that the constraints determine least: its singular value
    over the largest. For machines with sparse equations, 1 and zeros."""
    free = ~response.kept
    direction = np.zeros(response.compiled.nv)
    if is_sparse(response.G) or not free.any():
        return 1.0, direction
    _, sizes, right = np.linalg.svd(response.matrix(q_after)[:, free])
    following = right[: len(sizes)][sizes > FOLLOWS_TOLERANCE * np.max(sizes, initial=0.0)].T
    if not following.shape[1]:
        return 1.0, direction
    _, sizes, right = np.linalg.svd(response.G[:, free] @ following)
    direction[free] = following @ right[-1]
    least = sizes[-1] if len(sizes) == following.shape[1] else 0.0
    return float(least / np.max(sizes, initial=1e-300)), direction


def build_undecided_error(response: DependentResponse, q_after: Array) -> UndecidedBranchError:
    """Build the error that names the given coordinates, the joints that could follow either branch, and their loops."""
    compiled, q = response.compiled, response.q
    turning = np.abs(least_determined_motion(response, q_after)[1])
    joints = _joints_of_speeds(response, turning > TURNING_SHARE * np.max(turning, initial=0.0))
    held = _joints_of_speeds(response, response.kept)
    at = join_words([f"'{each.name}' at {format_coordinate(x, each.dimension)}"
                 for x, each in zip(q, compiled.coordinates.table, strict=True) if each.joint in held])  # fmt: skip
    loops = [", ".join(loop.joints) for loop in compiled.loops if set(joints) & set(loop.joints)]
    names = join_words([repr(name) for name in joints])
    error = UndecidedBranchError(
        f"With {at}, {names} can follow either of two branches, and the given coordinates do not determine which.",
        where=f"loop{'s' if len(loops) > 1 else ''} {' and '.join(loops)}",
        remedy="Also give a coordinate of one of these joints, or start beyond this position on the intended branch,"
        " or make the lengths equal, or differ more.",
    )
    error.q = q
    return error


def _joints_of_speeds(response: DependentResponse, speeds: NDArray[np.bool_]) -> list[str]:
    """Return the joints to which any of the selected speeds (mask nv,) belongs."""
    own = response.compiled.coordinates
    return [joint for joint in own.joints if speeds[own.slice_v(joint)].any()]

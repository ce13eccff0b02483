"""Matrices whose rank a machine loses at singular poses, their slopes, and Newton's method to the nearest such pose.

The rows of a frame's motion are [ω; v / size] or v / size, the columns motions that joints and constraints leave, in
units of the machine: no rad is compared with m. For closed machines with motions N of the constraints G, and rows A
that pick the actuators, J N loses rank in a singularity of type 1, A N in one of type 2 (C. Gosselin, J. Angeles, IEEE
Trans. Robotics and Automation 6(3), 1990), and G itself where branches meet.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.constraints.mobility.constraint_rank import PositionConstraints, rank_from_singular_values
from core.constraints.rest_position import reference_position
from core.mechanism import Mechanism
from core.mechanism.operational_space import Part
from core.mechanism.singularity_results import SingularityKind
from core.numerics.matrix_forms import to_dense
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]

STEPS = 16
"""Largest number of Newton steps to a singular pose."""
TRIAL_STEPS, HOPELESS = 5, 0.8
"""Number of steps after which the singular value has to have fallen below this share of its first value."""
LONGEST_STEP = 0.7
"""Longest of them (rad, machine sizes)."""
SINGULAR, SINGULAR_CLOSED = 1e-9, 1e-7
"""Singular value (in units of the machine) at which a pose is singular, and for loops, which close to a tolerance."""
NULL = 1e-6
"""Singular value, by the largest, up to which a direction belongs to the null space of a singular pose."""
FLAT = 1e-7
"""Slope of a singular value below which it leads nowhere."""
DIFFERENCE = 1e-5
"""Displacement (rad, machine sizes) of the differences with which slopes of closed machines are formed."""
SAMPLES = 8
"""Number of random poses of an open chain with which a pose is compared."""


class FrameRows(NamedTuple):
    """Motion of a frame that counts. size : m that counts like 1 rad; rank : of the motion at general poses"""

    frame: str
    part: Part
    size: float
    rank: int

    @property
    def weights(self) -> Array:
        """(6,) factors of the rows [ω; v], zero for those that do not count."""
        turns = 0.0 if self.part == "translation" else 1.0
        slides = 0.0 if self.part == "rotation" else 1.0 / self.size
        return np.repeat([turns, slides], 3)


class OpenMatrix:
    """Jacobian (6, k) of a frame of a machine without constraints, for k actuated speeds, the others at rest."""

    kind: SingularityKind = "type 1"
    tolerance = SINGULAR

    def __init__(self, mech: Mechanism, rows: FrameRows, p: Array, columns: NDArray[np.intp], units: Array) -> None:
        self.mech, self.rows, self.p, self.columns = mech, rows, p, columns
        self.units = units
        self._motions = np.zeros((mech.nv, len(columns)))
        self._motions[columns, np.arange(len(columns))] = units[columns]
        self.rank = min(rows.rank, len(columns))

    def motions(self, q: Array) -> Array:
        """(nv, k) motions that the columns belong to."""
        return self._motions

    def matrix(self, q: Array) -> Array:
        """(…, 6, k) matrix at positions (…, nq)."""
        J = np.asarray(self.mech.jacobian(q, self.rows.frame, p=self.p))
        return np.asarray(self.rows.weights[:, None] * J[..., self.columns] * self.units[self.columns])

    def slopes(self, q: Array, V: Array) -> Array:
        """(k, 6, c) slopes of the matrix times V (k, c) along each motion."""
        count = len(self.columns)
        at = np.broadcast_to(q, (count, len(q)))
        rates = np.asarray(self.mech.jacobian_rate(at, self._motions.T, self.rows.frame, p=self.p))
        return np.asarray((self.rows.weights[:, None] * rates[..., self.columns] * self.units[self.columns]) @ V)

    def displaced(self, q: Array, step: Array) -> Array | None:
        """Position after a displacement (k,) along the motions."""
        return np.asarray(self.mech.integrate(q, self._motions @ step, 1.0))

    @cached_property
    def best(self) -> float:
        """Largest value of the smallest singular value at other poses."""
        rng = np.random.default_rng(1)
        Q = np.array([self.mech.random(rng) for _ in range(SAMPLES)])
        sigma = np.linalg.svd(self.matrix(Q), compute_uv=False)
        return float(np.max(sigma[:, self.rank - 1], initial=0.0)) if self.rank else 0.0


class ClosedMatrix:
    """Matrix of a machine with constraints; see `OutputMatrix`, `ActuatorMatrix` and `LoopMatrix`."""

    kind: SingularityKind
    tolerance = SINGULAR_CLOSED

    def __init__(self, mech: Mechanism, constraints: PositionConstraints, p: Array, rank: int) -> None:
        self.mech, self.constraints, self.p, self.rank = mech, constraints, p, rank
        self.units = constraints.speed_units

    def motions(self, q: Array) -> Array:
        """(nv, k) motions that the constraints leave."""
        return self.constraints.free_motions(q)

    def matrix(self, q: Array) -> Array:
        """(r, c) matrix at a position (nq,)."""
        raise NotImplementedError

    def slopes(self, q: Array, V: Array) -> Array:
        """(k, r, m) slopes of the matrix times V (c, m) along each motion."""
        raise NotImplementedError

    def displaced(self, q: Array, step: Array) -> Array | None:
        """Position after a displacement (k,) along the motions, closed again; None if it does not close."""
        found, gap = self.constraints.closed(self.constraints.displace(q, self.motions(q) @ step))
        return found if gap < ACCEPTED_GAP else None

    def neighbours(self, q: Array) -> tuple[Array, Array]:
        """(k, nq) positions before and behind q along each motion."""
        moves = self.motions(q).T
        return tuple(  # type: ignore[return-value]
            np.array([self.constraints.displace(q, sign * DIFFERENCE * move) for move in moves]).reshape(-1, len(q))
            for sign in (-1.0, 1.0)
        )

    def constraint_slopes(self, q: Array, b: Array) -> Array:
        """(k, rows, m) slopes of G b, scaled, for b (nv, m) in units of the machine."""
        before, behind = self.neighbours(q)
        return np.array(
            [
                (to_dense(self.constraints.scaled_jacobian(y)) - to_dense(self.constraints.scaled_jacobian(x)))
                @ b
                / (2.0 * DIFFERENCE)
                for x, y in zip(before, behind, strict=True)
            ]
        )

    def motion_slopes(self, q: Array, b: Array) -> Array:
        """(k, nv, m) slopes, in units of the machine, of motions b (nv, m) that the constraints leave."""
        change = self.constraint_slopes(q, b)
        k, rows, m = change.shape
        G = to_dense(self.constraints.scaled_jacobian(q))
        found = np.linalg.lstsq(G, np.moveaxis(change, 0, 1).reshape(rows, k * m), rcond=1e-9)[0]
        return np.asarray(-np.moveaxis(found.reshape(-1, k, m), 1, 0))

    @cached_property
    def best(self) -> float:
        """Largest value of the smallest singular value at other poses."""
        start = reference_position(self.mech.compiled, self.p)
        found = [self.smallest(q) for q in (start, *self.constraints.sample_poses_near(start))]
        return max(found, default=0.0)

    def smallest(self, q: Array) -> float:
        """Singular value that vanishes at a singular pose."""
        sigma = np.linalg.svd(self.matrix(q), compute_uv=False)
        return float(sigma[self.rank - 1]) if 0 < self.rank <= len(sigma) else 0.0


class OutputMatrix(ClosedMatrix):
    """J N, the motion of a frame (6, k)."""

    kind: SingularityKind = "type 1"

    def __init__(self, mech: Mechanism, constraints: PositionConstraints, p: Array, rows: FrameRows) -> None:
        super().__init__(mech, constraints, p, rows.rank)
        self.rows = rows

    def _jacobian(self, q: Array) -> Array:
        J = np.asarray(self.mech.jacobian(q, self.rows.frame, p=self.p))
        return np.asarray(self.rows.weights[:, None] * J)

    def matrix(self, q: Array) -> Array:
        return self._jacobian(q) @ self.motions(q)

    def slopes(self, q: Array, V: Array) -> Array:
        b = self.motions(q) @ V
        before, behind = self.neighbours(q)
        of_jacobian = (self._jacobian(behind) - self._jacobian(before)) @ b / (2.0 * DIFFERENCE)
        of_motion = self.units[:, None] * self.motion_slopes(q, b / self.units[:, None])
        return np.asarray(of_jacobian + self._jacobian(q) @ of_motion)


class ActuatorMatrix(ClosedMatrix):
    """A N, the speeds of the actuators (k, k)."""

    kind: SingularityKind = "type 2"

    def __init__(self, mech: Mechanism, constraints: PositionConstraints, p: Array, actuators: Actuators) -> None:
        super().__init__(mech, constraints, p, len(actuators.indices))
        self.indices = list(actuators.indices)

    def matrix(self, q: Array) -> Array:
        return np.asarray((self.motions(q) / self.units[:, None])[self.indices])

    def slopes(self, q: Array, V: Array) -> Array:
        b = self.motions(q) @ V / self.units[:, None]
        return self.motion_slopes(q, b)[:, self.indices]


class LoopMatrix(ClosedMatrix):
    """The constraints G themselves (rows, nv)."""

    kind: SingularityKind = "constraints"

    def matrix(self, q: Array) -> Array:
        return to_dense(self.constraints.scaled_jacobian(q))

    def slopes(self, q: Array, V: Array) -> Array:
        return self.constraint_slopes(q, V)


SingularMatrix = OpenMatrix | ClosedMatrix


class NullVectors(NamedTuple):
    """Left and right null vectors of a matrix."""

    left: Array
    right: Array


def find_singular_pose(machine: SingularMatrix, q: Array, *, steps: int = STEPS) -> Array | None:
    """Singular pose next to q (nq,), by Newton's method along the gradient of the smallest singular value; None if
    there is none in sight."""
    if not machine.rank:
        return None
    first = np.inf
    for count in range(steps):
        U, sigma, VT = np.linalg.svd(machine.matrix(q))
        value = float(sigma[machine.rank - 1]) if machine.rank <= len(sigma) else 0.0
        if value < machine.tolerance:
            return q
        first = value if count == 0 else first
        if count >= TRIAL_STEPS and value > HOPELESS * first:
            return None
        step = _newton_step(machine, q, U[:, machine.rank - 1], VT[machine.rank - 1 :].T, value)
        if step is None:
            return None
        found = machine.displaced(q, step)
        if found is None:
            return None
        q = found
    return None


def _newton_step(machine: SingularMatrix, q: Array, left: Array, right: Array, value: float) -> Array | None:
    """Shortest displacement (k,) with which, to first order, the singular value (left: its vector; right (c, m): its
    vector and those of the null space) vanishes, and no other takes its place; None if it does not change."""
    slopes = np.einsum("r,krm->mk", left, machine.slopes(q, right))
    if not np.linalg.norm(slopes[0]) > FLAT:
        return None
    wanted = np.zeros(len(slopes))
    wanted[0] = -value
    step = np.linalg.lstsq(slopes, wanted, rcond=FLAT)[0]
    return np.asarray(step * min(1.0, LONGEST_STEP / max(float(np.linalg.norm(step)), 1e-300)))


def null_vectors(
    machine: SingularMatrix, q: Array, along: Array | None = None, parts: tuple[Array, Array, Array] | None = None
) -> NullVectors | None:
    """Null vectors of a matrix at a singular pose; None if its rank is full there. Where it loses more than one
    direction, those that the displacement `along` (k,) brings back count, without one those of the steepest slope.

    parts : singular value decomposition of the matrix, if it is known
    """
    U, sigma, VT = np.linalg.svd(machine.matrix(q)) if parts is None else parts
    rank = int(np.sum(sigma > NULL * max(float(sigma[0]), 1e-300))) if len(sigma) else 0
    if rank >= machine.rank:
        return None
    left, right = U[:, rank:], VT[rank:].T
    if left.shape[1] == right.shape[1] == 1:
        return NullVectors(left[:, 0], right[:, 0])
    slopes = np.einsum("rl,krm->klm", left, machine.slopes(q, right))
    if along is None:
        along = np.linalg.svd(slopes.reshape(len(slopes), -1))[0][:, 0]
    best_left, size, best_right = np.linalg.svd(np.einsum("k,klm->lm", along, slopes))
    if not size[0] > FLAT:
        return NullVectors(left[:, 0], right[:, 0])
    return NullVectors(left @ best_left[:, 0], right @ best_right[0])


def generic_rank(constraints: PositionConstraints, p: Array) -> int:
    """Rank of the constraints at general poses."""
    start = reference_position(constraints.compiled, p)
    ranks = [
        rank_from_singular_values(np.linalg.svd(to_dense(constraints.scaled_jacobian(q)), compute_uv=False))
        for q in (start, *constraints.sample_poses_near(start))
    ]
    return max(ranks, default=0)

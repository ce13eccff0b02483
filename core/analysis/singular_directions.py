"""Directions lost at a pose: motions of a frame or joint that are impossible here but possible at other poses.

No measure mixes rad and m. A frame's motions are judged in three parts: its translations, its rotations, and its
rotations in place, those of joint motions that let its origin stand. Each part is a matrix of velocities per unit of
joint speeds, lengths in sizes of the machine; a direction is one of its left singular vectors, and what is left of it
its singular value as a share of the best one of its rank at other poses. What constraints, or actuators that are held,
no longer hold is told likewise from singular values, a joint that stands still from its own speeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators, default_actuators
from core.constraints.mobility.constraint_rank import PositionConstraints, rank_from_singular_values
from core.constraints.rest_position import reference_position
from core.errors import AssemblyError
from core.later import dataclass
from core.mechanism import Mechanism
from core.numerics.matrix_forms import to_dense
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]
Part = Literal["translation", "rotation", "rotation in place"]

NEAR_SINGULAR_FRACTION = 0.1
"""Remaining share of mobility below which a pose counts as near-singular."""
STANDSTILL_FRACTION = 1e-7
"""Remaining share of mobility below which a direction counts as lost, and a joint as immobile."""
SAMPLES = 6
"""Number of random poses of an open chain with which a pose is compared."""
STEP = 1e-3
"""Displacement (rad, or machine sizes) to the neighbouring poses that show which of several unreachable directions is
lost."""
SAME_DIRECTION = 0.99
"""Cosine of the angle above which two directions count as the same."""


@dataclass(frozen=True)
class LostDirection:
    """A direction (3,), world axes, in which a frame cannot move at this pose, and the remaining share of its mobility,
    0 … 1."""

    frame: str
    part: Part
    direction: Array
    share: float


class LeastResistedMotion(NamedTuple):
    """The motion (nv,) that constraints, or locked actuators, resist least, and the remaining share of that
    resistance."""

    speeds: Array
    share: float


class _PoseMatrices(NamedTuple):
    """Matrices of a pose, lengths in machine sizes: translation and rotation of the frame (3, k), relative motions of
    joints (n, 6, k), nonzero singular values of the constraints, actuator speeds (m, k)."""

    translation: Array
    rotation: Array
    joints: Array
    constraints: Array
    actuators: Array


class SingularDirections:
    """Singularities at the poses of a machine, for a frame ("" for none) and parameter values."""

    def __init__(self, mech: Mechanism, frame: str = "", p: Mapping[str, float] | None = None) -> None:
        self.mech, self.frame, self.p = mech, frame if frame in mech.frame_names else "", p
        self.constraints = PositionConstraints(mech.compiled, p, drivers=False)
        self.joints = tuple(
            joint for joint in mech.model.expanded.joints if joint.info.nv == 1 and joint.name in mech.joint_names
        )
        """Those that can stand still: with one freedom."""

    @cached_property
    def actuators(self) -> Actuators:
        """Default actuators, locked to find motions that they do not control."""
        return default_actuators(self.mech.compiled)

    # ----------------------------------------------------------------------------- asking

    def lost_frame_directions(self, q: Array) -> tuple[LostDirection, ...]:
        """Directions in which the frame cannot move, or hardly can, at a closed pose."""
        if not self.frame:
            return ()
        parts = self._pose_matrices(q)
        known = self._reference_values
        found = self._lost_directions(q, "translation", parts.translation, known.translation)
        turns = self._lost_directions(q, "rotation", parts.rotation, known.rotation)
        in_place = self._lost_directions(
            q, "rotation in place", self._rotations_in_place(parts, len(known.translation)), known.in_place
        )
        new = (each for each in in_place if not any(abs(each.direction @ o.direction) > SAME_DIRECTION for o in turns))
        return (*found, *turns, *new)

    def immobile_joints(self, q: Array) -> dict[str, float]:
        """One-coordinate joints that cannot move here, or hardly can, but move at other poses: name → remaining share
        of the speed."""
        if not self.constraints.rows:
            return {}
        now, best = _largest_joint_speeds(self._pose_matrices(q).joints), self._reference_values.joints
        shares = {
            joint.name: float(speed / most)
            for joint, speed, most in zip(self.joints, now, best, strict=True)
            if most > STANDSTILL_FRACTION
        }
        return {name: _rounded_share(share) for name, share in shares.items() if share < NEAR_SINGULAR_FRACTION}

    def least_constrained_motion(self, q: Array) -> LeastResistedMotion | None:
        """The motion that the constraints barely resist here but resist firmly at other poses; None if there is none,
        or if the motion is entirely free."""
        best = self._reference_values.constraints
        rank = len(best)
        if not rank or not self.constraints.rows:
            return None
        _, sigma, vt = np.linalg.svd(to_dense(self.constraints.scaled_jacobian(q)))
        share = float(sigma[rank - 1] / best[-1])
        if rank_from_singular_values(sigma) < rank or not share < NEAR_SINGULAR_FRACTION:
            return None
        return LeastResistedMotion(self.constraints.speed_units * vt[rank - 1], share)

    def least_controlled_motion(self, q: Array) -> LeastResistedMotion | None:
        """The motion that is possible, or nearly possible, with all actuators locked: a singularity of the second type
        (see `core.analysis.actuators`). None if there is none, or if more free motions exist here than at other poses.
        """
        best = self._reference_values.actuators
        N = self.constraints.free_motions(q)
        if not self.constraints.rows or not len(best) or N.shape[1] != len(best):
            return None
        _, sigma, right = np.linalg.svd(self._actuator_speeds(N))
        share = float(sigma[-1] / best[-1])
        return LeastResistedMotion(N @ right[-1], _rounded_share(share)) if share < NEAR_SINGULAR_FRACTION else None

    # ----------------------------------------------------------------------------- measuring

    def _actuator_speeds(self, N: Array) -> Array:
        """(m, k) actuator speeds in motions (nv, k), in units of the machine."""
        return (N / self.constraints.speed_units[:, None])[list(self.actuators.indices)]

    def body_twists(self, q: Array, N: Array) -> dict[str, Array]:
        """Body or frame → (6, k) [ω; v of its origin], rad/s and m/s, world axes, for speeds N (nv, k)."""
        mech = self.mech
        return dict(zip(mech.frame_names, np.asarray(mech.frames_jacobian(q, p=self.p)) @ N, strict=True))

    def joint_twists(self, q: Array, twists: Mapping[str, Array]) -> Array:
        """(joints, 6, k) twist of each one-coordinate joint's child relative to its parent, at the joint."""
        mech = self.mech
        places = dict(zip(mech.frame_names, np.asarray(mech.poses(q, self.p))[:, :3, 3], strict=True))
        frames = mech.joint_poses(q, self.p)
        k = next(iter(twists.values())).shape[1] if twists else 0
        found = np.zeros((len(self.joints), 6, k))
        for row, joint in enumerate(self.joints):
            point = frames[joint.name][1][:3, 3]
            for side, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                if side in twists:
                    V = twists[side]
                    found[row, :3] += sign * V[:3]
                    found[row, 3:] += sign * (V[3:] + np.cross(V[:3], (point - places[side])[:, None], axis=0))
        return found

    def _pose_matrices(self, q: Array) -> _PoseMatrices:
        constraints, size = self.constraints, self.constraints.size
        N = constraints.free_motions(q)
        twists = self.body_twists(q, N)
        relative = self.joint_twists(q, twists)
        relative[:, 3:] /= size
        frame = twists.get(self.frame, np.zeros((6, N.shape[1])))
        sigma = (
            np.linalg.svd(to_dense(constraints.scaled_jacobian(q)), compute_uv=False)
            if constraints.rows
            else np.zeros(0)
        )
        held = np.asarray(sigma[: rank_from_singular_values(sigma)], dtype=np.float64)
        return _PoseMatrices(frame[3:] / size, frame[:3], relative, held, self._actuator_speeds(N))

    @staticmethod
    def _rotations_in_place(matrices: _PoseMatrices, rank: int) -> Array:
        """(3, k) rotations in motions that leave the frame's origin fixed; rank : of the frame's translations at other
        poses"""
        return matrices.rotation @ np.linalg.svd(matrices.translation)[2][rank:].T

    @cached_property
    def _reference_values(self) -> _ReferenceValues:
        """Largest singular values at other poses."""
        every = [self._pose_matrices(q) for q in self._comparison_poses()]
        translation = _elementwise_maximum(_nonzero_singular_values(each.translation) for each in every)
        return _ReferenceValues(
            translation,
            _elementwise_maximum(_nonzero_singular_values(each.rotation) for each in every),
            _elementwise_maximum(
                _nonzero_singular_values(self._rotations_in_place(each, len(translation))) for each in every
            ),
            np.max([_largest_joint_speeds(each.joints) for each in every], axis=0)
            if every
            else np.zeros(len(self.joints)),
            _elementwise_maximum(each.constraints for each in every),
            _elementwise_maximum(_nonzero_singular_values(each.actuators) for each in every),
        )

    def _comparison_poses(self) -> Iterable[Array]:
        """Fixed set of poses for comparison; empty if the machine does not close in the reference configuration."""
        if not self.mech.nv:
            return
        constraints, compiled = self.constraints, self.mech.compiled
        if not constraints.rows:
            rng = np.random.default_rng(1)
            yield from (compiled.coordinates.random(rng) for _ in range(SAMPLES))
            return
        try:
            q, gap = constraints.closed(reference_position(compiled, self.p))
        except AssemblyError:
            return
        if gap < ACCEPTED_GAP:
            yield q
            yield from constraints.sample_poses_near(q)

    def _lost_directions(self, q: Array, part: Part, matrix: Array, reference_values: Array) -> list[LostDirection]:
        rank = len(reference_values)
        if not rank or not matrix.shape[1]:
            return []
        u, sigma, _ = np.linalg.svd(matrix)
        shares = np.concatenate([sigma, np.zeros(3)])[:rank] / reference_values
        gone = shares < STANDSTILL_FRACTION
        near = (shares < NEAR_SINGULAR_FRACTION) & ~gone
        directions = list(zip(u[:, :rank].T[near], shares[near], strict=True))
        if gone.any():
            across = u[:, rank - int(gone.sum()) :]
            if rank < 3:  # not all of them were ever there
                across = self._directions_reachable_nearby(q, part, across, int(gone.sum()))
            directions += [(each, 0.0) for each in across.T]
        return [LostDirection(self.frame, part, each, float(share)) for each, share in directions]

    def _directions_reachable_nearby(self, q: Array, part: Part, directions: Array, count: int) -> Array:
        """(3, count) the ones among the directions (3, k) in which the frame can move at neighbouring poses."""
        constraints, found = self.constraints, []
        for direction in constraints.free_motions(q).T:
            for sign in (STEP, -STEP):
                there, gap = constraints.closed(constraints.displace(q, sign * direction))
                if gap < ACCEPTED_GAP:
                    parts = self._pose_matrices(there)
                    in_place = part == "rotation in place"
                    rank = len(self._reference_values.translation)
                    found.append(self._rotations_in_place(parts, rank) if in_place else getattr(parts, part))
        u, _, _ = np.linalg.svd(directions.T @ np.concatenate([np.zeros((3, 1)), *found], axis=1))
        return np.asarray(directions @ u[:, :count])


class _ReferenceValues(NamedTuple):
    """Largest singular values at other poses, as many as are nonzero, and the largest speed of each joint."""

    translation: Array
    rotation: Array
    in_place: Array
    joints: Array
    constraints: Array
    actuators: Array


def _nonzero_singular_values(matrix: Array) -> Array:
    """Nonzero singular values."""
    sigma = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return np.asarray(sigma[: rank_from_singular_values(sigma)])


def _elementwise_maximum(vectors: Iterable[Array]) -> Array:
    """Largest number at each index over several rows, considering only the longest rows."""
    rows = list(vectors)
    rank = max((len(row) for row in rows), default=0)
    longest = [row for row in rows if len(row) == rank]
    return np.max(longest, axis=0) if rank else np.zeros(0)


def _largest_joint_speeds(joints: Array) -> Array:
    """(n,) largest relative speed of each joint per unit norm of all speeds."""
    return np.linalg.norm(joints, ord=2, axis=(1, 2)) if joints.size else np.zeros(len(joints))


def _rounded_share(share: float) -> float:
    return 0.0 if share < STANDSTILL_FRACTION else share

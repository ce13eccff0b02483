"""Batch solver of poses that attain a frame's position, attitude or plane, or given coordinates, with closed loops and
within joint limits.

Levenberg–Marquardt in machine code, target by target (`core.constraints.newton.attaining`); for machines that it does
not take, by NumPy for all targets together. A coordinate at a limit through which it would be pushed takes no part in a
step, as in `core.analysis.inverse_kinematics`.

A branch of a machine with loops is followed from actuator coordinates. With G v = 0 and the actuators' speeds A v = u,
rows of [G; A] that are independent at the first pose keep the sign of their determinant as long as no singularity of
the second type lies between: a pose with the other sign is on another branch (C. Gosselin, J. Angeles, IEEE Trans.
Robotics and Automation 6(3), 1990).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.spatial import cKDTree

from core.constraints.cut_coordinates import BEYOND, cut_joint_motion, cut_limits
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.newton.attaining import (
    FIRST_DAMPING,
    LARGEST_DAMPING,
    LONGEST,
    SMALLEST_DAMPING,
    TOLERANCE,
)
from core.constraints.newton.availability import has_newton
from core.constraints.rest_position import characteristic_length, speed_units
from core.joints import quaternions
from core.mechanism import Mechanism
from core.numerics.tolerances import RANK_TOLERANCE
from core.studies.workspace.joint_ranges import JointRanges

Array = NDArray[np.float64]
Places = NDArray[np.intp]

SETTLED_FRACTION = 1e-3
"""Decrease of the squared residual in a step, relative to it, below which there is no progress."""
ITERATIONS = 40

Flags = NDArray[np.bool_]
FARTHEST = 8.0
"""Largest change of a coordinate (rad, or machine sizes) relative to that of the actuators; a larger one is a jump to
another branch or the end of this branch."""
SMALLEST_STEP = 0.02
"""Change of actuators, rad or machine sizes, below which ratios are not computed."""


class SolvedPoses(NamedTuple):
    """Solutions: poses q (n, nq); met : mask (n,) of targets that are met."""

    q: Array
    met: NDArray[np.bool_]


class PoseTargets(NamedTuple):
    """Targets of n poses; None: unrestricted.

    place : (n, 3) m, world; rotation : (n, 3, 3); plane : (normal (3,), offset m) in which the frame is to lie
    coordinates : (places in q, places in v, values (n, k)).
    """

    place: Array | None = None
    rotation: Array | None = None
    plane: tuple[Array, float] | None = None
    coordinates: tuple[Places, Places, Array] | None = None

    def select(self, indices: Places) -> PoseTargets:
        """Return the targets of these indices."""
        given = self.coordinates
        return PoseTargets(
            None if self.place is None else self.place[indices],
            None if self.rotation is None else self.rotation[indices],
            self.plane,
            None if given is None else (given[0], given[1], given[2][indices]),
        )


def _ignore_progress() -> None:
    """Do nothing, as progress observer."""


@dataclass(frozen=True)
class MappedMachine:
    """Machine together with the frame that a map observes.

    p : (n_p,); lower, upper : (nq,) between which coordinates stay, default their limits; free : (nv,) speeds that may
    take part in a step, default all; turning : places in q of angles without bounds, and from where their turns are
    counted; look : is called between iterations, and raises what is to end the work
    """

    mech: Mechanism
    frame: str
    p: Array
    lower: Array | None = None
    upper: Array | None = None
    free: NDArray[np.bool_] | None = None
    turning: tuple[Places, Array] | None = None
    look: Callable[[], object] = _ignore_progress

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper bounds, (nq,) each."""
        own = self.mech.compiled.coordinates
        lower = own.lower if self.lower is None else self.lower
        upper = own.upper if self.upper is None else self.upper
        return lower, np.maximum(lower, upper)

    @cached_property
    def scalar_coordinate_indices(self) -> tuple[Places, Places]:
        """Indices in q and in v of the coordinates whose rates are speeds."""
        mech = self.mech
        index: list[int] = []
        speed: list[int] = []
        for joint in dict.fromkeys(coordinate.joint for coordinate in mech.coordinates):
            in_q, in_v = range(mech.nq)[mech.joint_q(joint)], range(mech.nv)[mech.joint_v(joint)]
            if len(in_q) == len(in_v):
                index += in_q
                speed += in_v
        return np.array(index, dtype=np.intp), np.array(speed, dtype=np.intp)

    def clip_to_bounds(self, q: Array) -> Array:
        """Clip poses (n, nq) to the bounds, and normalise quaternions."""
        found = np.clip(q, *self.bounds)
        for first in self.mech.compiled.coordinates.quaternions:
            found[:, first : first + 4] = quaternions.normalise_quaternion(found[:, first : first + 4])
        return found

    @cached_property
    def size(self) -> float:
        """Characteristic size of the machine, m."""
        return characteristic_length(self.mech.compiled, self.p)

    @cached_property
    def speed_units(self) -> Array:
        """Scale (nv,) of speeds: the machine's size for translations, 1 for rotations."""
        return speed_units(self.mech.compiled, self.p)

    @cached_property
    def closing(self) -> PositionConstraints | None:
        """Position constraints of joints and constraint elements, without drivers, which are actuators here."""
        found = PositionConstraints(self.mech.compiled, self.p, drivers=False)
        return found if found.rows else None

    @cached_property
    def residual_rows(self) -> NDArray[np.intp]:
        """Indices of the constraint residuals that restrict positions."""
        assert self.closing is not None
        levels = [row.level for row in self.closing.names]
        return self.closing.kept[np.array(levels) == 0]

    @cached_property
    def residual_units(self) -> Array:
        """Scale (rows,) of the constraint residuals."""
        assert self.closing is not None
        levels = [row.level for row in self.closing.names]
        return self.closing.row_units[np.array(levels) == 0]

    def remove_full_turns(self, q: Array) -> Array:
        """Reduce angles without bounds (n, nq) by full turns."""
        if self.turning is not None:
            index, base = self.turning
            q[:, index] = base + np.mod(q[:, index] - base, 2.0 * np.pi)
        return q

    def poses(self, q: Array) -> Array:
        """Compute frame poses (n, 4, 4), world ← frame."""
        return np.asarray(self.mech.frame(q, self.frame, p=self.p))

    def frame_positions(self, q: Array) -> Array:
        """Compute positions (n, 3) of the frame's origin, m, world."""
        return np.ascontiguousarray(self.poses(q)[..., :3, 3])

    def frame_jacobians(self, q: Array) -> Array:
        """Compute Jacobians (n, 6, nv), rows [ω; v], of the frame's origin in world axes."""
        return np.asarray(self.mech.jacobian(q, self.frame, p=self.p))

    def constraint_residuals(self, q: Array) -> Array:
        """Compute residuals (n, rows) of loops and constraints, in machine units."""
        return np.asarray(self.mech.constraint_residual(q, p=self.p))[:, self.residual_rows] / self.residual_units

    def constraint_residual_slopes(self, q: Array) -> Array:
        """Compute derivatives (n, rows, nv) of the residuals along the speeds."""
        return (
            np.asarray(self.mech.constraint_jacobian(q, p=self.p))[:, self.residual_rows] / self.residual_units[:, None]
        )


def solve_poses(
    machine: MappedMachine,
    q: Array,
    targets: PoseTargets,
    *,
    iterations: int = ITERATIONS,
    settle: float = SETTLED_FRACTION,
) -> SolvedPoses:
    """Solve for poses near q (n, nq) that meet the targets within the bounds."""
    q = np.asarray(q, dtype=float)
    if not len(q) or not has_newton(machine.mech.compiled):
        return solve_poses_together(machine, q, targets, iterations=iterations, settle=settle)
    from core.constraints.newton.pose_newton import AskedPoses, PoseUnits, borrow_pose_newton

    closing = machine.closing is not None
    kept, row_units = (machine.residual_rows, machine.residual_units) if closing else (np.zeros(0, int), np.zeros(0))
    units = PoseUnits(kept, row_units, machine.speed_units, machine.size, machine.free)
    count = 0 if targets.coordinates is None else len(targets.coordinates[0])
    with borrow_pose_newton(machine.mech.compiled, machine.frame, len(kept), count) as newton:
        newton.prepare(machine.p, machine.bounds, units, AskedPoses(*targets))
        found, met = newton.attain(q, iterations, settle, machine.look)
    return SolvedPoses(machine.remove_full_turns(found), met)


def solve_poses_together(
    machine: MappedMachine,
    q: Array,
    targets: PoseTargets,
    *,
    iterations: int = ITERATIONS,
    settle: float = SETTLED_FRACTION,
) -> SolvedPoses:
    """Solve as `solve_poses` by NumPy, all poses at a time: for machines that `core.constraints.newton` does not
    take."""
    mech = machine.mech
    q = machine.clip_to_bounds(np.asarray(q, dtype=float))
    everyone: Places = np.arange(len(q))
    r = target_residuals(machine, q, targets)
    size = np.sum(r * r, axis=1)
    J = negated_residual_slopes(machine, q, targets)
    damping = np.full(len(q), FIRST_DAMPING)
    bound = TOLERANCE**2
    active = everyone[size > bound]
    for _ in range(iterations):
        if not len(active):
            break
        machine.look()
        step = _damped_steps(machine, q[active], r[active], J[active], damping[active])
        trial = machine.clip_to_bounds(mech.integrate(q[active], step))
        r_trial = target_residuals(machine, trial, targets.select(active))
        gained = size[active] - np.sum(r_trial * r_trial, axis=1)
        good = gained > 0.0
        stuck = good & (gained < settle * size[active])
        better = active[good]
        q[better], r[better] = trial[good], r_trial[good]
        size[better] = np.sum(r[better] ** 2, axis=1)
        left = better[size[better] > bound]
        J[left] = negated_residual_slopes(machine, q[left], targets.select(left))
        damping[active] = np.where(good, np.maximum(0.1 * damping[active], SMALLEST_DAMPING), 10.0 * damping[active])
        active = active[(size[active] > bound) & (damping[active] < LARGEST_DAMPING) & ~stuck]
    return SolvedPoses(machine.remove_full_turns(q), size <= bound)


def target_residuals(machine: MappedMachine, q: Array, targets: PoseTargets) -> Array:
    """Compute residuals (n, rows) of the targets, in machine units."""
    parts = []
    if machine.closing is not None:
        parts.append(-machine.constraint_residuals(q))
    if targets.place is not None or targets.rotation is not None or targets.plane is not None:
        poses = machine.poses(q)
        if targets.place is not None:
            parts.append((targets.place - poses[:, :3, 3]) / machine.size)
        if targets.rotation is not None:
            parts.append(rotation_vectors(targets.rotation @ np.swapaxes(poses[:, :3, :3], 1, 2)))
        if targets.plane is not None:
            normal, offset = targets.plane
            parts.append((offset - poses[:, :3, 3] @ normal)[:, None] / machine.size)
    if targets.coordinates is not None:
        index, speed, values = targets.coordinates
        parts.append((values - q[:, index]) / machine.speed_units[speed])
    return np.concatenate(parts, axis=1)


def negated_residual_slopes(machine: MappedMachine, q: Array, targets: PoseTargets) -> Array:
    """Compute derivatives (n, rows, nv) of the residuals along the speeds, negated, in machine units."""
    parts = []
    if machine.closing is not None:
        parts.append(machine.constraint_residual_slopes(q))
    if targets.place is not None or targets.rotation is not None or targets.plane is not None:
        J = machine.frame_jacobians(q)
        if targets.place is not None:
            parts.append(J[:, 3:] / machine.size)
        if targets.rotation is not None:
            parts.append(J[:, :3])
        if targets.plane is not None:
            parts.append((targets.plane[0] @ J[:, 3:])[:, None] / machine.size)
    if targets.coordinates is not None:
        _, speed, values = targets.coordinates
        rows = np.zeros((len(speed), machine.mech.nv))
        rows[np.arange(len(speed)), speed] = 1.0 / machine.speed_units[speed]
        parts.append(np.broadcast_to(rows, (len(values), *rows.shape)))
    return np.concatenate(parts, axis=1) * machine.speed_units


def _damped_steps(machine: MappedMachine, q: Array, r: Array, J: Array, damping: Array) -> Array:
    """Compute steps (n, nv) Δ = (JᵀJ + λ)⁻¹ Jᵀ r over the coordinates not stopped by a limit, in rad and m."""
    descent = np.einsum("nij,ni->nj", J, r)
    (index, speed), (lower, upper) = machine.scalar_coordinate_indices, machine.bounds
    at_lower, at_upper = q[:, index] <= lower[index] + 1e-12, q[:, index] >= upper[index] - 1e-12
    moving = np.ones(descent.shape) if machine.free is None else np.tile(machine.free.astype(float), (len(q), 1))
    moving[:, speed] *= ~((at_lower & (descent[:, speed] < 0.0)) | (at_upper & (descent[:, speed] > 0.0)))
    J = J * moving[:, None, :]
    rows, columns = J.shape[1:]
    turned = np.swapaxes(J, 1, 2)
    if rows < columns:
        gram, right = J @ turned, r
    else:
        gram, right = turned @ J, np.einsum("nij,ni->nj", J, r)
    scale = damping * (1e-9 + np.trace(gram, axis1=1, axis2=2) / gram.shape[1]) + 1e-14
    gram = gram + scale[:, None, None] * np.eye(gram.shape[1])
    found = np.linalg.solve(gram, right[..., None])[..., 0]
    step = np.einsum("nij,ni->nj", J, found) if rows < columns else found
    longest = np.max(np.abs(step), axis=1, initial=0.0)
    step = step * np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]
    return step * machine.speed_units


def rotation_vectors(R: Array) -> Array:
    """Convert rotation matrices (n, 3, 3) to rotation vectors (n, 3), rad, with angles 0 … π."""
    w = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine = np.linalg.norm(w, axis=1)
    cosine = 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(sine, cosine)
    found = w * np.where(sine > 1e-6, angle / np.maximum(sine, 1e-300), 1.0)[:, None]
    half_turns = np.flatnonzero((sine <= 1e-6) & (cosine < 0.0))
    if len(half_turns):
        S = R[half_turns] + np.eye(3)
        widest = np.argmax(np.diagonal(S, axis1=1, axis2=2), axis=1)
        axis = S[np.arange(len(S)), :, widest]
        found[half_turns] = axis / np.linalg.norm(axis, axis=1)[:, None] * angle[half_turns, None]
    return found


def solve_in_pieces(
    machine: MappedMachine,
    q: Array,
    targets: PoseTargets,
    distribute: Callable[..., list[SolvedPoses]] | None = None,
    *,
    piece_size: int = 1024,
    only_met: bool = False,
) -> SolvedPoses:
    """Solve in pieces that need limited memory; a callable may distribute the pieces over cores. Where only `met`
    matters, slow targets are given up."""
    steps = {"iterations": 14, "settle": 0.05} if only_met else {}
    pieces = [np.arange(first, min(first + piece_size, len(q))) for first in range(0, len(q), piece_size)]
    if not pieces:
        return SolvedPoses(q, np.zeros(0, dtype=bool))

    def solve_piece(indices: Places) -> SolvedPoses:
        return solve_poses(machine, q[indices], targets.select(indices), **steps)  # type: ignore[arg-type]

    done = distribute(solve_piece, pieces) if distribute is not None else [solve_piece(piece) for piece in pieces]
    return SolvedPoses(np.concatenate([each.q for each in done]), np.concatenate([each.met for each in done]))


class AssemblyBranch:
    """Assembly branch of a machine with loops, the one that contains a given pose."""

    def __init__(self, machine: MappedMachine, ranges: JointRanges, start: Array) -> None:
        self.machine, self.ranges, self.start = machine, ranges, start
        self._limits = cut_limits(machine.mech.compiled)

    def at(self, values: Array, guess: Array) -> tuple[Array, Flags]:
        """Solve for poses near the given ones (n, nq), with the varied coordinates at values (n, d); return (poses (n,
        nq), mask of those on the branch and within all limits)."""
        machine, ranges = self.machine, self.ranges
        q = guess.copy()
        q[:, ranges.index] = values
        found = solve_poses(
            machine, q, PoseTargets(coordinates=(ranges.index, ranges.speed, values)), iterations=14, settle=0.0
        )
        good = found.met
        units = machine.speed_units
        gone = np.abs(machine.mech.difference(guess, found.q)) / units
        asked = np.max(np.abs(values - guess[:, ranges.index]) / units[ranges.speed], axis=1, initial=0.0)
        good &= gone.max(axis=1) <= FARTHEST * np.maximum(asked, SMALLEST_STEP)
        if good.any():
            some = np.flatnonzero(good)
            good[some] = self.is_on_branch(found.q[some])
        return found.q, good

    def is_on_branch(self, q: Array) -> Flags:
        """Return a mask (n,) of the closed poses that are on the branch and within the limits of loop-closing
        joints."""
        good = self._determinant_signs(q) == self._determinant_sign_at_start
        still = np.zeros((len(q), self.machine.mech.nv))
        for limit in self._limits:
            measured = cut_joint_motion(self.machine.mech.compiled, limit.joint, q, still, still, self.machine.p).q[
                ..., limit.k
            ]
            if limit.turns:
                measured = measured + 2.0 * np.pi * np.round((limit.base - measured) / (2.0 * np.pi))
            good &= (measured >= limit.lower - BEYOND) & (measured <= limit.upper + BEYOND)
        return good

    def solve_outward(self, values: Array, known_poses: Array | None = None) -> tuple[Array, Flags]:
        """Solve for values (n, d) outward from the start pose, each from the nearest known pose, in batches that double
        in size; return (poses (n, nq), mask of those solved). Repeated until a pass finds no more."""
        n, units = len(values), self.machine.speed_units[self.ranges.speed]
        q = np.tile(self.start, (n, 1))
        found = np.zeros(n, dtype=bool)
        places, poses = values / units, [self.start[None] if known_poses is None else known_poses]
        order = np.argsort(np.max(np.abs(places - self.start[self.ranges.index] / units), axis=1), kind="stable")
        first = 0
        left: list[NDArray[np.intp]] = []
        while first < n:
            wave = order[first : max(2 * first, 64)]
            first += len(wave)
            left.append(self._solve_from_nearest(wave, places, values, q, found, poses))
        for _ in range(12):
            open_ = np.concatenate(left)
            left = [self._solve_from_nearest(open_, places, values, q, found, poses)]
            if len(left[0]) > 0.98 * len(open_):
                break
        return q, found

    def _solve_from_nearest(
        self,
        indices: NDArray[np.intp],
        scaled_values: Array,
        values: Array,
        q: Array,
        solved: Flags,
        known_poses: list[Array],
    ) -> NDArray[np.intp]:
        """Solve one batch of points from their nearest known poses; return the indices of those that remain
        unsolved."""
        if not len(indices):
            return indices
        known = np.concatenate(known_poses)
        units = self.machine.speed_units[self.ranges.speed]
        near = cKDTree(known[:, self.ranges.index] / units).query(scaled_values[indices])[1]
        q[indices], good = self.at(values[indices], known[near])
        solved[indices] = good
        known_poses[:] = [known, q[indices[good]]]
        return indices[~good]

    # ------------------------------------------------------------------------------ the sign of a branch

    @cached_property
    def _independent_rows(self) -> NDArray[np.intp]:
        """Return nv linearly independent rows of [A; G] at the start pose, including all of A."""
        K = self._stacked_jacobian(self.start[None])[0]
        d = len(self.ranges.index)
        K[:d] *= 1e3  # pivoting takes them first
        _, R, pivots = qr(K.T, mode="economic", pivoting=True)
        size = np.abs(np.diagonal(R))
        rank = int(np.count_nonzero(size > RANK_TOLERANCE * size[0]))
        return np.sort(pivots[: min(rank, K.shape[1])])

    def _stacked_jacobian(self, q: Array) -> Array:
        """Return (n, d + rows, nv) [A; G] in machine units."""
        machine, speed = self.machine, self.ranges.speed
        picked = np.zeros((len(speed), machine.mech.nv))
        picked[np.arange(len(speed)), speed] = 1.0
        slopes = machine.constraint_residual_slopes(q) * machine.speed_units
        return np.concatenate([np.broadcast_to(picked, (len(q), *picked.shape)), slopes], axis=1)

    def _determinant_signs(self, q: Array) -> Array:
        chosen = self._stacked_jacobian(q)[:, self._independent_rows]
        if chosen.shape[1] != chosen.shape[2]:
            return np.ones(len(q))
        return np.asarray(np.linalg.slogdet(chosen)[0])

    @cached_property
    def _determinant_sign_at_start(self) -> float:
        return float(self._determinant_signs(self.start[None])[0])

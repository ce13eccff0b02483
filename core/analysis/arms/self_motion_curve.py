"""Self-motion of a redundant machine as a curve: positions in which a frame keeps its pose, by continuation.

A step goes along the null vector of the Jacobian, and Newton's method brings it back (predictor and corrector, E.
Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003, 6.1); its length follows the turn of the
tangent. The curve ends at a joint limit, or where it comes back to its start.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.pose_errors import pose_errors
from core.analysis.arms.task_chain import FREE_DIRECTIONS, check_free_directions
from core.analysis.inverse_kinematics import speeds_without_effect
from core.analysis.tool_frame import tool_frame
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import ModelError, suggest_names
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import SelfMotionCurve
from core.numerics.matrix_forms import to_dense

Array = NDArray[np.float64]

FIRST_STEP, LONGEST_STEP, SHORTEST_STEP = 0.02, 0.1, 1e-5
"""Lengths of steps (rad, machine sizes)."""
TURNED, HARDLY_TURNED = 0.97, 0.995
"""Cosine of the tangent's turn in a step below which the step is halved, and above which the next one is longer."""
SETTLED = 1e-12
"""Error (rad, machine sizes) at which a position keeps the pose."""
CORRECTIONS = 6
"""Largest number of Newton steps after a step along the tangent."""
NULL = 1e-7
"""Singular value up to which a motion leaves the frame where it is."""
MOST_POSITIONS = 4000
"""Largest number of positions of a curve."""
BISECTIONS = 50
"""Number of halvings with which a limit is met."""
ROW_ORDER = ("rx", "ry", "rz", "x", "y", "z")


def trace_self_motion(
    mech: Mechanism,
    q: Any,
    frame: str | None = None,
    *,
    free: Sequence[str] = (),
    locked: Sequence[str] = (),
    p: Any = None,
    t: float = 0.0,
) -> SelfMotionCurve:
    """Trace the self-motion through a position; see `Mechanism.self_motion`."""
    task = _Task(mech, tool_frame(mech.model) if frame is None else frame, free, locked, p, t)
    start = np.array(q, dtype=float)
    if start.shape != (mech.nq,) or not np.isfinite(start).all():
        raise ModelError(f"q is not a position of {mech.nq} finite numbers.", where="q", remedy="Give mech.rest().")
    task.widen_limits(start)
    target = np.asarray(mech.frame(start, task.frame, p=task.p))
    tangent = task.first_tangent(start, target)
    forward = _follow(task, start, target, tangent)
    if forward.is_closed:
        positions, ends = forward.positions, ("", "")
    else:
        back = _follow(task, start, target, -tangent)
        positions = [*reversed(back.positions[1:]), *forward.positions]
        ends = (back.end, forward.end)
    Q = np.array(positions)
    joints = task.moving_joints(Q)
    return SelfMotionCurve(
        Q, task.lengths(Q), forward.is_closed, ends, joints, lambda near: task.corrected(near, target)
    )


class _Branch(NamedTuple):
    positions: list[Array]
    is_closed: bool
    end: str


class _Task:
    """Pose that is kept, by rows in the target's axes, with locked joints and limits."""

    def __init__(
        self, mech: Mechanism, frame: str, free: Sequence[str], locked: Sequence[str], p: Any, t: float
    ) -> None:
        self.mech, self.frame, self.p, self.t = mech, mech.compiled.check_frame_name(frame), mech.parameter_values(p), t
        self.constraints = PositionConstraints(mech.compiled, self.p, t)
        self.units = self.constraints.speed_units
        free = check_free_directions(free)
        self.rows = [k for k, name in enumerate(ROW_ORDER) if name not in free]
        assert set(ROW_ORDER) == set(FREE_DIRECTIONS)
        self.weights = np.repeat([1.0, 1.0 / self.constraints.size], 3)
        self.moves = np.ones(mech.nv, dtype=bool)
        for name in locked:
            if name not in mech.joint_names:
                raise ModelError(
                    f"There is no joint '{name}'.", where="locked", remedy=suggest_names(name, mech.joint_names)
                )
            self.moves[mech.joint_v(name)] = False
        values = dict(zip(mech.p_names, self.p.tolist(), strict=True))
        idle = speeds_without_effect(mech, self.frame, values, translation={"rx", "ry", "rz"} <= set(free), t=t)
        self.moves[idle] = False
        coordinates = mech.coordinates
        self.lower = np.array([-np.inf if c.lower is None else c.lower for c in coordinates])
        self.upper = np.array([np.inf if c.upper is None else c.upper for c in coordinates])
        unlimited = ~np.isfinite(self.lower) & ~np.isfinite(self.upper)
        self.turns = np.array([c.dimension == "angle" for c in coordinates]) & unlimited
        """Coordinates that are the same after a whole turn."""

    def widen_limits(self, q: Array) -> None:
        """Let coordinates that are beyond a limit at a position be so, but no farther."""
        self.lower, self.upper = np.minimum(self.lower, q), np.maximum(self.upper, q)

    def matrix(self, q: Array, target: Array) -> Array:
        """(rows, k) derivative of the error by the k speeds that move, scaled."""
        J = np.asarray(self.mech.jacobian(q, self.frame, p=self.p))
        R = target[:3, :3]
        own = np.concatenate([R.T @ J[:3], R.T @ J[3:]])
        rows = (self.weights[:, None] * own)[self.rows] * self.units
        if self.constraints.rows:
            rows = np.vstack([rows, to_dense(self.constraints.scaled_position_jacobian(q))])
        return np.asarray(rows[:, self.moves])

    def error(self, q: Array, target: Array) -> Array:
        """(rows,) what is missing to the target, scaled as `matrix`."""
        e = pose_errors(np.asarray(self.mech.frame(q, self.frame, p=self.p)), target)
        R = target[:3, :3]
        missing = (self.weights * np.concatenate([R.T @ e[:3], R.T @ e[3:]]))[self.rows]
        if not self.constraints.rows:
            return np.asarray(missing)
        return np.concatenate([missing, -self.constraints.scaled_residual(q)])

    def tangents(self, q: Array, target: Array) -> Array:
        """(k, m) orthonormal motions, in units of the machine, that keep the pose."""
        _, sigma, VT = np.linalg.svd(self.matrix(q, target))
        rank = int(np.sum(sigma > NULL * max(float(sigma[0]), 1e-300)))
        return np.asarray(VT[rank:].T)

    def first_tangent(self, q: Array, target: Array) -> Array:
        """(k,) direction of the curve at its start. Raises ModelError unless there is exactly one."""
        if not self.moves.any():
            raise ModelError(f"No joint moves '{self.frame}'.", where="frame", remedy="Choose another frame.")
        motions = self.tangents(q, target)
        if motions.shape[1] == 0:
            raise ModelError(
                f"No joint can move while '{self.frame}' keeps its pose.",
                where="q",
                remedy="Free a direction of the target, or ask at a singular pose or for a redundant machine.",
            )
        if motions.shape[1] > 1:
            count = motions.shape[1]
            raise ModelError(
                f"{count} independent motions leave '{self.frame}' where it is.",
                where="locked",
                remedy=f"Lock {count - 1} of the joints that take part, so that one remains.",
            )
        along = motions[:, 0]
        return np.asarray(along * (np.sign(along[int(np.argmax(np.abs(along)))]) or 1.0))

    def next_tangent(self, q: Array, target: Array, before: Array) -> Array:
        """(k,) direction of the curve, on from another: the last right singular vector, or at a branch point the one in
        the null space nearest to that direction."""
        null = self.tangents(q, target)
        if null.shape[1] == 0:
            null = np.linalg.svd(self.matrix(q, target))[2][-1:].T
        along = null @ (null.T @ before)
        return np.asarray(along / max(float(np.linalg.norm(along)), 1e-300))

    def moved(self, q: Array, step: Array) -> Array:
        """Position after a displacement (k,) in units of the machine."""
        whole = np.zeros(self.mech.nv)
        whole[self.moves] = step
        return np.asarray(self.mech.integrate(q, self.units * whole, 1.0))

    def corrected(self, q: Array, target: Array) -> Array | None:
        """Position next to q that keeps the pose; None if there is none."""
        for _ in range(CORRECTIONS):
            e = self.error(q, target)
            if np.max(np.abs(e), initial=0.0) < SETTLED:
                return q
            q = self.moved(q, np.asarray(np.linalg.lstsq(self.matrix(q, target), e, rcond=NULL)[0], dtype=np.float64))
        return q if np.max(np.abs(self.error(q, target)), initial=0.0) < 100.0 * SETTLED else None

    def beyond(self, q: Array) -> int | None:
        """Index of a coordinate beyond its limits, the farthest; None if all are within."""
        excess = np.maximum(self.lower - q, q - self.upper)
        k = int(np.argmax(excess)) if len(excess) else 0
        return k if len(excess) and excess[k] > 1e-12 else None

    def distance(self, one: Array, other: Array) -> Array:
        """(k,) displacement from one position to another in units of the machine, without whole turns."""
        shifted = other.copy()
        shifted[self.turns] -= 2.0 * np.pi * np.round((other - one)[self.turns] / (2.0 * np.pi))
        return np.asarray(self.mech.difference(one, shifted) / self.units)[self.moves]

    def lengths(self, Q: Array) -> Array:
        """(m,) lengths along the curve."""
        steps = [
            float(np.linalg.norm(np.asarray(self.mech.difference(a, b)) / self.units)) for a, b in itertools.pairwise(Q)
        ]
        return np.concatenate([[0.0], np.cumsum(steps)])

    def moving_joints(self, Q: Array) -> tuple[str, ...]:
        """Joints that change along the curve."""
        changes = np.ptp(Q, axis=0) > 1e-9
        return tuple(dict.fromkeys(c.joint for c, moves in zip(self.mech.coordinates, changes, strict=True) if moves))


def _follow(task: _Task, start: Array, target: Array, tangent: Array) -> _Branch:
    """Follow the curve from its start until a limit, or until it comes back."""
    positions, q, length, left = [start], start, FIRST_STEP, 0.0
    first = tangent
    while len(positions) < MOST_POSITIONS:
        trial = _step(task, q, target, tangent, length)
        if trial is None:
            length *= 0.5
            if length < SHORTEST_STEP:
                return _Branch(positions, False, "the curve cannot be followed further")
            continue
        there, onward = trial
        limit = task.beyond(there)
        if limit is not None:
            last = _meet_limit(task, q, target, tangent, length, limit)
            return _Branch([*positions, last], False, f"{task.mech.q_names[limit]} is at its limit")
        left += length
        back = task.distance(there, start)
        if left > 3.0 * LONGEST_STEP and np.linalg.norm(back) <= 1.5 * length and float(onward @ first) > TURNED:
            ahead = float(back @ onward)
            if ahead < length:
                return _Branch([*positions, there] if ahead > 0.0 else positions, True, "")
        positions.append(there)
        if float(onward @ tangent) > HARDLY_TURNED:
            length = min(1.5 * length, LONGEST_STEP)
        q, tangent = there, onward
    return _Branch(positions, False, f"only {MOST_POSITIONS} positions were computed")


def _step(task: _Task, q: Array, target: Array, tangent: Array, length: float) -> tuple[Array, Array] | None:
    """Position and tangent one step ahead; None if the step is too long."""
    found = task.corrected(task.moved(q, length * tangent), target)
    if found is None:
        return None
    gone = np.asarray(task.mech.difference(q, found) / task.units)[task.moves]
    onward = task.next_tangent(found, target, tangent)
    if float(onward @ tangent) < TURNED or not 0.5 * length < float(gone @ tangent) < 1.5 * length:
        return None
    return found, onward


def _meet_limit(task: _Task, q: Array, target: Array, tangent: Array, length: float, limit: int) -> Array:
    """Last position within the limits on a step that leaves them."""
    low, high, best = 0.0, length, q
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        found = task.corrected(task.moved(q, middle * tangent), target)
        if found is None or task.beyond(found) is not None:
            high = middle
        else:
            low, best = middle, found
    return best

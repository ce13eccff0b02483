"""Search for a pose in which a frame meets a target, by NumPy: for machines with sparse constraints or with kinds of
joints that `core.constraints.newton` does not know; the same steps as there."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import find_nearest_closed_position
from core.constraints.newton.frame_newton import ReachedPose
from core.constraints.newton.reaching import (
    FIRST_DAMPING,
    LARGEST_DAMPING,
    LARGEST_STEP,
    SHORTER,
    SMALLEST_DAMPING,
    TOLERANCE,
)
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism

Array = NDArray[np.float64]


class FrameTarget(NamedTuple):
    """Target of a frame, and the end of the search for it.

    position : (3,) m, world; rotation : (3, 3) world ← frame, None: any; point : (3,) of the frame that is to be there;
    weight : metres that count like one radian, None: by mobility; settle : relative decrease of the squared error below
    which a step does not count as progress; t : s, at which drivers hold.
    """

    position: Array
    rotation: Array | None
    point: Array
    weight: float | None = None
    settle: float = 1e-12
    t: float = 0.0


class FrameSearch:
    """Inverse kinematics problem of one frame and target, with all data that stay constant between steps."""

    def __init__(self, mech: Mechanism, frame: str, target: FrameTarget, p: Values) -> None:
        self.mech, self.frame, self.t, self.p = mech, frame, target.t, p
        self.position, self.rotation = target.position, target.rotation
        self.weight, self.point, self.settle = target.weight, target.point, target.settle
        self.bounds = speed_bounds(mech)

    def solve(self, q: Array, iterations: int) -> ReachedPose:
        """Pose found by Levenberg–Marquardt iteration from q."""
        damping, longest, done = FIRST_DAMPING, math.inf, 0
        q = self.mech.clamp(q)
        error, jacobian = self._weighted_error(q), self._jacobian(q)
        for done in range(iterations):  # noqa: B007
            norm = float(error @ error)
            if norm < TOLERANCE**2:
                break
            descent = jacobian.T @ error
            free = self._free_speeds(q, descent)
            if float(descent[free] @ descent[free]) <= self.settle * norm * float(np.sum(jacobian[:, free] ** 2)):
                break
            step = _damped_step(jacobian, error, damping, free)
            while math.sqrt(float(step @ step)) > longest and damping < LARGEST_DAMPING:
                damping *= 10.0
                step = _damped_step(jacobian, error, damping, free)
            if longest < math.inf and 2.0 * float(error @ jacobian @ step) < self.settle * norm:
                break
            trial = self._step_along(q, step)
            trial_error = self._weighted_error(trial)
            if float(trial_error @ trial_error) < norm:
                gain = norm - float(trial_error @ trial_error)
                q, error, jacobian = trial, trial_error, self._jacobian(trial)
                damping, longest = max(damping * 0.1, SMALLEST_DAMPING), 2.0 * longest
                if gain < self.settle * norm:
                    break
            else:
                damping, longest = 10.0 * damping, SHORTER * math.sqrt(float(step @ step))
                if damping > LARGEST_DAMPING:
                    break
        return ReachedPose(q, math.sqrt(float(error @ error)), *self._position_and_angle_errors(q), done)

    def _step_along(self, q: Array, step: Array) -> Array:
        moved = self.mech.clamp(self.mech.integrate(q, step, 1.0))
        if not self.mech.constrained:
            return moved
        closed = find_nearest_closed_position(self.mech.compiled, moved, self.p, self.t, start=q)
        return q if closed is None else closed

    def _target_point_pose(self, q: Array) -> Array:
        """(4, 4) pose with the axes of the frame and its origin at the point that should meet the target."""
        X_WF = np.array(self.mech.frame(q, self.frame, p=self.p))
        X_WF[:3, 3] += X_WF[:3, :3] @ self.point
        return X_WF

    def _weighted_error(self, q: Array) -> Array:
        X_WF = self._target_point_pose(q)
        error = self.position - X_WF[:3, 3]
        if self.rotation is None:
            return error
        return np.concatenate([self._length_scale(q) * rotation_vector(self.rotation @ X_WF[:3, :3].T), error])

    def _jacobian(self, q: Array) -> Array:
        jacobian = np.array(self.mech.jacobian(q, self.frame, p=self.p))
        if self.point.any():  # v_P = v_F + ω × r
            arm = np.asarray(self.mech.frame(q, self.frame, p=self.p))[:3, :3] @ self.point
            jacobian[3:] += np.cross(jacobian[:3], arm, axisb=-1, axisa=0).T
        if self.mech.constrained:
            jacobian = jacobian @ self._constraint_projection(q)
        if self.rotation is None:
            return jacobian[3:]
        return np.concatenate([self._length_scale(q) * jacobian[:3], jacobian[3:]])

    def _constraint_projection(self, q: Array) -> Array:
        """(nv, nv) projection 1 − G⁺G onto the joint speeds that all constraints admit."""
        G = np.asarray(self.mech.constraint_jacobian(q, p=self.p))
        return np.eye(self.mech.nv) - np.linalg.pinv(G, rcond=1e-7) @ G

    def _length_scale(self, q: Array) -> float:
        """Length in m weighted like one radian: the ratio of the frame's linear to its angular mobility."""
        if self.weight is None:
            jacobian = np.asarray(self.mech.jacobian(q, self.frame, p=self.p))
            angular, linear = np.linalg.norm(jacobian[:3]), np.linalg.norm(jacobian[3:])
            self.weight = float(np.clip(linear / angular, 0.01, 10.0)) if angular > 1e-9 else 1.0
        return self.weight

    def _position_and_angle_errors(self, q: Array) -> tuple[float, float]:
        X_WF = self._target_point_pose(q)
        position = float(np.linalg.norm(self.position - X_WF[:3, 3]))
        if self.rotation is None:
            return position, 0.0
        return position, float(np.linalg.norm(rotation_vector(self.rotation @ X_WF[:3, :3].T)))

    def _free_speeds(self, q: Array, descent: Array) -> NDArray[np.bool_]:
        """Mask of the speeds that take part in a step: not those blocked by a limit."""
        index, speed, lower, upper = self.bounds
        free = np.ones(self.mech.nv, dtype=bool)
        at_lower, at_upper = q[index] <= lower + 1e-12, q[index] >= upper - 1e-12
        blocked = (at_lower & (descent[speed] < 0.0)) | (at_upper & (descent[speed] > 0.0))
        free[speed[blocked]] = False
        return free


def _damped_step(jacobian: Array, error: Array, damping: float, free_speeds: NDArray[np.bool_]) -> Array:
    """Δ = Jᵀ (J Jᵀ + λ² I)⁻¹ e over the free columns, at most LARGEST_STEP long."""
    step = np.zeros(jacobian.shape[1])
    columns = jacobian[:, free_speeds]
    if columns.size:
        gram = columns @ columns.T
        gram.flat[:: len(gram) + 1] += damping * (1e-6 + np.trace(gram) / len(gram))
        step[free_speeds] = columns.T @ np.linalg.solve(gram, error)
    length = math.sqrt(float(step @ step))
    limit = LARGEST_STEP * math.sqrt(max(1, len(step)))
    return step * (limit / length) if length > limit else step


def speed_bounds(mech: Mechanism) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, Array]:
    """Limited coordinates whose speed is their rate: indices in q, indices in v, lower and upper bounds. Raises
    ModelError if lower exceeds upper."""
    mech.compiled.coordinates.check_limit_order()
    where: dict[str, tuple[int, int]] = {}
    for joint in dict.fromkeys(coordinate.joint for coordinate in mech.coordinates):
        in_q, in_v = mech.joint_q(joint), mech.joint_v(joint)
        if in_q.stop - in_q.start == in_v.stop - in_v.start:
            for k in range(in_q.stop - in_q.start):
                where[mech.q_names[in_q.start + k]] = (in_q.start + k, in_v.start + k)
    rows = [
        (*where[c.name], -math.inf if c.lower is None else c.lower, math.inf if c.upper is None else c.upper)
        for c in mech.coordinates
        if c.name in where and not (c.lower is None and c.upper is None)
    ]
    table = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return (
        np.array(table[0], dtype=np.intp),
        np.array(table[1], dtype=np.intp),
        np.array(table[2], dtype=float),
        np.array(table[3], dtype=float),
    )


def rotation_vector(R: Array) -> Array:
    """(3,) axis times angle (rad, 0 … π) of a rotation matrix, accurate near 0 and near π."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = math.sqrt(float(w @ w)), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6:
        return w * (angle / sine)
    if cosine > 0.0:
        return w
    # angle near π: R ≈ 2 n nᵀ − I, the longest column of R + I is along n
    columns = R + np.eye(3)
    axis = columns[:, int(np.argmax(np.diag(columns)))]
    axis = axis / np.linalg.norm(axis)
    return angle * (axis if w @ axis >= 0.0 else -axis)

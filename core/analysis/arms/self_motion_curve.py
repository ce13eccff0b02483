"""The motion of a machine's joints that leaves a frame where it is, followed from a position to both ends.

The curve is followed in the null space of the Jacobian, by a step along its tangent and Newton's correction, until a
joint meets its limit, the curve closes, or it cannot be continued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.pose_errors import pose_errors
from core.analysis.inverse_kinematics import speeds_without_effect
from core.later import dataclass
from core.mechanism import Mechanism

Array = NDArray[np.float64]

STEP, LEAST_STEP = 0.06, 1e-5
"""Length of a step (rad, slides in machine sizes), and below which an end is reached."""
LONGEST = 60.0
"""Length after which a direction is not followed further."""
NULL = 1e-6
"""Singular value, by the largest, below which a motion is free at the start."""
CORRECTIONS = 8
"""Largest number of Newton steps for a position."""
ON_CURVE = 1e-9
"""Error (rad, machine sizes) of a position that counts as on the curve."""
FARTHEST = 0.5
"""Share of the step by which a correction may move a position."""
ON_LIMIT = 1e-9
"""Distance (rad, m) beyond a limit that is a rounding error."""


@dataclass(frozen=True, eq=False)
class SelfMotionCurve:
    """Positions in which the frame is at the same pose.

    q : (n, nq), in order; lengths : (n,) along the curve from the position from which it was followed, negative
    before it; is_closed : True if the last position leads back to the first; ends : what ends the curve before and
    after, "" for a closed one; correct : brings a position (nq,) near the curve onto it
    """

    q: Array
    lengths: Array
    is_closed: bool
    ends: tuple[str, str]
    correct: Callable[[Array], Array | None]

    def at(self, length: float) -> Array:
        """Return the position (nq,) at a length along the curve; beyond its ends the last one."""
        k = int(np.clip(np.searchsorted(self.lengths, length) - 1, 0, max(len(self.lengths) - 2, 0)))
        if len(self.lengths) == 1:
            return self.q[0].copy()
        first, last = self.lengths[k], self.lengths[k + 1]
        part = float(np.clip((length - first) / (last - first), 0.0, 1.0))
        straight = (1.0 - part) * self.q[k] + part * self.q[k + 1]
        found = self.correct(straight)
        return self.q[k + round(part)].copy() if found is None else found

    def length_of(self, q: Array) -> float | None:
        """Return the length at which a position is on the curve; None if it is not."""
        k = int(np.argmin(np.max(np.abs(self.q - q), axis=1)))
        nearest = float(np.max(np.abs(self.q[k] - q))), float(self.lengths[k])
        for first in (k - 1, k):
            if 0 <= first < len(self.lengths) - 1:
                segment = self.q[first + 1] - self.q[first]
                part = float(np.clip((q - self.q[first]) @ segment / (segment @ segment), 0.0, 1.0))
                away = float(np.max(np.abs(self.q[first] + part * segment - q)))
                between = self.lengths[first] + part * (self.lengths[first + 1] - self.lengths[first])
                nearest = min(nearest, (away, float(between)))
        return nearest[1] if nearest[0] < 0.1 * STEP else None


def follow_self_motion(
    mech: Mechanism,
    q: Array,
    frame: str,
    *,
    p: Mapping[str, float] | None = None,
    t: float = 0.0,
    step: Callable[[], object] | None = None,
) -> SelfMotionCurve | None:
    """Follow the motion of the joints that leaves a frame where it is at q (nq,), in both directions, within the joint
    limits; None if there is none. Where several joint motions do, the one with the least change of direction is
    followed. `step()` is called before each step and may raise."""
    path = _Path(mech, np.array(q, dtype=float), frame, p, t)
    tangent = path.first_tangent()
    if tangent is None:
        return None
    after, closed, end = path.follow(tangent, step)
    before, start = (np.zeros((0, mech.nq)), "") if closed else path.follow(-tangent, step)[::2]
    positions = np.vstack([before[::-1], path.start[None], after])
    changes = np.linalg.norm(path.units * np.diff(positions, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(changes)])
    return SelfMotionCurve(positions, lengths - lengths[len(before)], closed, (start, end), path.correct)


class _Path:
    """Equations of the curve: the frame's pose, loops, and joints that do not move the frame."""

    def __init__(self, mech: Mechanism, q: Array, frame: str, p: Mapping[str, float] | None, t: float) -> None:
        self.mech, self.frame, self.p, self.t = mech, frame, p, t
        self.start = q
        self.target = np.asarray(mech.frame(q, frame, p=p, t=t))
        poses = np.asarray(mech.poses(q, p))[:, :3, 3]
        self.size = max(float(np.max(np.linalg.norm(poses - poses[0], axis=1), initial=0.0)), 1e-9)
        self.idle = np.asarray(speeds_without_effect(mech, frame, dict(p) if p else None, t=t))
        table = mech.coordinates
        self.units = np.array([1.0 / self.size if each.dimension == "length" else 1.0 for each in table])
        lower = [-np.inf if each.lower is None else each.lower for each in table]
        upper = [np.inf if each.upper is None else each.upper for each in table]
        # a joint that is beyond its limit at the start must not go farther
        self.lower, self.upper = np.minimum(lower, q) - ON_LIMIT, np.maximum(upper, q) + ON_LIMIT
        sigma = np.linalg.svd(self._rows(q), compute_uv=False)
        self.rank = int(np.sum(sigma > NULL * max(float(sigma[0]), 1e-300))) if len(sigma) else 0

    def _rows(self, q: Array) -> Array:
        """(m, nv) rates of the equations, lengths in sizes of the machine."""
        J = np.array(self.mech.jacobian(q, self.frame, p=self.p))
        J[3:] /= self.size
        if self.mech.constrained:
            J = np.vstack([J, np.asarray(self.mech.constraint_jacobian(q, p=self.p))])
        J[:, self.idle] = 0.0
        scale = np.eye(self.mech.nv)[self.idle]
        return np.vstack([J / self._speed_units, scale])

    @property
    def _speed_units(self) -> Array:
        if self.mech.nq == self.mech.nv:
            return self.units
        return np.ones(self.mech.nv)

    def _errors(self, q: Array) -> Array:
        e = pose_errors(np.asarray(self.mech.frame(q, self.frame, p=self.p)), self.target)
        e[3:] /= self.size
        if self.mech.constrained:
            e = np.concatenate([e, -np.asarray(self.mech.constraint_residual(q, p=self.p, t=self.t))])
        return np.concatenate([e, np.zeros(int(np.sum(self.idle)))])

    # ----------------------------------------------------------------------------- following

    def first_tangent(self) -> Array | None:
        """Return the direction (nv,) of the curve at the start; None if the frame determines the position."""
        free = self._free_motions(self.start)
        if not free.shape[1]:
            return None
        tangent = free[:, -1]
        leading = int(np.argmax(np.abs(tangent)))
        return np.asarray(tangent * np.sign(tangent[leading]))

    def _free_motions(self, q: Array) -> Array:
        """(nv, k) orthonormal motions that the equations leave."""
        return np.asarray(np.linalg.svd(self._rows(q))[2][self.rank :].T)

    def correct(self, q: Array) -> Array | None:
        """Return the position on the curve nearest to one near it; None if it cannot be found."""
        x = q
        for _ in range(CORRECTIONS):
            e = self._errors(x)
            if np.max(np.abs(e), initial=0.0) < ON_CURVE:
                return x
            u, sigma, vt = np.linalg.svd(self._rows(x), full_matrices=False)
            kept = min(self.rank, len(sigma))
            v = vt[:kept].T @ ((u[:, :kept].T @ e) / sigma[:kept])
            if not np.all(np.isfinite(v)) or np.max(np.abs(v), initial=0.0) > FARTHEST:
                return None
            x = np.asarray(self.mech.integrate(x, v / self._speed_units, 1.0))
        return None

    def follow(self, tangent: Array, step: Callable[[], object] | None) -> tuple[Array, bool, str]:
        """Return the positions (n, nq) behind the start in a direction, True if they lead back to it, and what ends
        them."""
        found: list[Array] = []
        q, length, h = self.start, 0.0, STEP
        while length < LONGEST:
            if step is not None:
                step()
            free = self._free_motions(q)
            along = free @ (free.T @ tangent)
            along /= max(float(np.linalg.norm(along)), 1e-300)
            trial = self.correct(np.asarray(self.mech.integrate(q, h * along / self._speed_units, 1.0)))
            problem = self._refusal(q, trial, h)
            if problem:
                h *= 0.5
                if h < LEAST_STEP:
                    return np.reshape(found, (-1, self.mech.nq)), False, problem
                continue
            assert trial is not None
            length += h
            if length > 2.0 * STEP and self._is_at_start(trial, along):
                return np.reshape([*found, trial], (-1, self.mech.nq)), True, ""
            found.append(trial)
            q, tangent = trial, along
            h = min(2.0 * h, STEP)
        return np.reshape(found, (-1, self.mech.nq)), False, "the curve is longer than it is followed"

    def _refusal(self, q: Array, trial: Array | None, h: float) -> str:
        """Return the reason why a step to a position is not made; "" if it is."""
        if trial is None or float(np.linalg.norm(self.units * (trial - q))) > (1.0 + FARTHEST) * h:
            return "the joints cannot follow further"
        beyond = (trial < self.lower) | (trial > self.upper)
        if beyond.any():
            return f"{self.mech.coordinates[int(np.argmax(beyond))].joint} is at its limit"
        return ""

    def _is_at_start(self, q: Array, along: Array) -> bool:
        """Return True if the curve passes the start within this step, up to whole turns."""
        away = q - self.start
        turns = np.array([each.dimension == "angle" for each in self.mech.coordinates])
        away = np.where(turns, (away + np.pi) % (2.0 * np.pi) - np.pi, away)
        return bool(np.linalg.norm(self.units * away) < 0.75 * STEP)

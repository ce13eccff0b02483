"""Joint kinds defined by their pose alone; their motion is derived."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.joints.kind import Columns, JointKind, Scalars, canonical_frame
from core.numerics.spatial.dual import Dual, rate_at_level, value_at_level
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import Rotation, from_z, unit_vector
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO_MOTION, Force, Motion, Vector3

Array = NDArray[np.float64]
Law = TypeVar("Law", bound=JointKind)

MOST_ROUNDS = 60
LONGEST_STEP = 0.5
"""Largest step of one iteration when measuring coordinates, rad or m."""
MEASURED_TOLERANCE = 1e-13
"""Step size at which the measurement of coordinates has converged, rad or m."""
FITTING_TOLERANCE = 1e-9
"""Largest deviation from a measured pose up to which the joint counts as able to take that pose, rad or m."""
STARTS = (0.0, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 6.0, -6.0)
"""Start values of the iteration, relative to the neutral position, rad or m."""


@dataclass(frozen=True)
class PoseLawJoint(JointKind):
    """Joint kind that defines only its description and its `pose`; everything else is derived.

    The motion subspace is the exact derivative of the pose, the bias its second: `pose` is read over dual numbers. So
    it is written with the functions of `core.numerics.spatial`, which take numbers and symbols alike, and asks no
    coordinate whether it is larger than another (`apply("if_else", …)` does that). The coordinates at a pose are found
    by Gauss–Newton, from numbers alone: a loop with such a joint is therefore cut at another one.

    Frames are canonical: z along the document's `axis`, and where the kind uses a `second_axis`, y in its half plane.
    """

    pitch: Scalar = 0.0
    """Pitch given in the document, m per revolution."""

    closes_loops = False

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        law = cls(pitch if "pitch" in cls.uses else 0.0)
        if "second_axis" in cls.uses:
            return law, canonical_frame(axis, second_axis)[1]
        return law, from_z(unit_vector(axis))

    def subspace(self, q: Scalars) -> Columns:
        """Differentiate the pose along the rates of q that belong to each unit speed."""
        units = [[float(i == k) for i in range(self.nv)] for k in range(self.nv)]
        return tuple(_velocity_from_rates(self, q, self.rate(q, unit), 1) for unit in units)

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return the rate of Σ S_k v_k along the motion at constant speeds."""
        moving = [Dual(x, rate, 1) for x, rate in zip(q, self.rate(q, v), strict=True)]
        V = _velocity_from_rates(_wrap_symbols_as_constants(self, 1), moving, self.rate(moving, v), 2)
        return Motion(*(Vector3(*(rate_at_level(x, 1) for x in part)) for part in V))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        """Raise an error, because this kind has no residual; see `closes_loops`."""
        raise ModelError(
            f"A joint of kind '{self.name}' defines only its pose, so it cannot close a loop.",
            remedy="Cut the loop at another joint.",
        )

    def measure(self, X_ab: Pose) -> Measured:
        """Find the coordinates by Gauss–Newton from several starts; for a pose that the joint does not allow, those of
        the nearest one."""
        numbers = [x for part in (*X_ab.rotation, X_ab.position) for x in part]
        if not all(isinstance(x, float) for x in numbers):
            raise ModelError(
                f"The coordinates of a joint of kind '{self.name}' can be measured only for numbers, not for symbols.",
                remedy="Define 'measure' in the joint kind.",
            )
        q = self._closest_coordinates(X_ab)
        for k in range(self.nq):
            if self.wraps_around(k):
                q[k] = math.remainder(q[k], 2.0 * math.pi)
        R = X_ab.rotation
        columns = [[*R.act(S.angular), *R.act(S.linear)] for S in self.subspace(list(map(float, q)))]
        wrenches = np.linalg.pinv(np.array(columns, dtype=float).reshape(-1, 6).T)
        return Measured(
            tuple(map(float, q)),
            tuple(Force(Vector3(*map(float, W[:3])), Vector3(*map(float, W[3:]))) for W in wrenches),
        )

    def _closest_coordinates(self, X_ab: Pose) -> Array:
        """Return the coordinates (nq,) at which the joint's pose equals the measured pose, or comes closest to it."""
        best, least = np.array(self.neutral, dtype=float), math.inf
        for start in STARTS if self.nq else ():
            q = self._gauss_newton(X_ab, start)
            miss = float(np.linalg.norm(self._motion_to_measured_pose(X_ab, q)))
            if miss < least:
                best, least = q, miss
            if least < FITTING_TOLERANCE:
                break
        return best

    def _gauss_newton(self, X_ab: Pose, start: float) -> Array:
        q = self.moved(np.array(self.neutral, dtype=float), np.full(self.nv, start))
        for _ in range(MOST_ROUNDS):
            S = np.array([[*S.angular, *S.linear] for S in self.subspace(q.tolist())], dtype=float).T
            step = np.linalg.lstsq(S, self._motion_to_measured_pose(X_ab, q), rcond=None)[0]
            longest = np.abs(step).max()
            q = self.moved(q, step * min(1.0, LONGEST_STEP / max(longest, LONGEST_STEP)))
            if longest < MEASURED_TOLERANCE:
                break
        return q

    def _motion_to_measured_pose(self, X_ab: Pose, q: Array) -> Array:
        """Return the motion (6,) from b at q to the measured pose, to first order, in b's axes."""
        R, p = self.pose(q.tolist()).inverse() @ X_ab
        turn = np.array([R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y]) * 0.5
        cosine = 0.5 * (R.x.x + R.y.y + R.z.z - 1.0)
        size = float(np.linalg.norm(turn))
        factor = math.atan2(size, cosine) / size if size > 0.0 else 1.0
        return np.array([*(factor * turn), *p], dtype=float)


def _velocity_from_rates(law: JointKind, q: Scalars, rates: Scalars, level: int) -> Motion:
    """Return [Rᵀ Ṙ; Rᵀ ṗ] of a joint's pose for rates of its coordinates."""
    if len(q) == 0:
        return ZERO_MOTION
    X = _wrap_symbols_as_constants(law, level).pose([Dual(x, rate, level) for x, rate in zip(q, rates, strict=True)])
    R = Rotation(*(Vector3(*(value_at_level(x, level) for x in row)) for row in X.rotation))
    R_rate = Rotation(*(Vector3(*(rate_at_level(x, level) for x in row)) for row in X.rotation))
    x, y, z = R.columns()
    x_rate, y_rate, z_rate = R_rate.columns()
    p_rate = Vector3(*(rate_at_level(c, level) for c in X.position))
    return Motion(Vector3(z.dot(y_rate), x.dot(z_rate), y.dot(x_rate)), R.act_back(p_rate))


def _wrap_symbols_as_constants(law: Law, level: int) -> Law:
    """Return the joint with its symbols wrapped as constant dual numbers, so that they can be combined with other dual
    numbers."""

    def lift(x: Any) -> Any:
        if isinstance(x, tuple):
            return type(x)(*map(lift, x)) if hasattr(x, "_fields") else tuple(map(lift, x))
        return x if isinstance(x, float | int | str) else Dual(x, 0.0, level)

    own = {field.name: getattr(law, field.name) for field in dataclasses.fields(law) if field.init}
    changed = {name: new for name, x in own.items() if (new := lift(x)) != x}
    return dataclasses.replace(law, **changed) if changed else law

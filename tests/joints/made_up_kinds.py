"""Joint kinds that the program does not have: one says all that a kind may say, two only where they stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.joints.kind import JointKind, parallel_axes_residuals
from core.joints.pose_law import PoseLawJoint
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_x, about_z
from core.numerics.spatial.scalar import apply, minus, over, plus, sin, sqrt, times
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3, X

CURVATURE = 1.6
"""Of the parabola y = ½ k x² at its vertex, 1/m."""


@dataclass(frozen=True)
class Parabola(JointKind):
    """b slides on the parabola y = ½ k x² in a's plane across z, its x along the tangent: q = x."""

    name, title = "parabola", "Parabola"
    help = "Slides on a parabola, along its tangent."
    coordinates, coordinate_dimensions = ("",), ("length",)
    uses = ("axis",)
    counts_turns = False

    @staticmethod
    def slope(x):
        return times(CURVATURE, x)

    @classmethod
    def arc(cls, x):
        """ds/dx."""
        return sqrt(plus(1.0, times(cls.slope(x), cls.slope(x))))

    def pose(self, q):
        height = times(0.5 * CURVATURE, times(q[0], q[0]))
        return Pose(about_z(apply("atan", self.slope(q[0]))), Vector3(q[0], height, 0.0))

    def subspace(self, q):
        s = self.arc(q[0])
        return (Motion(Vector3(0.0, 0.0, over(CURVATURE, times(s, s))), Vector3(s, 0.0, 0.0)),)

    def bias(self, q, v):
        # s' = k² x / s and (k / s²)' = −2 k s' / s³
        s, square = self.arc(q[0]), times(v[0], v[0])
        change = over(times(CURVATURE, self.slope(q[0])), s)
        turn = over(times(-2.0 * CURVATURE, change), times(s, times(s, s)))
        return Motion(Vector3(0.0, 0.0, times(turn, square)), Vector3(times(change, square), 0.0, 0.0))

    def residual(self, X_ab):
        x, y, z = X_ab.position
        R, slope = X_ab.rotation, self.slope(x)
        askew = over(minus(R.y.x, times(slope, R.x.x)), self.arc(x))
        return [minus(y, times(0.5 * CURVATURE, times(x, x))), z, *parallel_axes_residuals(R), askew]

    def measure(self, X_ab):
        return Measured((X_ab.position.x,), (Force(ZERO, X),))


class PinInSlot(PoseLawJoint):
    """A pin turns in a slot and slides along it: the slot is b's x, the pin a's origin."""

    name, title = "pin_in_slot", "Pin in slot"
    help = "Turns about its axis, and slides along the slot, which turns with it."
    coordinates, coordinate_dimensions = ("angle", "slide"), ("angle", "length")
    uses = ("axis", "second_axis")
    counts_turns = True

    def pose(self, q):
        angle, slide = q
        R = about_z(angle)
        return Pose(R, R.act(Vector3(slide, 0.0, 0.0)))


class Cam(PoseLawJoint):
    """b turns about z and rises as on an end cam, its pitch per turn and a wave on it: q is the angle."""

    name, title = "cam", "Cam"
    help = "Turns about its axis and rises and falls with the angle."
    coordinates, coordinate_dimensions = ("",), ("angle",)
    uses = ("axis", "pitch")
    counts_turns = False

    def pose(self, q):
        height = self.pitch * q[0] / (2.0 * math.pi) + 0.05 * sin(3.0 * q[0]) + 0.02 * sqrt(1.0 + q[0] ** 2) - 0.02
        return Pose(about_z(q[0]) @ about_x(0.1 * sin(q[0])), Vector3(0.1 * q[0] ** 2, 0.0, height))

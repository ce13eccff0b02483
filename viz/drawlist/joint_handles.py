"""Handles of joints: rings and arrows, their positions for given frame poses, and the conversion of lines of sight to
motions of a dragged ring, arrow or point.

One part moves one coordinate, or turns a spherical or free joint about one axis of frame b.

All points and directions are (3,) arrays in world axes, m; directions have length one; angles in rad.
"""

from __future__ import annotations

from math import atan2, pi
from typing import Literal

import numpy as np

from core.errors import KinetostatError
from core.later import dataclass
from core.mechanics.multibody.number_reader import Numbers
from core.model import Joint
from core.numerics.spatial.pose import from_matrix
from viz.camera import Ray
from viz.drawlist.joint_look import Handle, MotionHandle, Part, Spot
from viz.drawlist.joints import look_of
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, inverse, number, perpendicular, unit

EDGE_ON = 0.22
"""Cosine between line of sight and ring axis below which a ring counts as seen edge-on."""


class JointHandle:
    """Handles of one joint."""

    def __init__(self, skeleton: Skeleton, joint: Joint) -> None:
        self.joint = joint
        self.sides = {which: skeleton.side(joint, which) for which in "ab"}
        self._handles: dict[Part, Handle | MotionHandle] = {}
        try:
            self._law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
        except KinetostatError:  # axes that say nothing
            pass
        else:
            self._canonical = np.eye(4)
            self._canonical[:3, :3] = np.array(R_ac, dtype=float)
            made = look_of(joint.info).handles(joint.name, self._law, self._canonical[:3, :3])
            self._handles = {handle.part: handle for handle in made}
        self.limits = {part: _limit(joint, part, skeleton) for part in self._handles}

    def stop(self, part: Part) -> str:
        """Return the kind of stop at the limits of a part: "elastic", "rigid", "off"; "" without one."""
        k = part.coordinate
        return self.joint.limits[k].stop if k is not None and k < len(self.joint.limits) else ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """All rings and arrows."""
        return tuple(self._handles)

    def spot(self, part: Part, X_WA: Array, X_WB: Array) -> Spot:
        """Return the position of a part for these poses of the joint's frames; neutral if they are upside down relative
        to each other."""
        X_ab = inverse(X_WA @ self._canonical) @ X_WB @ self._canonical
        try:
            q = [float(x) for x in self._law.measure(from_matrix(X_ab)).values]
        except ZeroDivisionError:
            q = [float(x) for x in self.joint.info.neutral]
        return self._handles[part].spot(X_WA, X_WB, q)

    def colour(self, part: Part) -> str:
        """Return the colour of a part that is not dragged."""
        return self._handles[part].colour


def _limit(joint: Joint, part: Part, skeleton: Skeleton) -> tuple[float | None, float | None]:
    """Return the bounds of a part's coordinate; None if unbounded."""
    if part.coordinate is None or part.coordinate >= len(joint.limits):
        return None, None
    limit = joint.limits[part.coordinate]
    low = None if limit.lower is None else number(limit.lower, skeleton.values)
    high = None if limit.upper is None else number(limit.upper, skeleton.values)
    return low, high


@dataclass(frozen=True)
class Grip:
    """Dragged object: a ring about `axis` through `centre` ("turn"), or an arrow along it ("slide").

    radius : of the ring as drawn, m; what a drag over a ring seen edge-on is measured with
    """

    kind: Literal["turn", "slide"]
    centre: Array
    axis: Array
    radius: float = 1.0


def plane_point(ray: Ray, point: Array, normal: Array) -> Array | None:
    """Return the intersection of a ray with a plane; None if the ray is parallel to it or points away."""
    slope = float(ray.direction @ normal)
    if abs(slope) < 1e-9:
        return None
    distance = float((point - ray.origin) @ normal) / slope
    return ray.at(distance) if distance > 0.0 else None


def ring_angle(ray: Ray, centre: Array, axis: Array, reference: Array | None = None) -> float | None:
    """Return the angle about the axis, from `reference` (default: `perpendicular(axis)`), at which a ray meets the
    ring's plane; None without an intersection, or at the centre."""
    point = plane_point(ray, centre, axis)
    if point is None:
        return None
    x = perpendicular(axis) if reference is None else unit(reference - axis * float(axis @ reference))
    arm = point - centre
    u, v = float(arm @ x), float(arm @ np.cross(axis, x))
    return atan2(v, u) if u * u + v * v > 1e-24 else None


def axis_parameter(ray: Ray, origin: Array, direction: Array) -> float | None:
    """Return the point of a line nearest to a ray, as distance from its origin along its direction; None if the ray is
    (nearly) parallel to the line."""
    across = float(ray.direction @ direction)
    spread = 1.0 - across * across
    if spread < 1e-6:
        return None
    between = ray.origin - origin
    return (float(between @ direction) - across * float(between @ ray.direction)) / spread


class Drag:
    """Drag of one grip: rotation of the pointer (rad, counted over full turns) or displacement (m) so far.

    Where the line of sight says nothing, the last amount stays.
    """

    def __init__(self, grip: Grip, ray: Ray) -> None:
        self.grip = grip
        self._rolls = grip.kind == "turn" and abs(float(ray.direction @ grip.axis)) < EDGE_ON
        if self._rolls:  # seen from the edge a ring is rolled like a wheel: along its rim that faces the eye
            self._along = unit(np.cross(grip.axis, -ray.direction))
        self._last = self._measure(ray)
        self._amount = 0.0

    def amount(self, ray: Ray) -> float:
        """Return the motion since the drag began, rad or m."""
        now = self._measure(ray)
        if now is None:
            return self._amount
        if self._last is not None:
            step = now - self._last
            if self.grip.kind == "turn" and not self._rolls:
                step = (step + pi) % (2.0 * pi) - pi
            self._amount += step
        self._last = now
        return self._amount

    def _measure(self, ray: Ray) -> float | None:
        grip = self.grip
        if grip.kind == "slide":
            return axis_parameter(ray, grip.centre, grip.axis)
        if self._rolls:
            path = axis_parameter(ray, grip.centre, self._along)
            return None if path is None else path / grip.radius
        return ring_angle(ray, grip.centre, grip.axis)


class PointDrag:
    """Drag of a point in the plane through it that faces the eye."""

    def __init__(self, point: Array, ray: Ray, normal: Array) -> None:
        self.start, self.normal = np.asarray(point, dtype=float), unit(normal)
        held = plane_point(ray, self.start, self.normal)
        self._offset = np.zeros(3) if held is None else self.start - held
        self._last = self.start

    def position(self, ray: Ray) -> Array:
        """Return the target position (3,) of the point, m."""
        place = plane_point(ray, self.start, self.normal)
        if place is not None:
            self._last = place + self._offset
        return self._last

"""Handles of joints: rings and arrows, their positions for given poses of the frames, and the conversion of lines of
sight to the motion of a dragged ring, arrow or point.

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
from viz.drawlist.joint_look import Handle, HandlePart, MotionHandle, PartPosition
from viz.drawlist.joints import find_look
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, inverse_pose, number, perpendicular_unit_vector, unit_vector

EDGE_ON = 0.22
"""Cosine of the angle between line of sight and ring axis below which a ring counts as seen edge-on."""


class JointHandle:
    """Rings and arrows of one joint."""

    def __init__(self, skeleton: Skeleton, joint: Joint) -> None:
        self.joint = joint
        self.sides = {which: skeleton.joint_frame(joint, which) for which in "ab"}
        self._handles: dict[HandlePart, Handle | MotionHandle] = {}
        try:
            self._law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
        except KinetostatError:  # axes that say nothing
            pass
        else:
            self._canonical = np.eye(4)
            self._canonical[:3, :3] = np.array(R_ac, dtype=float)
            made = find_look(joint.info).handles(joint.name, self._law, self._canonical[:3, :3])
            self._handles = {handle.part: handle for handle in made}
        self.limits = {part: _coordinate_bounds(joint, part, skeleton) for part in self._handles}

    def stop_kind(self, part: HandlePart) -> str:
        """Return the kind of stop at the limits of a part: "elastic", "rigid", "off"; "" without one."""
        k = part.coordinate
        return self.joint.limits[k].stop if k is not None and k < len(self.joint.limits) else ""

    @property
    def parts(self) -> tuple[HandlePart, ...]:
        """All rings and arrows."""
        return tuple(self._handles)

    def part_position(self, part: HandlePart, X_WA: Array, X_WB: Array) -> PartPosition:
        """Return the position of a ring or arrow for these poses of the joint's frames; the neutral position if the
        frames are upside down relative to each other."""
        X_ab = inverse_pose(X_WA @ self._canonical) @ X_WB @ self._canonical
        try:
            q = [float(x) for x in self._law.measure(from_matrix(X_ab)).values]
        except ZeroDivisionError:
            q = [float(x) for x in self.joint.info.neutral]
        return self._handles[part].part_position(X_WA, X_WB, q)

    def part_colour(self, part: HandlePart) -> str:
        """Return the colour of a ring or arrow while it is not dragged."""
        return self._handles[part].colour


def _coordinate_bounds(joint: Joint, part: HandlePart, skeleton: Skeleton) -> tuple[float | None, float | None]:
    """Return the bounds of the coordinate that a ring or arrow moves; None if unbounded."""
    if part.coordinate is None or part.coordinate >= len(joint.limits):
        return None, None
    limit = joint.limits[part.coordinate]
    low = None if limit.lower is None else number(limit.lower, skeleton.values)
    high = None if limit.upper is None else number(limit.upper, skeleton.values)
    return low, high


@dataclass(frozen=True)
class HandleGrip:
    """Object being dragged: a ring about `axis` through `centre` ("turn"), or an arrow along that axis ("slide").

    radius : of the ring as drawn, m; what a drag over a ring seen edge-on is measured with
    """

    kind: Literal["turn", "slide"]
    centre: Array
    axis: Array
    radius: float = 1.0


def plane_point(ray: Ray, point: Array, normal: Array) -> Array | None:
    """Return the intersection of a ray and a plane; None if the ray is parallel to the plane or points away from it."""
    slope = float(ray.direction @ normal)
    if abs(slope) < 1e-9:
        return None
    distance = float((point - ray.origin) @ normal) / slope
    return ray.at(distance) if distance > 0.0 else None


def ring_angle(ray: Ray, centre: Array, axis: Array, reference: Array | None = None) -> float | None:
    """Return the angle about the axis at which a ray meets the plane of a ring, measured from `reference` (default:
    `perpendicular_unit_vector(axis)`). None if the ray misses the plane or hits the centre."""
    point = plane_point(ray, centre, axis)
    if point is None:
        return None
    x = (
        perpendicular_unit_vector(axis)
        if reference is None
        else unit_vector(reference - axis * float(axis @ reference))
    )
    arm = point - centre
    u, v = float(arm @ x), float(arm @ np.cross(axis, x))
    return atan2(v, u) if u * u + v * v > 1e-24 else None


def axis_parameter(ray: Ray, origin: Array, direction: Array) -> float | None:
    """Return the point of a line that is nearest to a ray, as its distance from the origin along the line; None if ray
    and line are (nearly) parallel."""
    across = float(ray.direction @ direction)
    spread = 1.0 - across * across
    if spread < 1e-6:
        return None
    between = ray.origin - origin
    return (float(between @ direction) - across * float(between @ ray.direction)) / spread


class HandleDrag:
    """Drag of a ring or arrow: the pointer's rotation (rad, counted over full turns) or displacement (m) since the drag
    began.

    Where the line of sight says nothing, the last amount stays.
    """

    def __init__(self, grip: HandleGrip, ray: Ray) -> None:
        self.grip = grip
        self._rolls = grip.kind == "turn" and abs(float(ray.direction @ grip.axis)) < EDGE_ON
        if self._rolls:  # seen from the edge a ring is rolled like a wheel: along its rim that faces the eye
            self._along = unit_vector(np.cross(grip.axis, -ray.direction))
        self._last = self._pointer_coordinate(ray)
        self._amount = 0.0

    def motion_so_far(self, ray: Ray) -> float:
        """Return the motion since the drag began, in rad or m."""
        now = self._pointer_coordinate(ray)
        if now is None:
            return self._amount
        if self._last is not None:
            step = now - self._last
            if self.grip.kind == "turn" and not self._rolls:
                step = (step + pi) % (2.0 * pi) - pi
            self._amount += step
        self._last = now
        return self._amount

    def _pointer_coordinate(self, ray: Ray) -> float | None:
        grip = self.grip
        if grip.kind == "slide":
            return axis_parameter(ray, grip.centre, grip.axis)
        if self._rolls:
            path = axis_parameter(ray, grip.centre, self._along)
            return None if path is None else path / grip.radius
        return ring_angle(ray, grip.centre, grip.axis)


class PointDrag:
    """Drag of a point in the plane through it that faces the camera."""

    def __init__(self, point: Array, ray: Ray, normal: Array) -> None:
        self.start, self.normal = np.asarray(point, dtype=float), unit_vector(normal)
        held = plane_point(ray, self.start, self.normal)
        self._offset = np.zeros(3) if held is None else self.start - held
        self._last = self.start

    def target_position(self, ray: Ray) -> Array:
        """Return the target position (3,) of the point, m."""
        place = plane_point(ray, self.start, self.normal)
        if place is not None:
            self._last = place + self._offset
        return self._last

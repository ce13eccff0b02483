"""Geometry of dragging: conversion of lines of sight to motions of a ring, an arrow or a point.

All points and directions are (3,) arrays in world axes, m; directions have length one; angles in rad.
"""

from __future__ import annotations

from math import atan2, pi
from typing import Literal

import numpy as np

from core.later import dataclass
from viz.camera import Ray
from viz.placement import Array, perpendicular, unit

EDGE_ON = 0.22
"""Cosine between line of sight and ring axis below which a ring counts as seen edge-on."""


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

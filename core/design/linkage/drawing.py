"""A machine seen in a working plane: pins, guides, points and free ends at their present positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.design.linkage.plane import Plane, Point, rotation_angles, round_measured_number
from core.errors import ModelError, suggest_names
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import WORLD, Body, Capsule, Joint, Model, Pose
from core.model.fields import Value, Vector
from core.model.parameters import evaluate_field

Array = NDArray[np.float64]

PARALLEL = 1e-6
"""Sine of the largest angle at which an axis still counts as normal to the plane, or as lying in it."""
SAME_PLACE = 1e-9
"""Distance, m, below which two points coincide."""


class PointOnBody(NamedTuple):
    """Point of a body or frame at which a pin can be placed."""

    owner: str
    position: Vector = (0.0, 0.0, 0.0)
    """Position in the owner's axes, m."""


class On(NamedTuple):
    """Point of the plane (u, v in m) that belongs to a body, or to the ground."""

    body: str
    point: Point


def ground(u: float, v: float) -> On:
    """Return a point of the plane that belongs to the plane's parent body."""
    return On("", (u, v))


End = str | Point | On
"""Start or end of a drawn element: a pin, frame or body by name (a body stands for the far end of its link), a new
point, or a point of a body."""


@dataclass(frozen=True)
class Pin:
    """A revolute joint about the plane's normal."""

    joint: Joint
    point: Point

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self.joint.name


@dataclass(frozen=True)
class Guide:
    """A prismatic joint in the plane. angle : of its direction, rad"""

    joint: Joint
    point: Point
    angle: float


class Bar(NamedTuple):
    """Link drawn as a bar along its first axis. start, end : in the plane; length : field value in the document"""

    body: str
    start: Point
    end: Point
    length: Value


class Drawing:
    """A machine seen in a working plane, in its reference configuration if no poses are given.

    poses : (4, 4) world ← body or frame, by name
    """

    def __init__(self, model: Model, plane: Plane, poses: Mapping[str, Array] | None = None) -> None:
        self.model, self.plane = model, plane
        self._poses = poses

    @cached_property
    def poses(self) -> Mapping[str, Array]:
        """World pose (4, 4) of every body and frame, by name."""
        return {WORLD: np.eye(4), **(reference_poses(self.model) if self._poses is None else self._poses)}

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Parameter values."""
        return self.model.values()

    @cached_property
    def X_WD(self) -> Array:
        """(4, 4) pose of the plane (axes u, v, normal) in the world."""
        if self.plane.parent not in self.poses:
            raise ModelError(
                f"The parent of the working plane, '{self.plane.parent}', no longer exists.",
                remedy="Choose another plane.",
            )
        X = self.poses[self.plane.parent].copy()
        X[:3, :3] = X[:3, :3] @ self.plane.basis
        return X

    @cached_property
    def X_DW(self) -> Array:
        """(4, 4) pose of the world in the plane."""
        return np.asarray(np.linalg.inv(self.X_WD), dtype=float)

    # ------------------------------------------------------------------------------- points

    def number(self, value: Value) -> float:
        """Return the numerical value of a field."""
        return float(evaluate_field(value, self.values))

    def world_point(self, point: Point) -> Array:
        """Return the world position (3,), m, of a point of the plane."""
        return np.asarray(self.X_WD @ np.array([*point, 0.0, 1.0]))[:3]

    def plane_point(self, world: Array) -> Point:
        """Return the plane coordinates of a world point (3,), projected along the normal."""
        u, v, _, _ = (self.X_DW @ np.array([*world, 1.0])).tolist()
        return u, v

    def point(self, place: PointOnBody) -> Point:
        """Return the plane coordinates of a point of a body."""
        local = np.array([*(self.number(each) for each in place.position), 1.0])
        return self.plane_point(np.asarray(self.poses[place.owner] @ local)[:3])

    def local(self, owner: str, point: Point) -> Array:
        """Return the coordinates (3,) of a point of the plane in the axes of a body or frame, m."""
        return np.asarray(np.linalg.inv(self.poses[owner]) @ np.array([*self.world_point(point), 1.0]))[:3]

    def rotation(self, owner: str) -> Array:
        """Return the axes (3, 3) of a body or frame in those of the plane's parent."""
        return np.asarray(self.poses[self.plane.parent][:3, :3].T @ self.poses[owner][:3, :3])

    def aligned(self, owner: str) -> bool:
        """Return True if the plane's normal is the axis of the same name of the body or frame, as it is for drawn
        links."""
        n = self.plane.basis[:, 2]
        return bool(np.linalg.norm(self.rotation(owner) @ n - n) < PARALLEL)

    def angle(self, owner: str) -> float:
        """Return the rotation of a body or frame about the normal, rad; 0 if it is not aligned."""
        if not self.aligned(owner):
            return 0.0
        u, v, _ = self.plane.basis.T
        seen = self.rotation(owner) @ u
        return math.atan2(float(v @ seen), float(u @ seen))

    def frame(self, place: PointOnBody) -> Pose:
        """Return the frame of a joint at a point, rotated so that it is parallel to the plane."""
        if self.aligned(place.owner):
            return Pose(position=place.position)
        return Pose(position=place.position, rotation=rotation_angles(self.rotation(place.owner).T))

    # ------------------------------------------------------------------------------- what there is

    @cached_property
    def pins(self) -> tuple[Pin, ...]:
        """Revolute joints about the normal, in the order of the document."""
        found = []
        for joint in self.model.expanded.joints:
            if joint.info.is_hinge() and joint.given_in == "frames":
                axis = self._axis_in_plane(joint)
                if np.hypot(axis[0], axis[1]) < PARALLEL:
                    found.append(Pin(joint, self.point(PointOnBody(joint.parent, joint.a.position))))
        return tuple(found)

    @cached_property
    def guides(self) -> tuple[Guide, ...]:
        """Prismatic joints in the plane."""
        found = []
        for joint in self.model.expanded.joints:
            if joint.info.is_slider() and joint.given_in == "frames":
                axis = self._axis_in_plane(joint)
                if abs(axis[2]) < PARALLEL:
                    point = self.point(PointOnBody(joint.child, joint.b.position))
                    found.append(Guide(joint, point, math.atan2(axis[1], axis[0])))
        return tuple(found)

    def _axis_in_plane(self, joint: Joint) -> Array:
        """(3,) unit vector of a joint's axis, in the plane's axes."""
        from core.numerics.spatial.rotation import from_angles

        turned = np.array(from_angles([self.number(each) for each in joint.a.rotation]), dtype=float)
        axis = turned @ np.array([self.number(each) for each in joint.axis])
        seen = self.X_DW[:3, :3] @ self.poses[joint.parent][:3, :3] @ axis
        return np.asarray(seen / np.linalg.norm(seen))

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """Links drawn as bars."""
        found = []
        for body in self.model.bodies:
            length = bar_length(body, self.plane)
            if length is not None and self.aligned(body.name):
                ends = (
                    self.point(PointOnBody(body.name)),
                    self.point(PointOnBody(body.name, self.plane.along(length))),
                )
                found.append(Bar(body.name, *ends, length))
        return tuple(found)

    @cached_property
    def frames(self) -> tuple[tuple[str, Point], ...]:
        """Named points of bodies in the plane."""
        own = [frame for frame in self.model.frames if self.model.carrier(frame.name).name != WORLD]
        return tuple((frame.name, self.point(PointOnBody(frame.name))) for frame in own)

    def bar(self, body: str) -> Bar | None:
        """Return the bar of a link; None for a body that is not drawn as a bar."""
        return next((bar for bar in self.bars if bar.body == body), None)

    def pin(self, name: str) -> Pin:
        """Return the pin with this name. Raises ModelError if there is none in the plane."""
        found = next((pin for pin in self.pins if pin.name == name), None)
        if found is None:
            remedy = suggest_names(name, [pin.name for pin in self.pins])
            raise ModelError(f"There is no pin '{name}' in the plane {self.plane.title}.", remedy=remedy)
        return found

    def pins_at(self, point: Point, tolerance: float = SAME_PLACE) -> Iterator[Pin]:
        """Yield the pins at a point of the plane."""
        return (pin for pin in self.pins if math.dist(pin.point, point) <= tolerance)

    # ------------------------------------------------------------------------------- what is meant

    def place(self, end: End) -> PointOnBody:
        """Return the point of a body that an end refers to; a new point belongs to the plane's parent."""
        if isinstance(end, str):
            return self._point_of_element(end)
        on = end if isinstance(end, On) else On("", end)
        owner = on.body or self.plane.parent
        if owner not in self.poses:
            raise ModelError(f"There is no body or frame '{owner}'.", remedy=suggest_names(owner, list(self.poses)))
        x, y, z = (round_measured_number(each) for each in self.local(owner, on.point))
        return PointOnBody(owner, (x, y, z))

    def _point_of_element(self, name: str) -> PointOnBody:
        joint = next((each for each in self.model.expanded.joints if each.name == name), None)
        if joint is not None:
            slides = joint.info.is_slider()
            return PointOnBody(joint.child, joint.b.position) if slides else PointOnBody(joint.parent, joint.a.position)
        frame = next((each for each in self.model.frames if each.name == name), None)
        if frame is not None:
            return (
                PointOnBody(frame.parent, frame.pose.position)
                if frame.pose.rotation == (0.0,) * 3
                else PointOnBody(name)
            )
        if name in self.poses:
            bar = self.bar(name)
            return PointOnBody(name, self.plane.along(bar.length)) if bar is not None else PointOnBody(name)
        known = [*(joint.name for joint in self.model.joints), *self.poses]
        raise ModelError(f"There is no pin, link or point '{name}'.", remedy=suggest_names(name, known))


def elements_visible_in_plane(drawing: Drawing) -> frozenset[str] | None:
    """Return the bodies and frames visible in the plane: bars, bodies that turn or slide in it, and those fixed to
    them; None if these are all."""
    model = drawing.model.expanded
    found = {WORLD, *(bar.body for bar in drawing.bars)}
    for joint in (*(pin.joint for pin in drawing.pins), *(guide.joint for guide in drawing.guides)):
        found |= {model.carrier(joint.parent).name, model.carrier(joint.child).name}
    for joint in model.joints:
        parent, child = model.carrier(joint.parent).name, model.carrier(joint.child).name
        if not joint.info.nv and parent in found:
            found.add(child)
    if found >= {body.name for body in model.bodies}:
        return None
    return frozenset(found | {frame.name for frame in model.frames if model.carrier(frame.name).name in found})


def reference_poses(model: Model) -> dict[str, Array]:
    """Return the world pose (4, 4) of every body and frame in the reference configuration, by name."""
    mech = Mechanism(model)
    return dict(zip(mech.frame_names, np.asarray(mech.poses(mech.rest())), strict=True))


def bar_length(body: Body, plane: Plane) -> Value | None:
    """Return the length of a body drawn as a bar along the first axis of a plane; None for any other body."""
    shape = next(iter(body.shapes), None)
    if not isinstance(shape, Capsule) or shape.pose.rotation != plane.bar():
        return None
    return shape.length if shape.pose.position == plane.along(half_of_length(shape.length)) else None


def half_of_length(length: Value) -> Value:
    """Return half of a length, as a number or formula."""
    if isinstance(length, str):
        return f"{length}/2" if length.isidentifier() else f"({length})/2"
    return length / 2.0

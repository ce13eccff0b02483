"""Which rings and arrows a joint of each kind has, and where they are for given poses of its frames. Pure.

One part moves one coordinate, or turns a spherical or free joint about one axis of frame b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.joints.measures import coordinates_of
from core.model import Joint
from core.multibody.number_reader import Numbers
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation, from_z
from core.spatial.vector import ZERO, Vector3
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, number, numbers, perpendicular, unit


@dataclass(frozen=True)
class Part:
    """A ring ("turn") or an arrow ("slide") of a joint.

    coordinate : index among the joint's coordinates that it moves; None where it turns a quaternion
    speed      : index among the joint's speeds: moving the part by x is moving along this unit speed by x
    """

    joint: str
    kind: Literal["turn", "slide"]
    coordinate: int | None
    speed: int


@dataclass(frozen=True)
class Spot:
    """Where a part is: centre (3,), axis (3,), the direction (3,) of value zero of a ring (the origin of value zero
    of an arrow is `zero`), and the value shown now (None for quaternions)."""

    centre: Array
    axis: Array
    reference: Array
    zero: Array
    value: float | None


@dataclass(frozen=True)
class _Design:
    """A part with the frame that fixes its axis ("a" or "b"), the axis there and the frame it sits on."""

    part: Part
    fixed_to: str
    axis: Array
    reference: Array
    sits_on: str


class JointHandle:
    """The parts of one joint."""

    def __init__(self, skeleton: Skeleton, joint: Joint) -> None:
        self.joint = joint
        self.sides = {which: skeleton.side(joint, which) for which in "ab"}
        self._designs = {design.part: design for design in _designs(joint, skeleton)}
        self._law, self._turn = Numbers(skeleton.values, "").law(joint)
        self.limits = {part: _limit(joint, part, skeleton) for part in self._designs}

    @property
    def parts(self) -> tuple[Part, ...]:
        """All rings and arrows."""
        return tuple(self._designs)

    def spot(self, part: Part, X_WA: Array, X_WB: Array) -> Spot:
        """Where a part is when the joint's frames are there."""
        design = self._designs[part]
        fixed = X_WA if design.fixed_to == "a" else X_WB
        axis = fixed[:3, :3] @ design.axis
        centre = (X_WA if design.sits_on == "a" else X_WB)[:3, 3]
        if part.coordinate is None:
            return Spot(centre, axis, fixed[:3, :3] @ design.reference, centre, None)
        value = self._coordinates(X_WA, X_WB)[part.coordinate]
        if part.kind == "slide":
            return Spot(centre, axis, fixed[:3, :3] @ design.reference, centre - value * axis, value)
        reference = X_WA[:3, :3] @ design.reference
        reference = unit(reference - axis * float(axis @ reference))
        return Spot(centre, axis, reference, centre, value)

    def _coordinates(self, X_WA: Array, X_WB: Array) -> tuple[float, ...]:
        """What the kernel measures between the joint's frames."""
        a, b = (_pose(X) @ Pose(self._turn, ZERO) for X in (X_WA, X_WB))
        return tuple(map(float, coordinates_of(a, b, self._law, None).values))


def _pose(X: Array) -> Pose:
    """The pose of a (4, 4) matrix."""
    rows = X[:3, :3].tolist()
    return Pose(Rotation(*(Vector3(*row) for row in rows)), Vector3(*X[:3, 3].tolist()))


def _designs(joint: Joint, skeleton: Skeleton) -> list[_Design]:
    axis = unit(numbers(joint.axis, skeleton.values))
    aside = perpendicular(axis)
    name, kind = joint.name, joint.kind
    if kind in ("revolute", "continuous"):
        return [_Design(Part(name, "turn", 0, 0), "a", axis, aside, "a")]
    if kind == "screw":
        return [_Design(Part(name, "turn", 0, 0), "a", axis, aside, "b")]
    if kind == "prismatic":
        return [_Design(Part(name, "slide", 0, 0), "a", axis, aside, "b")]
    if kind == "cylindrical":
        return [
            _Design(Part(name, "turn", 0, 0), "a", axis, aside, "b"),
            _Design(Part(name, "slide", 1, 1), "a", axis, aside, "b"),
        ]
    if kind == "universal":
        second = unit(numbers(joint.second_axis, skeleton.values))
        return [
            _Design(Part(name, "turn", 0, 0), "a", axis, second, "a"),
            _Design(Part(name, "turn", 1, 1), "b", second, axis, "a"),
        ]
    if kind == "planar":
        x, y, _ = np.array(from_z(Vector3(*axis.tolist())).columns(), dtype=float)
        return [
            _Design(Part(name, "slide", 0, 0), "a", x, axis, "b"),
            _Design(Part(name, "slide", 1, 1), "a", y, axis, "b"),
            _Design(Part(name, "turn", 2, 2), "a", axis, x, "b"),
        ]
    if kind == "spherical":
        return [_turn(name, i, "b") for i in range(3)]
    if kind == "free":
        slides = [_Design(Part(name, "slide", i, 3 + i), "a", np.eye(3)[i], np.eye(3)[i - 1], "b") for i in range(3)]
        return slides + [_turn(name, i, "b") for i in range(3)]
    return []


def _turn(name: str, i: int, side: str) -> _Design:
    """A ring about an axis of frame b that turns a quaternion."""
    return _Design(Part(name, "turn", None, i), side, np.eye(3)[i], np.eye(3)[i - 2], "b")


def _limit(joint: Joint, part: Part, skeleton: Skeleton) -> tuple[float | None, float | None]:
    """Bounds of a part's coordinate; None where unbounded."""
    if part.coordinate is None or part.coordinate >= len(joint.limits):
        return None, None
    limit = joint.limits[part.coordinate]
    low = None if limit.lower is None else number(limit.lower, skeleton.values)
    high = None if limit.upper is None else number(limit.upper, skeleton.values)
    return low, high

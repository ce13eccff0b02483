"""Working plane of a linkage, and the document fields of points and angles in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import ModelError, suggest_names
from core.later import dataclass
from core.model import WORLD, Frame, Model, Pose
from core.model.edits.edits import add, unused_name
from core.model.fields import Value, Vector
from core.model.parameters import evaluate_field

Array = NDArray[np.float64]
Point = tuple[float, float]
"""Coordinates u, v in a plane, m."""


PLACE_DIGITS = 7
"""Decimal places of positions and angles measured on a surface (m, rad), whose points are drawn with seven digits."""
ALIGNED = 1e-5
"""Deviation of an entry of a measured rotation from 0 or 1 that is rounded off."""

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class _PlaneAxes(NamedTuple):
    """Orientation of a plane in its parent, and the angles (fixed axes x, y, z) that orient shapes in it."""

    u: tuple[float, float, float]
    v: tuple[float, float, float]
    bar: tuple[Value, Value, Value]
    """Angles that rotate z onto u."""
    about: int
    """Index of the angle about the normal."""
    sign: str
    """Sign of that angle."""
    turned: tuple[float, float, float]
    """Factors that convert a rotation about the normal to the three angles."""
    upright: tuple[Value, Value, Value]
    """Angles that rotate z onto the normal."""


_QUARTER: Value = "pi/2"
_AXES = {
    "xz": _PlaneAxes(_X, _Z, (0.0, _QUARTER, 0.0), 1, "-", (0.0, -1.0, 0.0), (_QUARTER, 0.0, 0.0)),
    "xy": _PlaneAxes(_X, _Y, (0.0, _QUARTER, 0.0), 2, "+", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "yz": _PlaneAxes(_Y, _Z, ("-pi/2", 0.0, 0.0), 0, "+", (1.0, 0.0, 0.0), (0.0, _QUARTER, 0.0)),
}


@dataclass(frozen=True)
class Plane:
    """Working plane `axes` ("xz", "xy" or "yz") through the origin of a body, a frame or the ground, its parent.
    Elements drawn in it are attached to that parent; angles count from the first axis, anticlockwise when looking
    against the normal."""

    axes: str = "xz"
    parent: str = WORLD

    def __post_init__(self) -> None:
        if self.axes not in _AXES:
            raise ModelError(f"There is no plane '{self.axes}'.", remedy=suggest_names(self.axes, list(_AXES)))

    @property
    def title(self) -> str:
        """Name shown to the user."""
        return self.axes if self.parent == WORLD else f"{self.axes} of {self.parent}"

    @property
    def basis(self) -> Array:
        """(3, 3) columns u, v and normal, in the parent's axes."""
        u, v = np.array(_AXES[self.axes].u), np.array(_AXES[self.axes].v)
        return np.column_stack([u, v, np.cross(u, v)])

    @property
    def normal(self) -> tuple[float, float, float]:
        """Axis of every pin, in the parent's axes."""
        x, y, z = (self.basis[:, 2] + 0.0).tolist()
        return x, y, z

    # ------------------------------------------------------------------------------- fields of the document

    def along(self, length: Value) -> Vector:
        """Return a vector along the first axis."""
        return self.vector(length, 0.0)

    def vector(self, u: Value, v: Value) -> Vector:
        """Return a vector (u, v) of the plane, in the axes of the parent or of a link drawn in the plane."""
        axes, found = _AXES[self.axes], list[Value]()
        for at_u, at_v in zip(axes.u, axes.v, strict=True):
            found.append(u if at_u else v if at_v else 0.0)
        x, y, z = found
        return x, y, z

    def components(self, vector: Vector) -> tuple[Value, Value]:
        """Return the components u, v of a vector; the inverse of `vector`."""
        axes = _AXES[self.axes]
        return vector[axes.u.index(1.0)], vector[axes.v.index(1.0)]

    def bar(self, angle: Value = 0.0) -> Vector:
        """Return the angles that rotate a shape along z into the plane, at an angle from the first axis."""
        axes = _AXES[self.axes]
        found = list(axes.bar)
        if isinstance(angle, str) or angle:
            base = found[axes.about]
            found[axes.about] = angle if base == 0.0 else f"{base} {axes.sign} ({angle})"
        x, y, z = found
        return x, y, z

    def turned(self, angle: float) -> Vector:
        """Return the angles that rotate a shape about the normal."""
        x, y, z = (round_measured_number(each * angle) for each in _AXES[self.axes].turned)
        return x, y, z

    @property
    def upright(self) -> Vector:
        """Return the angles that rotate a shape along z onto the normal."""
        return _AXES[self.axes].upright

    def at(self, **changes: Any) -> Plane:
        """Return a copy with changed fields."""
        return replace(self, **changes)


XZ, XY, YZ = Plane("xz"), Plane("xy"), Plane("yz")
PLANES: Mapping[str, Plane] = MappingProxyType({"xz": XZ, "xy": XY, "yz": YZ})
"""World planes in the order offered to the user: the first is the front view."""


def plane_on(
    model: Model,
    parent: str = WORLD,
    axes: str = "xz",
    offset: Value = 0.0,
    *,
    position: Vector | None = None,
    turns: int = 0,
    flipped: bool = False,
) -> tuple[Model, Plane]:
    """Add a frame for a plane other than a world plane, and return the model and the plane: parallel to the plane
    `axes` of a body, frame or the ground, moved along its normal by an offset (m), or through a position (m) in the
    parent; turned by quarter turns; flipped over."""
    plane = Plane(axes, parent)
    if not offset and position is None and not turns and not flipped:
        return model, plane
    basis = plane.basis
    if flipped:
        basis = basis * np.array([1.0, -1.0, -1.0])
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    R = basis @ np.linalg.matrix_power(quarter, turns % 4)
    place = position if position is not None else _offset_along_normal(basis[:, 2], offset)
    name = unused_name(model, "frames", "plane1")
    pose = Pose(position=place, rotation=rotation_angles(R))
    return add(model, Frame(name=name, parent=parent, pose=pose)), Plane("xy", name)


def plane_through(model: Model, joint: str) -> tuple[Model, Plane]:
    """Add a frame for the plane through a joint's origin and perpendicular to its axis, fixed to the joint's carrier,
    and return the model and the plane. Its first axis is the carrier's x, or y if x is the joint axis, seen along the
    axis."""
    found, values = model.joint(joint), model.values()
    turned, axis = (
        np.array([float(evaluate_field(each, values)) for each in given]) for given in (found.a.rotation, found.axis)
    )
    from core.numerics.spatial.rotation import from_angles

    normal = np.array(from_angles(turned.tolist()), dtype=float) @ axis
    length = float(np.linalg.norm(normal))
    if not length > 0.0:
        raise ModelError("The joint's axis has no direction.", where=f"joint '{joint}'", remedy="Choose another joint.")
    normal = normal / length
    first = np.eye(3)[0] if abs(normal[0]) < 0.9 else np.eye(3)[1]
    u = first - (first @ normal) * normal
    u = u / np.linalg.norm(u)
    R = np.column_stack([u, np.cross(normal, u), normal])
    pose = Pose(position=found.a.position, rotation=rotation_angles(R))
    name = unused_name(model, "frames", "plane1")
    return add(model, Frame(name=name, parent=found.parent, pose=pose)), Plane("xy", name)


def plane_at(model: Model, parent: str, position: ArrayLike, R: ArrayLike) -> tuple[Model, Plane]:
    """Add a frame for the plane through a measured position (3,) m of a body, frame or the ground, with axes u, v and
    normal as the columns of R (3, 3), both in the parent's axes, and return the model and the plane. An existing equal
    frame is reused."""
    x, y, z = (round(float(each), PLACE_DIGITS) + 0.0 for each in np.asarray(position, dtype=float))
    pose, values = (
        Pose(position=(x, y, z), rotation=rotation_angles(_rotation_without_noise(np.asarray(R, dtype=float)))),
        model.values(),
    )
    for frame in model.frames:
        if frame.parent == parent and _pose_numbers(frame.pose, values) == _pose_numbers(pose, values):
            return model, Plane("xy", frame.name)
    name = unused_name(model, "frames", "plane1")
    return add(model, Frame(name=name, parent=parent, pose=pose)), Plane("xy", name)


def _pose_numbers(pose: Pose, values: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(round(float(evaluate_field(each, values)), PLACE_DIGITS) for each in (*pose.position, *pose.rotation))


def _rotation_without_noise(R: Array) -> Array:
    """Return a measured rotation (3, 3) in which axes that are nearly parallel to coordinate axes are aligned with
    them."""
    rounded = np.where(np.abs(R - np.round(R)) < ALIGNED, np.round(R), R)
    normal = rounded[:, 2] / np.linalg.norm(rounded[:, 2])
    u = rounded[:, 0] - (rounded[:, 0] @ normal) * normal
    u = u / np.linalg.norm(u)
    return np.column_stack([u, np.cross(normal, u), normal])


def _offset_along_normal(normal: Array, offset: Value) -> Vector:
    """Return a vector of the given length along a coordinate axis or its opposite."""
    negative = f"-({offset})" if isinstance(offset, str) else -offset
    x, y, z = (0.0 if abs(each) < 0.5 else offset if each > 0.0 else negative for each in normal)
    return x, y, z


def round_measured_number(value: float) -> float:
    """Round a measured number to 1e-12, so that loops close to 1e-10 where they are drawn."""
    return round(float(value), 12) + 0.0  # −0 is 0


def rotation_angles(R: ArrayLike) -> Vector:
    """Return the rotation angles about the fixed axes of a rotation (3, 3); quarter turns are given as fractions of
    pi."""
    from core.numerics.spatial.rotation import fixed_axis_angles

    x, y, z = (_as_fraction_of_pi(float(angle)) for angle in fixed_axis_angles(np.asarray(R, dtype=float)))
    return x, y, z


def _as_fraction_of_pi(angle: float) -> Value:
    words: dict[int, Value] = {0: 0.0, 1: "pi/2", -1: "-pi/2", 2: "pi", -2: "-pi"}
    quarters = round(angle / (math.pi / 2.0))
    return words[quarters] if abs(angle - quarters * math.pi / 2.0) < 1e-12 else round_measured_number(angle)

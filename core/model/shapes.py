"""Poses, and shapes of bodies. Shapes are drawn, and determine the mass properties of a body that has a density."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from math import hypot
from typing import Any, ClassVar, Protocol, Self

from core.kinds import Kinds
from core.later import dataclass
from core.model.fields import (
    Element,
    ScalarKind,
    Value,
    Vector,
    VectorKind,
    choice,
    coerce_value,
    color,
    declared_fields,
    name,
    part,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import angles_from_matrix, are_plain_numbers, rows_of_square_matrix
from core.numerics.spatial import inertia as solids
from core.numerics.spatial.inertia import ZERO as NO_MASS
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.rotation import fixed_axis_angles
from core.numerics.spatial.scalar import Scalar


def _rotation_dimension(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return "angle" if len(owners[-1].rotation) == 3 else "none"


@dataclass(frozen=True, kw_only=True)
class Pose(Element):
    """The position of a frame in another (m), and its rotation, given either by angles about the fixed axes x, y, z in
    this order (three numbers, rad; R = Rz·Ry·Rx as in URDF) or by a quaternion (x, y, z, w)."""

    position: Vector = vector("length", help="Position of the origin")
    rotation: tuple[Value, ...] = vector(
        "angle",
        help="Angles about the fixed axes x, y, z, or a quaternion x, y, z, w",
        sizes=(3, 4),
        labels=("x", "y", "z", "w"),
        by=_rotation_dimension,
        spelled=angles_from_matrix,
    )
    forms: ClassVar[str] = (
        "its position [x, y, z], position and angles [x, y, z, α, β, γ], a rotation matrix 3×3, or a matrix 4×4"
    )

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Pose | None:
        """Return the pose for a position, a position with angles, a rotation matrix, or a pose matrix; None for any
        other list."""
        if are_plain_numbers(items):
            if len(items) not in (3, 6):
                return None
            return cls(position=items[:3], rotation=items[3:] or (0.0, 0.0, 0.0))
        if rows_of_square_matrix(items, 3) is not None:
            return cls(rotation=items)
        if (rows := rows_of_square_matrix(items, 4)) is None or tuple(map(coerce_value, rows[3])) != (
            0.0,
            0.0,
            0.0,
            1.0,
        ):
            return None
        return cls(
            position=tuple(row[3] for row in rows[:3]), rotation=angles_from_matrix([row[:3] for row in rows[:3]])
        )


IDENTITY = Pose()


@dataclass(frozen=True, kw_only=True)
class Material(Element):
    """A named colour."""

    name: str = name()
    color: tuple[float, ...] | None = color()
    texture: str = text("Image file", role="file")


ROLES = ("both", "visual", "collision")

Point = tuple[float, float, float]
Number = Callable[[Value], float]
"""The value of a size, m."""


class SizeEvaluator(Protocol):
    """Evaluator of sizes (over any kind of scalar) and of mesh files, from which mass properties are computed."""

    def number(self, value: Value) -> Scalar:
        """Return the value of a size, m."""
        ...

    def mesh_inertia(self, mesh: Mesh, density: Scalar) -> Inertia:
        """Return the mass properties of the volume enclosed by a mesh file's surface."""
        ...


@dataclass(frozen=True, kw_only=True)
class Shape(Element, ABC):
    """Base class of all shapes. The axis of cylinder, capsule and cone is z; they are centred at their pose.

    A kind is one class. Sizes are in m, in the axes of the shape.
    """

    word: ClassVar[str]
    """Name of the shape in files and menus."""
    may_be_zero: ClassVar[tuple[str, ...]] = ()
    """Names of sizes that may be zero."""
    inside: ClassVar[tuple[tuple[str, str, int], ...]] = ()
    """Sizes of hollows and walls: (name, size that contains it, how often it must fit in there)."""
    pose: Pose = part(Pose, "Pose in the body's frame", IDENTITY)
    role: str = choice(ROLES, "Drawn, used for collision, or both", "both")
    material: str = reference("material", "Name of a material", optional=True)
    color: tuple[float, ...] | None = color()

    def own_sizes(self) -> list[tuple[str, tuple[Value, ...]]]:
        """Return name and values of each length and count that describes the shape; none of a mesh's scale."""
        found: list[tuple[str, tuple[Value, ...]]] = []
        for field in declared_fields(type(self)):
            if isinstance(field.kind, ScalarKind):
                found.append((field.name, (getattr(self, field.name),)))
            elif isinstance(field.kind, VectorKind) and field.kind.dimension == "length":
                found.append((field.name, getattr(self, field.name)))
        return found

    @abstractmethod
    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties about the shape's origin; zero for purely decorative shapes."""

    @abstractmethod
    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box, without gear teeth and arrow heads; for a mesh,
        whose size is known only from its file, a single point."""

    def bounding_radius(self, number: Number) -> float:
        """Return the radius of a sphere about the origin that contains the shape."""
        return hypot(*(max(-low, high) for low, high in zip(*self.bounds(number), strict=True)))

    def snap_points(self, number: Number) -> tuple[Point, ...]:
        """Return the points to which the cursor snaps: the shape's origin and its ends."""
        low, high = self.bounds(number)
        return tuple(dict.fromkeys((0.0, 0.0, z) for z in (0.0, high[2], low[2])))

    def sizes_by_axis(self) -> dict[int, Value]:
        """Return the end-to-end sizes along the shape's axes by axis number; they are centred at the origin."""
        return {}

    def with_size_along(self, axis: int, size: Value) -> Self:
        """Return the shape with another size along an axis."""
        length: dict[str, Any] = {"length": size}
        return dataclasses.replace(self, **length)


class Round(Shape):
    """A shape of revolution about z, centred, with a radius and a length."""

    radius: Value
    length: Value

    def sizes_by_axis(self) -> dict[int, Value]:
        """Return the size of the shape along each axis that has one."""
        return {2: self.length}

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _cylinder_bounding_box(number(self.radius), number(self.length))

    def bounding_radius(self, number: Number) -> float:
        """Return the radius of a sphere about the origin that contains the shape."""
        _, (radius, _, half) = self.bounds(number)
        return hypot(radius, half)


def _centred_bounding_box(x: float, y: float, z: float) -> tuple[Point, Point]:
    """Return the corners of a box with these edges about the origin."""
    return (-x / 2.0, -y / 2.0, -z / 2.0), (x / 2.0, y / 2.0, z / 2.0)


def _cylinder_bounding_box(radius: float, length: float) -> tuple[Point, Point]:
    """Return the bounding box of a centred cylinder along z."""
    return _centred_bounding_box(2.0 * radius, 2.0 * radius, length)


def _hollow_cylinder(density: Scalar, outer: Scalar, inner: Scalar, length: Scalar) -> Inertia:
    """Return the mass properties of a hollow cylinder along z."""
    return solids.cylinder(density, outer, length) + solids.cylinder(-density, inner, length)


@dataclass(frozen=True, kw_only=True)
class Box(Shape):
    """A cuboid centred at its pose."""

    word = "box"
    size: Vector = vector("length", (0.1, 0.1, 0.1), "Edge lengths")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the cuboid."""
        return solids.box(density, *map(sizes.number, self.size))

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the cuboid."""
        x, y, z = map(number, self.size)
        return _centred_bounding_box(x, y, z)

    def sizes_by_axis(self) -> dict[int, Value]:
        """Return the size of the cuboid along each axis."""
        return dict(enumerate(self.size))

    def with_size_along(self, axis: int, size: Value) -> Self:
        """Return the cuboid with another size along an axis."""
        x, y, z = (size if k == axis else own for k, own in enumerate(self.size))
        return dataclasses.replace(self, size=(x, y, z))

    def snap_points(self, number: Number) -> tuple[Point, ...]:
        """Return the centre and the centres of the faces."""
        x, y, z = (number(edge) / 2.0 for edge in self.size)
        faces = ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))
        return ((0.0, 0.0, 0.0), *faces, *((-a, -b, -c) for a, b, c in faces))


@dataclass(frozen=True, kw_only=True)
class Cylinder(Round):
    """A cylinder along z, centred."""

    word = "cylinder"
    radius: Value = scalar("length", 0.05, "Radius")
    length: Value = scalar("length", 0.1, "Length along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the cylinder."""
        return solids.cylinder(density, sizes.number(self.radius), sizes.number(self.length))


@dataclass(frozen=True, kw_only=True)
class Sphere(Shape):
    """A sphere."""

    word = "sphere"
    radius: Value = scalar("length", 0.05, "Radius")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the sphere."""
        return solids.sphere(density, sizes.number(self.radius))

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _cylinder_bounding_box(number(self.radius), 2.0 * number(self.radius))

    def bounding_radius(self, number: Number) -> float:
        """Return the sphere's radius."""
        return number(self.radius)

    def snap_points(self, number: Number) -> tuple[Point, ...]:
        """Return the centre."""
        return ((0.0, 0.0, 0.0),)


@dataclass(frozen=True, kw_only=True)
class Capsule(Shape):
    """A cylinder along z with hemispheres at both ends; `length` is that of the cylindrical part."""

    word = "capsule"
    may_be_zero = ("length",)
    radius: Value = scalar("length", 0.05, "Radius")
    length: Value = scalar("length", 0.1, "Length of the cylindrical part along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the capsule."""
        return solids.capsule(density, sizes.number(self.radius), sizes.number(self.length))

    def sizes_by_axis(self) -> dict[int, Value]:
        """Return the size of the capsule along each axis that has one."""
        return {2: self.length}

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _cylinder_bounding_box(number(self.radius), number(self.length) + 2.0 * number(self.radius))

    def bounding_radius(self, number: Number) -> float:
        """Return the radius of a sphere about the origin that contains the capsule."""
        return number(self.radius) + number(self.length) / 2.0

    def snap_points(self, number: Number) -> tuple[Point, ...]:
        """Return the centre and the centres of the hemispheres."""
        half = number(self.length) / 2.0
        return (0.0, 0.0, 0.0), (0.0, 0.0, half), (0.0, 0.0, -half)


@dataclass(frozen=True, kw_only=True)
class Cone(Round):
    """A cone along z, apex up, centred at half its height."""

    word = "cone"
    radius: Value = scalar("length", 0.05, "Radius of the base")
    length: Value = scalar("length", 0.1, "Height along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the cone."""
        return solids.cone(density, sizes.number(self.radius), sizes.number(self.length))


@dataclass(frozen=True, kw_only=True)
class Mesh(Shape):
    """A mesh file (STL, OBJ, DAE, glTF …). `file` is as the user wrote it: a path relative to the model's file, or a
    URI such as package://name/path."""

    word = "mesh"
    file: str = text("Mesh file", role="file")
    scale: Vector = vector("none", (1.0, 1.0, 1.0), "Scale along x, y, z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the volume enclosed by the mesh."""
        return sizes.mesh_inertia(self, density)

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the origin twice, because the size of a mesh is known only from its file."""
        return _centred_bounding_box(0.0, 0.0, 0.0)

    def snap_points(self, number: Number) -> tuple[Point, ...]:
        """Return no points, because the geometry of a mesh is known only from its file."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Pipe(Round):
    """A hollow cylinder along z, centred."""

    word = "pipe"
    radius: Value = scalar("length", 0.05, "Outer radius")
    inner_radius: Value = scalar("length", 0.04, "Inner radius")
    may_be_zero = ("inner_radius",)
    inside = (("inner_radius", "radius", 1),)
    length: Value = scalar("length", 0.1, "Length along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the hollow cylinder."""
        return _hollow_cylinder(
            density, sizes.number(self.radius), sizes.number(self.inner_radius), sizes.number(self.length)
        )


@dataclass(frozen=True, kw_only=True)
class Beam(Shape):
    """An I-beam along z, centred: web in the yz plane, flanges across it."""

    word = "beam"
    length: Value = scalar("length", 0.3, "Length along z")
    width: Value = scalar("length", 0.04, "Width of the flanges, along x")
    height: Value = scalar("length", 0.06, "Height over both flanges, along y")
    web: Value = scalar("length", 0.006, "Thickness of the web")
    flange: Value = scalar("length", 0.008, "Thickness of a flange")
    may_be_zero = ("web", "flange")
    inside = (("web", "width", 1), ("flange", "height", 2))

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of the surrounding cuboid less the space between the flanges, plus the web."""
        width, height, length = map(sizes.number, (self.width, self.height, self.length))
        web, between = sizes.number(self.web), height - 2.0 * sizes.number(self.flange)
        whole = solids.box(density, width, height, length)
        return whole + solids.box(-density, width, between, length) + solids.box(density, web, between, length)

    def sizes_by_axis(self) -> dict[int, Value]:
        """Return the size of the beam along each axis."""
        return {2: self.length}

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _centred_bounding_box(number(self.width), number(self.height), number(self.length))


@dataclass(frozen=True, kw_only=True)
class Gearwheel(Shape):
    """A gearwheel about z, centred; its mass is that of a disc with the pitch circle and the bore."""

    word = "gearwheel"
    radius: Value = scalar("length", 0.05, "Radius of the pitch circle")
    teeth: Value = scalar("none", 24.0, "Number of teeth")
    width: Value = scalar("length", 0.015, "Width along z")
    bore: Value = scalar("length", 0.01, "Radius of the bore")
    may_be_zero = ("teeth", "bore")
    inside = (("bore", "radius", 1),)

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return the mass properties of a disc with the pitch circle and the bore."""
        return _hollow_cylinder(density, sizes.number(self.radius), sizes.number(self.bore), sizes.number(self.width))

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _cylinder_bounding_box(number(self.radius), number(self.width))

    def bounding_radius(self, number: Number) -> float:
        """Return the radius of a sphere about the origin that contains the gearwheel."""
        return hypot(number(self.radius), number(self.width) / 2.0)


@dataclass(frozen=True, kw_only=True)
class Coil(Round):
    """A decorative coil spring along z, centred, without mass."""

    word = "coil"
    radius: Value = scalar("length", 0.02, "Radius of the coil, to the centre of the wire")
    wire: Value = scalar("length", 0.002, "Radius of the wire")
    turns: Value = scalar("none", 8.0, "Number of turns")
    length: Value = scalar("length", 0.1, "Length along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return zero mass properties."""
        return NO_MASS

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        return _cylinder_bounding_box(number(self.radius) + number(self.wire), number(self.length))


@dataclass(frozen=True, kw_only=True)
class Arrow(Shape):
    """A decorative arrow from the origin of its pose along z, without mass."""

    word = "arrow"
    radius: Value = scalar("length", 0.005, "Radius of the shaft")
    length: Value = scalar("length", 0.1, "Length along z")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        """Return zero mass properties."""
        return NO_MASS

    def bounds(self, number: Number) -> tuple[Point, Point]:
        """Return the lowest and highest corner of the bounding box."""
        radius, length = number(self.radius), number(self.length)
        return (-radius, -radius, 0.0), (radius, radius, length)


SHAPE_TYPES: Kinds[Shape] = Kinds(
    "shape",
    Shape,
    Box,
    Cylinder,
    Sphere,
    Capsule,
    Cone,
    Mesh,
    Pipe,
    Beam,
    Gearwheel,
    Coil,
    Arrow,
    named_by="word",
)
"""Shape classes by the word used in files and menus."""


def pose_from_matrix(X: Any) -> Pose:
    """Return the pose of a (4, 4) matrix: position in m, angles about the fixed axes x, y, z in rad."""
    x, y, z = (float(entry) + 0.0 for entry in X[:3, 3])  # −0 is 0
    a, b, c = (angle + 0.0 for angle in fixed_axis_angles(X[:3, :3]))
    return Pose(position=(x, y, z), rotation=(a, b, c))

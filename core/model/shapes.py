"""Shapes of bodies: what is seen, and what gives mass when a body has a density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.model.fields import Element, Value, Vector, choice, color, name, part, reference, scalar, text, vector


def _rotation(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return "angle" if len(owners[-1].rotation) == 3 else "none"


@dataclass(frozen=True, kw_only=True)
class Pose(Element):
    """Where a frame lies in another: position (m), and rotation either by angles about the fixed axes
    x, y, z in this order (three numbers, rad; R = Rz·Ry·Rx as in URDF) or by a quaternion (x, y, z, w)."""

    position: Vector = vector("length", help="Position of the origin")
    rotation: tuple[Value, ...] = vector(
        "angle",
        help="Angles about the fixed axes x, y, z, or a quaternion x, y, z, w",
        sizes=(3, 4),
        labels=("x", "y", "z", "w"),
        by=_rotation,
    )


IDENTITY = Pose()


@dataclass(frozen=True, kw_only=True)
class Material(Element):
    """A named colour."""

    name: str = name()
    color: tuple[float, ...] | None = color()
    texture: str = text("Image file", role="file")


ROLES = ("both", "visual", "collision")


@dataclass(frozen=True, kw_only=True)
class Shape(Element):
    """What all shapes share. Cylinder, capsule and cone stand along their z axis, centred."""

    pose: Pose = part(Pose, "Pose in the body's frame", IDENTITY)
    role: str = choice(ROLES, "Drawn, used for collision, or both", "both")
    material: str = reference("material", "Name of a material", optional=True)
    color: tuple[float, ...] | None = color()


@dataclass(frozen=True, kw_only=True)
class Box(Shape):
    """A cuboid centred in its pose."""

    size: Vector = vector("length", (0.1, 0.1, 0.1), "Edge lengths")


@dataclass(frozen=True, kw_only=True)
class Cylinder(Shape):
    """A cylinder along z, centred."""

    radius: Value = scalar("length", 0.05, "Radius")
    length: Value = scalar("length", 0.1, "Length along z")


@dataclass(frozen=True, kw_only=True)
class Sphere(Shape):
    """A ball."""

    radius: Value = scalar("length", 0.05, "Radius")


@dataclass(frozen=True, kw_only=True)
class Capsule(Shape):
    """A cylinder along z with half balls at both ends; `length` is that of the cylindrical part."""

    radius: Value = scalar("length", 0.05, "Radius")
    length: Value = scalar("length", 0.1, "Length of the cylindrical part along z")


@dataclass(frozen=True, kw_only=True)
class Cone(Shape):
    """A cone along z, apex up, centred at half its height."""

    radius: Value = scalar("length", 0.05, "Radius of the base")
    length: Value = scalar("length", 0.1, "Height along z")


@dataclass(frozen=True, kw_only=True)
class Mesh(Shape):
    """A mesh file (STL, OBJ, DAE, glTF …). `file` is as the person wrote it: a path relative to the
    model's file, or a URI such as package://name/path."""

    file: str = text("Mesh file", role="file")
    scale: Vector = vector("none", (1.0, 1.0, 1.0), "Scale along x, y, z")


@dataclass(frozen=True, kw_only=True)
class Pipe(Shape):
    """A hollow cylinder along z, centred."""

    radius: Value = scalar("length", 0.05, "Outer radius")
    inner_radius: Value = scalar("length", 0.04, "Inner radius")
    length: Value = scalar("length", 0.1, "Length along z")


@dataclass(frozen=True, kw_only=True)
class Beam(Shape):
    """An I-beam along z, centred: web in the yz plane, flanges across it."""

    length: Value = scalar("length", 0.3, "Length along z")
    width: Value = scalar("length", 0.04, "Width of the flanges, along x")
    height: Value = scalar("length", 0.06, "Height over both flanges, along y")
    web: Value = scalar("length", 0.006, "Thickness of the web")
    flange: Value = scalar("length", 0.008, "Thickness of a flange")


@dataclass(frozen=True, kw_only=True)
class Gearwheel(Shape):
    """A gearwheel about z, centred; its mass is that of a disc with the pitch circle and the bore."""

    radius: Value = scalar("length", 0.05, "Radius of the pitch circle")
    teeth: Value = scalar("none", 24.0, "Number of teeth")
    width: Value = scalar("length", 0.015, "Width along z")
    bore: Value = scalar("length", 0.01, "Radius of the bore")


@dataclass(frozen=True, kw_only=True)
class Coil(Shape):
    """A coil spring along z, centred, as a picture: it gives no mass."""

    radius: Value = scalar("length", 0.02, "Radius to the middle of the wire")
    wire: Value = scalar("length", 0.002, "Radius of the wire")
    turns: Value = scalar("none", 8.0, "Number of turns")
    length: Value = scalar("length", 0.1, "Length along z")


@dataclass(frozen=True, kw_only=True)
class Arrow(Shape):
    """An arrow from the origin of its pose along z, as a picture: it gives no mass."""

    radius: Value = scalar("length", 0.005, "Radius of the shaft")
    length: Value = scalar("length", 0.1, "Length along z")


AnyShape = Box | Cylinder | Sphere | Capsule | Cone | Mesh | Pipe | Beam | Gearwheel | Coil | Arrow

SHAPE_TYPES: dict[str, type[Shape]] = {
    "box": Box,
    "cylinder": Cylinder,
    "sphere": Sphere,
    "capsule": Capsule,
    "cone": Cone,
    "mesh": Mesh,
    "pipe": Pipe,
    "beam": Beam,
    "gearwheel": Gearwheel,
    "coil": Coil,
    "arrow": Arrow,
}
"""Shape classes by the word that files and menus use."""

"""The world, bodies and frames."""

from __future__ import annotations

from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import (
    Element,
    Value,
    Vector,
    choice,
    coerce_value,
    name,
    part,
    parts,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import are_plain_numbers, rows_of_square_matrix
from core.model.shapes import IDENTITY, Pose, Shape

WORLD = "world"
"""Name of the inertial frame, reserved."""


@dataclass(frozen=True, kw_only=True)
class Gravity(Element):
    """Gravity: none; uniform (an acceleration vector in world axes); or a point attracting with
    acceleration mu/r² toward `center`."""

    kind: str = choice(("uniform", "none", "point"), "How gravity acts", "uniform")
    acceleration: Vector = vector("acceleration", (0.0, 0.0, -9.81), "Uniform acceleration, world axes")
    mu: Value = scalar("gravitational_parameter", 3.986e14, "Gravitational parameter of a point field")
    center: Vector = vector("length", help="Centre of a point field")
    forms: ClassVar[str] = "its acceleration [x, y, z]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Gravity | None:
        """Return a uniform acceleration for three numbers; None for any other list."""
        return cls(acceleration=items) if len(items) == 3 and are_plain_numbers(items) else None


PLAIN_LINE = "line"
"""Name of the drawing style that draws plain lines."""


@dataclass(frozen=True, kw_only=True)
class Figures(Element):
    """Drawing style of joints and links without shapes of their own: if empty, the program's own; `line` for plain
    lines; else a file (STL, OBJ, glTF, or Line, Polygon and Point lists).

    A revolute shape turns with its joint about z, a prismatic one moves along z with its joint; a link's is one unit
    long in x, or in z, and is stretched to the length of the link along x, or its offset along z.
    """

    revolute: str = text("Shape of revolute joints, z along the axis", role="file")
    prismatic: str = text("Shape of prismatic joints, z along the axis", role="file")
    link: str = text("Shape of links, one unit long in x, or z", role="file")


@dataclass(frozen=True, kw_only=True)
class World(Element):
    """Environment of the machine: gravity, and how elements without shapes are drawn. The world is the ground, and
    frames may be attached to it."""

    name: ClassVar[str] = WORLD
    gravity: Gravity = part(Gravity, "Gravity field", Gravity())
    limits: str = choice(("act", "ideal"), "Whether joint limits act in runs, or are ignored", "act")
    figures: Figures = part(Figures, "Shapes of joints and links", Figures())


@dataclass(frozen=True, kw_only=True)
class Inertia(Element):
    """Inertia tensor about the centre of mass in the body's axes, kg·m²; products with the minus sign: ixy = −∫xy
    dm."""

    ixx: Value = scalar("inertia", 0.0, "Moment about x")
    iyy: Value = scalar("inertia", 0.0, "Moment about y")
    izz: Value = scalar("inertia", 0.0, "Moment about z")
    ixy: Value = scalar("inertia", 0.0, "−∫xy dm")
    ixz: Value = scalar("inertia", 0.0, "−∫xz dm")
    iyz: Value = scalar("inertia", 0.0, "−∫yz dm")
    forms: ClassVar[str] = (
        "three moments [ixx, iyy, izz], or a symmetric matrix 3×3 (the order of six numbers is ambiguous: name them)"
    )

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Inertia | None:
        """Return the tensor for three moments or a symmetric matrix; None for any other list."""
        if len(items) == 3 and are_plain_numbers(items):
            return cls(ixx=items[0], iyy=items[1], izz=items[2])
        if (rows := rows_of_square_matrix(items, 3)) is None:
            return None
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (map(coerce_value, row) for row in rows)
        if (xy, xz, yz) != (yx, zx, zy):
            raise ModelError("The inertia matrix is not symmetric.", remedy="Correct the products of inertia.")
        return cls(ixx=xx, iyy=yy, izz=zz, ixy=xy, ixz=xz, iyz=yz)


NO_INERTIA = Inertia()


@dataclass(frozen=True, kw_only=True)
class Body(Element):
    """A rigid body. With `density`, mass, centre of mass and inertia follow from its shapes."""

    name: str = name()
    mass: Value = scalar("mass", 0.0, "Mass")
    center_of_mass: Vector = vector("length", help="Centre of mass in the body's frame")
    inertia: Inertia = part(Inertia, "Inertia about the centre of mass", NO_INERTIA)
    density: Value | None = scalar("density", None, "Density, from which mass properties are computed by the shapes")
    shapes: tuple[Shape, ...] = parts(Shape, "Shapes")
    reference: Pose | None = part(Pose, "World pose in the reference configuration, for joints given in world axes")
    description: str = text("Notes")


@dataclass(frozen=True, kw_only=True)
class Frame(Element):
    """A named frame fixed to a body (or to another frame, or the world)."""

    name: str = name()
    parent: str = reference("frame", "Body or frame it is fixed to")
    pose: Pose = part(Pose, "Pose in the parent", IDENTITY)
    description: str = text("Notes")

"""Shapes of the two sides of a contact, read from the document; size and mass that choose its stiffness."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import NamedTuple

from core.errors import ModelError
from core.mechanics.elements.contact_geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    PLANE,
    SPHERE,
    ContactShape,
    can_touch,
    point_count,
    points_together,
)
from core.mechanics.multibody.number_reader import Numbers
from core.model import Body, Force, Model
from core.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from core.numerics.spatial.pose import IDENTITY
from core.numerics.spatial.scalar import Scalar, apply, is_zero

MOST_POINTS = 64
"""Largest number of points of one contact."""
UNSIZED = 1.0
"""Size, m, of contacts between frames, which have no shapes."""


class ContactSides(NamedTuple):
    """Shapes of both sides of a contact, in the axes of the bodies or frames."""

    a: tuple[ContactShape, ...]
    b: tuple[ContactShape, ...]

    @property
    def pairs(self) -> list[tuple[ContactShape, ContactShape]]:
        """Return every shape of a with every shape of b."""
        return list(product(self.a, self.b))

    @property
    def together(self) -> int:
        """Return how many points press together where a flat side lies on a plane; 1 for everything else."""
        return max(points_together(a.kind, b.kind) for a, b in self.pairs)

    @property
    def size(self) -> Scalar:
        """Return the largest edge of the smaller side's shapes, m."""
        sizes = [[_size(shape) for shape in side if not is_zero(_size(shape))] for side in self]
        largest = [reduce(_larger, each) for each in sizes if each]
        return reduce(lambda a, b: apply("fmin", a, b), largest) if largest else UNSIZED


def _larger(a: Scalar, b: Scalar) -> Scalar:
    return apply("fmax", a, b)


def _size(shape: ContactShape) -> Scalar:
    """Return the largest edge of the box around a shape; 0 for a plane or a point."""
    width = 2.0 * shape.radius
    if shape.kind == BOX:
        return 2.0 * reduce(_larger, shape.half)
    if shape.kind == CAPSULE:
        return 2.0 * shape.half[0] + width
    return _larger(width, 2.0 * shape.half[0]) if shape.kind == CYLINDER else width


def find_contact_points(force: Force, model: Model) -> tuple[int, bool]:
    """Return the number of points of a contact of the document, and whether all normals are one axis; no numbers are
    read."""
    if force.a == force.b:
        raise ModelError(
            "A body does not touch itself.", where=f"force '{force.name}', b", remedy="Name another body or a frame."
        )
    a, b = (_kinds_of_side(force, field, model) for field in ("a", "b"))
    for first, second in product(a, b):
        if not can_touch(first, second):
            raise ModelError(
                f"Contact of a {first} and a {second} is not available.",
                where=f"force '{force.name}'",
                remedy="Give one of the bodies spheres or capsules with the role 'collision', or name a frame as a: a "
                "plane, its xy plane.",
            )
    count = sum(point_count(*pair) for pair in product(a, b))
    if count > MOST_POINTS:
        raise ModelError(
            f"The contact has {count} points, more than {MOST_POINTS}.",
            where=f"force '{force.name}'",
            remedy="Give the bodies fewer shapes with the role 'collision'.",
        )
    return count, set(a) == {PLANE}


def read_contact_sides(force: Force, model: Model, numbers: Numbers) -> ContactSides:
    """Return the sides of a contact of the document. Raises ModelError."""
    find_contact_points(force, model)
    return ContactSides(*(_read_side(force, field, model, numbers) for field in ("a", "b")))


def find_effective_mass(force: Force, model: Model, numbers: Numbers) -> Scalar:
    """Return m_a m_b / (m_a + m_b) of the two bodies, kg; the other's mass where one side is no body or has no mass,
    and the machine's where both are so."""
    bodies = [body for end in (force.a, force.b) if (body := _owner(end, model)) is not None]
    masses = [m for body in bodies if not is_zero(m := numbers.inertia(body).mass)]
    if len(masses) == 2:
        return masses[0] * masses[1] / (masses[0] + masses[1])
    everything = masses or [numbers.inertia(body).mass for body in model.bodies]
    total = sum(everything, 0.0)
    return 1.0 if is_zero(total) else total


def _owner(end: str, model: Model) -> Body | None:
    """Return the body of an end: itself, or that to which the frame belongs."""
    parents = {frame.name: frame.parent for frame in model.frames}
    for _ in parents:
        end = parents.get(end, end)
    return next((body for body in model.bodies if body.name == end), None)


def _touching_shapes(force: Force, field: str, model: Model) -> tuple[Shape, ...] | None:
    """Return the document's shapes of one side; None for a frame or the world."""
    name = getattr(force, field)
    body = next((each for each in model.bodies if each.name == name), None)
    if body is None:
        return None
    own = [shape for shape in body.shapes if shape.role == "collision"]
    own = own or [shape for shape in body.shapes if shape.role == "both"]
    if any(isinstance(shape, Mesh) for shape in own):
        raise ModelError(
            f"'{name}' has the shape of a mesh, for which contact is not available.",
            where=f"force '{force.name}', {field}",
            remedy="Give it spheres, capsules, boxes or cylinders with the role 'collision' in place of the mesh.",
        )
    own = [shape for shape in own if type(shape) in _KINDS]
    if not own:
        raise ModelError(
            f"'{name}' has no shape that can touch anything.",
            where=f"force '{force.name}', {field}",
            remedy="Give it a sphere, capsule, box or cylinder, or name a frame: a plane as a, a point as b.",
        )
    return tuple(own)


_KINDS: dict[type[Shape], str] = {Sphere: SPHERE, Capsule: CAPSULE, Cylinder: CYLINDER, Box: BOX}


def _kinds_of_side(force: Force, field: str, model: Model) -> list[str]:
    shapes = _touching_shapes(force, field, model)
    if shapes is None:
        return [PLANE if field == "a" else SPHERE]
    return [_KINDS[type(shape)] for shape in shapes]


def _read_side(force: Force, field: str, model: Model, numbers: Numbers) -> tuple[ContactShape, ...]:
    shapes = _touching_shapes(force, field, model)
    if shapes is None:
        return (ContactShape(PLANE if field == "a" else SPHERE, IDENTITY),)
    where = f"body '{getattr(force, field)}', shapes"
    return tuple(_read_shape(shape, numbers, where) for shape in shapes)


def _read_shape(shape: Shape, numbers: Numbers, where: str) -> ContactShape:
    number, pose = numbers.scalar, numbers.pose(shape.pose, where)
    if isinstance(shape, Sphere):
        return ContactShape(SPHERE, pose, number(shape.radius, where))
    if isinstance(shape, Box):
        return ContactShape(BOX, pose, 0.0, tuple(number(edge, where) / 2.0 for edge in shape.size))
    if not isinstance(shape, Capsule | Cylinder):
        raise TypeError(type(shape))
    return ContactShape(_KINDS[type(shape)], pose, number(shape.radius, where), (number(shape.length, where) / 2.0,))

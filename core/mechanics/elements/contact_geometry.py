"""Points at which two shapes touch: gap, place and normal, over abstract scalars.

Each pair of kinds of shapes has a fixed number of contact points, so that their expressions are of fixed size. A point
has the signed distance of the two surfaces along a normal, which points from the first shape to the second, and a
place on the surface of the second. For convex pairs without corners (plane or sphere against sphere, capsules) the
distance is that of the surfaces (Ericson, *Real-Time Collision Detection*, 2005, chapter 5); faces and rims have
several points: the corners, or three on each rim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from core.later import dataclass
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.scalar import Scalar, apply, sqrt
from core.numerics.spatial.vector import Vector3

PLANE, SPHERE, CAPSULE, BOX, CYLINDER = "plane", "sphere", "capsule", "box", "cylinder"
TINY = 1e-12
"""m: added under roots of distances, so that their derivatives are finite where they vanish."""
ASIDE = 1e-3
"""Angle, rad, between a cylinder's axis and the normal below which the points of its rims are fixed on it; above, one
of them is the deepest point."""
UP = Vector3(0.0, 0.0, 1.0)


class ContactPoint(NamedTuple):
    """A point at which shapes may touch, in the axes of the first."""

    gap: Scalar
    """Distance of the surfaces, m; negative where they overlap."""
    place: Vector3
    normal: Vector3


@dataclass(frozen=True)
class ContactShape:
    """A shape as contact knows it, in the axes of its frame: half-space below z = 0, or a solid about its pose."""

    kind: str
    pose: Pose
    radius: Scalar = 0.0
    half: tuple[Scalar, ...] = ()
    """Half edges of a box; half the length of a cylinder, or of the straight part of a capsule."""


def _spheres(shape: ContactShape) -> list[Vector3]:
    """Return the centres of the spheres that a sphere or a capsule ends with."""
    return [Vector3(0.0, 0.0, 0.0)] if shape.kind == SPHERE else [Vector3(0.0, 0.0, s * shape.half[0]) for s in (-1, 1)]


def _plane_and_round(_: ContactShape, other: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    for center in _spheres(other):
        c = X.point(center)
        yield ContactPoint(c.z - other.radius, Vector3(c.x, c.y, c.z - other.radius), UP)


def _plane_and_box(_: ContactShape, box: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    x, y, z = box.half
    for i, j, k in product((-1, 1), repeat=3):
        corner = X.point(Vector3(i * x, j * y, k * z))
        yield ContactPoint(corner.z, corner, UP)


def _plane_and_cylinder(_: ContactShape, cylinder: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    columns = X.rotation.columns()
    side, axis = columns[0], columns[2]
    upright = axis.z * axis.z
    down = axis.scaled(axis.z) - UP + side.scaled(ASIDE * upright * upright)
    deepest = down.over(sqrt(down.dot(down) + TINY**2))
    across = axis.cross(deepest)
    for end in (-1, 1):
        center = X.position + axis.scaled(end * cylinder.half[0])
        for k in range(3):
            turn = 2.0 * math.pi * k / 3.0
            out = deepest.scaled(math.cos(turn)) + across.scaled(math.sin(turn))
            point = center + out.scaled(cylinder.radius)
            yield ContactPoint(point.z, point, UP)


def _between(a: Vector3, radius_a: Scalar, b: Vector3, radius_b: Scalar) -> ContactPoint:
    """Return the contact of two spheres."""
    apart = b - a
    distance = sqrt(apart.dot(apart) + TINY**2)
    normal = apart.over(distance)
    return ContactPoint(distance - radius_a - radius_b, b - normal.scaled(radius_b), normal)


def _sphere_and_sphere(a: ContactShape, b: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    yield _between(Vector3(0.0, 0.0, 0.0), a.radius, X.position, b.radius)


def _clamp(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    return apply("fmin", apply("fmax", x, low), high)


def _capsule_and_sphere(capsule: ContactShape, sphere: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    c = X.position
    nearest = Vector3(0.0, 0.0, _clamp(c.z, -capsule.half[0], capsule.half[0]))
    yield _between(nearest, capsule.radius, c, sphere.radius)


def _capsule_and_capsule(a: ContactShape, b: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    """Yield the contact at the nearest points of both axes (Ericson, section 5.1.9)."""
    axis, c = X.rotation.columns()[2], X.position
    cosine = axis.z
    along_a, along_b = c.z, -axis.dot(c)
    sine = apply("fmax", 1.0 - cosine * cosine, TINY)
    s = _clamp((along_a + cosine * along_b) / sine, -a.half[0], a.half[0])
    t = _clamp(along_b + cosine * s, -b.half[0], b.half[0])
    s = _clamp(along_a + cosine * t, -a.half[0], a.half[0])
    yield _between(Vector3(0.0, 0.0, s), a.radius, c + axis.scaled(t), b.radius)


def _box_and_sphere(box: ContactShape, sphere: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    c = X.position
    beyond = [apply("fabs", x) - half for x, half in zip(c, box.half, strict=True)]
    outside = [apply("fmax", e, 0.0) for e in beyond]
    distance = sqrt(sum((e * e for e in outside), TINY**2))
    deepest = apply("fmax", apply("fmax", beyond[0], beyond[1]), beyond[2])
    inside = apply("lt", deepest, 0.0)
    signs = [apply("if_else", apply("lt", x, 0.0), -1.0, 1.0) for x in c]
    taken: Scalar = 0.0  # inside, the face that is nearest; one of them where several are
    normal = []
    for e, out, sign in zip(beyond, outside, signs, strict=True):
        face = apply("ge", e, deepest) * (1.0 - taken)
        taken = taken + face
        normal.append(sign * apply("if_else", inside, face, out / distance))
    n = Vector3(*normal)
    yield ContactPoint(apply("if_else", inside, deepest, distance) - sphere.radius, c - n.scaled(sphere.radius), n)


def _cylinder_and_sphere(cylinder: ContactShape, sphere: ContactShape, X: Pose) -> Iterator[ContactPoint]:
    c, half = X.position, cylinder.half[0]
    across = sqrt(c.x * c.x + c.y * c.y + TINY**2)
    radial, axial = across - cylinder.radius, apply("fabs", c.z) - half
    out_radial, out_axial = apply("fmax", radial, 0.0), apply("fmax", axial, 0.0)
    distance = sqrt(out_radial * out_radial + out_axial * out_axial + TINY**2)
    deepest = apply("fmax", radial, axial)
    inside, rim = apply("lt", deepest, 0.0), apply("ge", radial, axial)
    share_radial = apply("if_else", inside, rim, out_radial / distance)
    share_axial = apply("if_else", inside, 1.0 - rim, out_axial / distance)
    up = apply("if_else", apply("lt", c.z, 0.0), -1.0, 1.0)
    n = Vector3(share_radial * c.x / across, share_radial * c.y / across, share_axial * up)
    yield ContactPoint(apply("if_else", inside, deepest, distance) - sphere.radius, c - n.scaled(sphere.radius), n)


_Pair = Callable[[ContactShape, ContactShape, Pose], Iterator[ContactPoint]]
_PAIRS: dict[tuple[str, str], _Pair] = {
    (PLANE, SPHERE): _plane_and_round,
    (PLANE, CAPSULE): _plane_and_round,
    (PLANE, BOX): _plane_and_box,
    (PLANE, CYLINDER): _plane_and_cylinder,
    (SPHERE, SPHERE): _sphere_and_sphere,
    (CAPSULE, SPHERE): _capsule_and_sphere,
    (CAPSULE, CAPSULE): _capsule_and_capsule,
    (BOX, SPHERE): _box_and_sphere,
    (CYLINDER, SPHERE): _cylinder_and_sphere,
}
"""Functions of contact points by the kinds of the first and the second shape."""


def can_touch(a: str, b: str) -> bool:
    """Return True if contact between shapes of these kinds is known."""
    return (a, b) in _PAIRS or (b, a) in _PAIRS


def contact_points(a: ContactShape, b: ContactShape, X_ab: Pose) -> list[ContactPoint]:
    """Return the contact points of two shapes in the axes of a's frame, normals from a to b; X_ab: pose of b's frame in
    a's frame."""
    X = a.pose.inverse() @ X_ab @ b.pose
    if (a.kind, b.kind) in _PAIRS:
        return [_in_frame(a.pose, point) for point in _PAIRS[a.kind, b.kind](a, b, X)]
    swapped = (_in_frame(X_ab @ b.pose, point) for point in _PAIRS[b.kind, a.kind](b, a, X.inverse()))
    return [ContactPoint(gap, place + normal.scaled(gap), -normal) for gap, place, normal in swapped]


def _in_frame(X: Pose, point: ContactPoint) -> ContactPoint:
    return ContactPoint(point.gap, X.point(point.place), X.rotation.act(point.normal))


def point_count(a: str, b: str) -> int:
    """Return the number of contact points of two kinds of shapes."""
    apart = Pose(IDENTITY.rotation, Vector3(0.1, 0.2, 5.0))
    first, second = (ContactShape(kind, IDENTITY, 1.0, (1.0, 1.0, 1.0)) for kind in (a, b))
    return len(contact_points(first, second, apart))


_TOGETHER = {BOX: 4, CYLINDER: 3, CAPSULE: 2}
"""Number of points of a shape that lie on a plane together."""


def points_together(a: str, b: str) -> int:
    """Return how many points of two kinds of shapes press together where they lie on each other."""
    return _TOGETHER.get(a if b == PLANE else b, 1) if PLANE in (a, b) else 1

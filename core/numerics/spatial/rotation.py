"""Rotation matrices: R_AB takes components in B to components in A."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.numerics.spatial.scalar import (
    Scalar,
    apply,
    cos,
    is_zero,
    minus,
    negated,
    over,
    plus,
    sin,
    sqrt,
    times,
    total,
)
from core.numerics.spatial.vector import Vector3, X, Y, Z

ROUNDING_TOLERANCE = 1e-14
"""Distance from 0 or ±1 within which literal entries of a rotation are rounded to these (cos(pi/2) is 6e-17 in floating
point)."""


class Rotation(NamedTuple):
    """Rotation matrix R_AB, stored by rows. Its columns are B's axes in A."""

    x: Vector3
    y: Vector3
    z: Vector3

    def __matmul__(self, other: Rotation) -> Rotation:
        """Compose two rotations: R_AC = R_AB R_BC."""
        if self is IDENTITY:
            return other
        if other is IDENTITY:
            return self
        first, second, third = other.columns()
        return Rotation(*(Vector3(row.dot(first), row.dot(second), row.dot(third)) for row in self))

    def act(self, v: Vector3) -> Vector3:
        """Rotate a vector from B to A: v_A = R_AB v_B."""
        return Vector3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def act_back(self, v: Vector3) -> Vector3:
        """Rotate a vector from A to B: v_B = R_ABᵀ v_A."""
        return self.x.scaled(v.x) + self.y.scaled(v.y) + self.z.scaled(v.z)

    def columns(self) -> tuple[Vector3, Vector3, Vector3]:
        """Return B's axes in A."""
        return (
            Vector3(self.x.x, self.y.x, self.z.x),
            Vector3(self.x.y, self.y.y, self.z.y),
            Vector3(self.x.z, self.y.z, self.z.z),
        )

    def transposed(self) -> Rotation:
        """Return R_BA = R_ABᵀ."""
        return Rotation(*self.columns())

    def tidied(self) -> Rotation:
        """Return the rotation with literal entries within `ROUNDING_TOLERANCE` of 0, 1 or −1 rounded to these."""
        return Rotation(*(Vector3(*(tidy(entry) for entry in row)) for row in self))


IDENTITY = Rotation(X, Y, Z)


def small(w: Vector3) -> Rotation:
    """Return I + [w]×: a small rotation by w, to first order."""
    return Rotation(Vector3(1.0, negated(w.z), w.y), Vector3(w.z, 1.0, negated(w.x)), Vector3(negated(w.y), w.x, 1.0))


def tidy(entry: Scalar) -> Scalar:
    """Round a literal within `ROUNDING_TOLERANCE` of 0, 1 or −1 to that number; return anything else unchanged."""
    if isinstance(entry, float):
        nearest = float(round(entry)) + 0.0
        return nearest if abs(entry - nearest) < ROUNDING_TOLERANCE else entry
    return entry


def about_x(angle: Scalar) -> Rotation:
    """Rotation about the x axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(X, Vector3(0.0, c, negated(s)), Vector3(0.0, s, c)).tidied()


def about_y(angle: Scalar) -> Rotation:
    """Rotation about the y axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(Vector3(c, 0.0, s), Y, Vector3(negated(s), 0.0, c)).tidied()


def about_z(angle: Scalar) -> Rotation:
    """Rotation about the z axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(Vector3(c, negated(s), 0.0), Vector3(s, c, 0.0), Z).tidied()


def about(axis: Vector3, angle: Scalar) -> Rotation:
    """Rotation about a unit axis (Rodrigues): R = c 1 + s [n]× + (1 − c) n nᵀ."""
    c, s = cos(angle), sin(angle)
    k = minus(1.0, c)
    x, y, z = axis
    sn = axis.scaled(s)
    xy, xz, yz = times(k, times(x, y)), times(k, times(x, z)), times(k, times(y, z))
    return Rotation(
        Vector3(plus(c, times(k, times(x, x))), minus(xy, sn.z), plus(xz, sn.y)),
        Vector3(plus(xy, sn.z), plus(c, times(k, times(y, y))), minus(yz, sn.x)),
        Vector3(minus(xz, sn.y), plus(yz, sn.x), plus(c, times(k, times(z, z)))),
    )


def from_angles(angles: Sequence[Scalar]) -> Rotation:
    """Return the rotation by angles about the fixed axes x, y, z in this order: R = Rz(c) Ry(b) Rx(a)."""
    if all(map(is_zero, angles)):
        return IDENTITY
    return (about_z(angles[2]) @ about_y(angles[1]) @ about_x(angles[0])).tidied()


def angles_of(turn: Any) -> tuple[float, float, float]:
    """Return the angles about the fixed axes x, y, z of a rotation matrix (3, 3) of numbers; where they are not unique
    the angle about x is zero."""
    level = math.hypot(turn[0, 0], turn[1, 0])
    pitch = math.atan2(-turn[2, 0], level)
    if level < 1e-9:
        return 0.0, pitch, math.atan2(-turn[0, 1], turn[1, 1])
    return math.atan2(turn[2, 1], turn[2, 2]), pitch, math.atan2(turn[1, 0], turn[0, 0])


def from_quaternion(quaternion: Sequence[Scalar]) -> Rotation:
    """Return the rotation of a quaternion x, y, z, w of any nonzero length: R = 1 + s (w [u]× + [u]×²), s =
    2/|quaternion|²."""
    x, y, z, w = scaled_into_range(quaternion)
    s = over(2.0, total(times(e, e) for e in (x, y, z, w)))
    sx, sy, sz = times(s, x), times(s, y), times(s, z)
    xx, yy, zz = times(x, sx), times(y, sy), times(z, sz)
    xy, xz, yz = times(x, sy), times(x, sz), times(y, sz)
    wx, wy, wz = times(w, sx), times(w, sy), times(w, sz)
    return Rotation(
        Vector3(minus(1.0, plus(yy, zz)), minus(xy, wz), plus(xz, wy)),
        Vector3(plus(xy, wz), minus(1.0, plus(xx, zz)), minus(yz, wx)),
        Vector3(minus(xz, wy), plus(yz, wx), minus(1.0, plus(xx, yy))),
    ).tidied()


def scaled_into_range(direction: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Scale a direction or quaternion by its largest component if the squares of its components would overflow or
    underflow; otherwise return it unchanged."""
    if not all(isinstance(entry, float) for entry in direction):
        return tuple(direction)
    largest = max(map(abs, direction))
    if 1e-150 < largest < 1e150 or largest == 0.0 or not math.isfinite(largest):
        return tuple(direction)
    return tuple(entry / largest for entry in direction)


def normalised(direction: Sequence[Scalar]) -> Vector3:
    """Return the unit vector of a direction, safe where the squares of its components overflow or underflow."""
    vector = Vector3(*scaled_into_range(direction))
    length = sqrt(vector.dot(vector))
    return Vector3(*(over(component, length) for component in vector))


def from_z(axis: Vector3) -> Rotation:
    """Return the shortest rotation that takes z to a unit axis; half a turn about x for −z.

    R = 1 + [k]× + [k]×²/(1 + n_z) with k = z × n.
    """
    x, y, z = axis
    if isinstance(z, float) and z < ROUNDING_TOLERANCE - 1.0:
        return about_x(math.pi)
    below = plus(1.0, z)
    if not isinstance(z, float):
        below = apply("fmax", below, ROUNDING_TOLERANCE)
    xx, xy, yy = over(times(x, x), below), over(times(x, y), below), over(times(y, y), below)
    return Rotation(
        Vector3(minus(1.0, xx), negated(xy), x),
        Vector3(negated(xy), minus(1.0, yy), y),
        Vector3(negated(x), negated(y), z),
    ).tidied()


def from_axes(z: Vector3, other: Vector3) -> Rotation:
    """Return the frame whose z is the unit axis `z` and whose y lies in the half plane of `other`."""
    across = other - z.scaled(z.dot(other))
    y = normalised(across)
    return Rotation(y.cross(z), y, z).transposed().tidied()

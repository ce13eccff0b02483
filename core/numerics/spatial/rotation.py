"""Rotation matrices: R_AB takes components in B to components in A; quaternions, rotation vectors, and the twist angle
of a rotation about an axis."""

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
    side,
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

    def with_rounded_literals(self) -> Rotation:
        """Return the rotation with literal entries within `ROUNDING_TOLERANCE` of 0, 1 or −1 rounded to these."""
        return Rotation(*(Vector3(*(round_literal(entry) for entry in row)) for row in self))


IDENTITY = Rotation(X, Y, Z)


def small(w: Vector3) -> Rotation:
    """Return I + [w]×: a small rotation by w, to first order."""
    return Rotation(Vector3(1.0, negated(w.z), w.y), Vector3(w.z, 1.0, negated(w.x)), Vector3(negated(w.y), w.x, 1.0))


def round_literal(entry: Scalar) -> Scalar:
    """Round a literal within `ROUNDING_TOLERANCE` of 0, 1 or −1 to that number; return anything else unchanged."""
    if isinstance(entry, float):
        nearest = float(round(entry)) + 0.0
        return nearest if abs(entry - nearest) < ROUNDING_TOLERANCE else entry
    return entry


def about_x(angle: Scalar) -> Rotation:
    """Rotation about the x axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(X, Vector3(0.0, c, negated(s)), Vector3(0.0, s, c)).with_rounded_literals()


def about_y(angle: Scalar) -> Rotation:
    """Rotation about the y axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(Vector3(c, 0.0, s), Y, Vector3(negated(s), 0.0, c)).with_rounded_literals()


def about_z(angle: Scalar) -> Rotation:
    """Rotation about the z axis (rad)."""
    c, s = cos(angle), sin(angle)
    return Rotation(Vector3(c, negated(s), 0.0), Vector3(s, c, 0.0), Z).with_rounded_literals()


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
    return (about_z(angles[2]) @ about_y(angles[1]) @ about_x(angles[0])).with_rounded_literals()


def fixed_axis_angles(matrix: Any) -> tuple[float, float, float]:
    """Return the angles about the fixed axes x, y, z of a rotation matrix (3, 3) of numbers; where they are not unique
    the angle about x is zero."""
    level = math.hypot(matrix[0, 0], matrix[1, 0])
    pitch = math.atan2(-matrix[2, 0], level)
    if level < 1e-9:
        return 0.0, pitch, math.atan2(-matrix[0, 1], matrix[1, 1])
    return math.atan2(matrix[2, 1], matrix[2, 2]), pitch, math.atan2(matrix[1, 0], matrix[0, 0])


def from_quaternion(quaternion: Sequence[Scalar]) -> Rotation:
    """Return the rotation of a quaternion x, y, z, w of any nonzero length: R = 1 + s (w [u]× + [u]×²), s =
    2/|quaternion|²."""
    x, y, z, w = scale_into_range(quaternion)
    s = over(2.0, total(times(e, e) for e in (x, y, z, w)))
    sx, sy, sz = times(s, x), times(s, y), times(s, z)
    xx, yy, zz = times(x, sx), times(y, sy), times(z, sz)
    xy, xz, yz = times(x, sy), times(x, sz), times(y, sz)
    wx, wy, wz = times(w, sx), times(w, sy), times(w, sz)
    return Rotation(
        Vector3(minus(1.0, plus(yy, zz)), minus(xy, wz), plus(xz, wy)),
        Vector3(plus(xy, wz), minus(1.0, plus(xx, zz)), minus(yz, wx)),
        Vector3(minus(xz, wy), plus(yz, wx), minus(1.0, plus(xx, yy))),
    ).with_rounded_literals()


def scale_into_range(direction: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Scale a direction or quaternion by its largest component if the squares of its components would overflow or
    underflow; otherwise return it unchanged."""
    if not all(isinstance(entry, float) for entry in direction):
        return tuple(direction)
    largest = max(map(abs, direction))
    if 1e-150 < largest < 1e150 or largest == 0.0 or not math.isfinite(largest):
        return tuple(direction)
    return tuple(entry / largest for entry in direction)


def unit_vector(direction: Sequence[Scalar]) -> Vector3:
    """Return the unit vector of a direction, safe where the squares of its components overflow or underflow."""
    vector = Vector3(*scale_into_range(direction))
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
    ).with_rounded_literals()


def from_axes(z: Vector3, other: Vector3) -> Rotation:
    """Return the rotation of a frame whose z is the unit axis `z` and whose y lies in the half plane of `other`."""
    across = other - z.scaled(z.dot(other))
    y = unit_vector(across)
    return Rotation(y.cross(z), y, z).transposed().with_rounded_literals()


_TINY = 1e-300
"""Small number that keeps the direction of a vanishing rotation from being 0/0."""


def unwrap_near(x: Scalar, angle: Scalar) -> Scalar:
    """Add whole turns to an angle (rad) so that it lies within half a turn of x (rad)."""
    return plus(x, wrap_angle(minus(angle, x)))


def wrap_angle(angle: Scalar) -> Scalar:
    """Wrap an angle (rad) to −π … π."""
    turn = 6.283185307179586
    return minus(angle, times(turn, apply("floor", plus(over(angle, turn), 0.5))))


def twice_axial_vector(R: Rotation) -> Vector3:
    """Return twice the axial vector of a rotation: 2 sin φ n for a rotation by φ about n."""
    return Vector3(minus(R.z.y, R.y.z), minus(R.x.z, R.z.x), minus(R.y.x, R.x.y))


def twist_angle(R: Rotation, e: Vector3) -> tuple[Scalar, Vector3]:
    """Return the angle, −π … π, of the twist of R about the unit axis e of frame a (swing–twist decomposition), and the
    vector g in a with d(angle) = g · ω. tan(angle) = S/C with S = e · axial(R), C = tr R − e · R e."""
    trace = plus(plus(R.x.x, R.y.y), R.z.z)
    turned = R.act(e)
    S, C = e.dot(twice_axial_vector(R)), minus(trace, e.dot(turned))
    dS = e.scaled(trace) - R.act_back(e)
    dC = -(twice_axial_vector(R) + turned.cross(e))
    square = plus(times(S, S), times(C, C))
    return apply("atan2", S, C), (dS.scaled(C) - dC.scaled(S)).over(square)


def rotation_vector(q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return the rotation vector (axis times angle, −π … π) of a quaternion x, y, z, w of any sign and length."""
    length = sqrt(plus(total(times(c, c) for c in q[:3]), _TINY))
    sign = side(q[3])
    angle = times(2.0, apply("atan2", length, times(q[3], sign)))
    factor = times(over(angle, length), sign)
    return tuple(times(factor, c) for c in q[:3])


def quaternion_from_rotation(R: Rotation) -> tuple[Scalar, ...]:
    """Return the quaternion x, y, z, w with w ≥ 0 of a rotation matrix; at half a turn from the largest component.

    All four candidates of Shepperd's method, added with equal signs: each is the quaternion times 4 |its component|.
    """
    xx, yy, zz = R.x.x, R.y.y, R.z.z
    a, b, c = twice_axial_vector(R)
    d, e, f = plus(R.x.y, R.y.x), plus(R.x.z, R.z.x), plus(R.y.z, R.z.y)
    rows = (
        (minus(minus(plus(1.0, xx), yy), zz), d, e, a),
        (d, minus(minus(plus(1.0, yy), xx), zz), f, b),
        (e, f, minus(minus(plus(1.0, zz), xx), yy), c),
        (a, b, c, plus(plus(plus(1.0, xx), yy), zz)),
    )
    # each row is 4 q_k (q_x, q_y, q_z, q_w); the row of w is kept, the others are turned its way
    sums = list(rows[3])
    for row in rows[:3]:
        side = apply("sign", plus(apply("sign", row[3]), 0.5))
        sums = [plus(x, times(side, y)) for x, y in zip(sums, row, strict=True)]
    length = sqrt(
        plus(
            plus(times(sums[0], sums[0]), times(sums[1], sums[1])),
            plus(times(sums[2], sums[2]), times(sums[3], sums[3])),
        )
    )
    return tuple(over(x, length) for x in sums)


def quaternion_rate(q: Sequence[Scalar], w: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return q̇ = ½ q ⊗ (ω, 0) with ω in b's axes; q as x, y, z, w."""
    half = quaternion_product(q, (*w, 0.0))
    return tuple(times(0.5, component) for component in half)


def quaternion_product(p: Sequence[Scalar], q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return p ⊗ q, both as x, y, z, w."""
    pv, qv = Vector3(*p[:3]), Vector3(*q[:3])
    vector = qv.scaled(p[3]) + pv.scaled(q[3]) + pv.cross(qv)
    return (*vector, minus(times(p[3], q[3]), pv.dot(qv)))


def quaternion_difference(p: Sequence[Scalar], q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return p⁻¹ ⊗ q: the rotation from p to q in p's axes."""
    return quaternion_product((*(negated(c) for c in p[:3]), p[3]), q)


def inverse_left_jacobian(phi: Vector3) -> tuple[Vector3, Vector3, Vector3]:
    """Return the rows of the inverse left Jacobian J⁻¹ of a rotation vector: d(rotation vector)/dt = J⁻¹ ω, ω in a's
    axes: 1 − [φ]×/2 + k [φ]×², k = (1 − (φ/2) cot(φ/2))/φ² (Sola, Deray, Atchuthan 2018, 146)."""
    square = plus(phi.dot(phi), 1e-12)
    half = times(0.5, sqrt(square))
    k = over(minus(1.0, over(times(half, cos(half)), sin(half))), square)
    rows = []
    for e in (X, Y, Z):
        # row r of J⁻¹ as a vector: e + φ × e / 2 + k φ × (φ × e), since [φ]×ᵀ = −[φ]×
        once = phi.cross(e)
        rows.append(e + once.scaled(0.5) + phi.cross(once).scaled(k))
    return rows[0], rows[1], rows[2]

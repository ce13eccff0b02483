"""Attitude: conversions between rotation matrices, quaternions and rotation vectors, and the turn of a rotation about
an axis."""

from __future__ import annotations

from collections.abc import Sequence

from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar, apply, cos, minus, negated, over, plus, side, sin, sqrt, times, total
from core.numerics.spatial.vector import Vector3, X, Y, Z

_TINY = 1e-300
"""Small number that keeps the direction of a vanishing rotation from being 0/0."""


def unwrapped_near(x: Scalar, angle: Scalar) -> Scalar:
    """Add whole turns to an angle (rad) so that it lies within half a turn of x."""
    return plus(x, wrapped_angle(minus(angle, x)))


def wrapped_angle(angle: Scalar) -> Scalar:
    """Wrap an angle (rad) to −π … π."""
    turn = 6.283185307179586
    return minus(angle, times(turn, apply("floor", plus(over(angle, turn), 0.5))))


def axial(R: Rotation) -> Vector3:
    """Return twice the axial vector of a rotation: 2 sin φ n for a rotation by φ about n."""
    return Vector3(minus(R.z.y, R.y.z), minus(R.x.z, R.z.x), minus(R.y.x, R.x.y))


def twist(R: Rotation, e: Vector3) -> tuple[Scalar, Vector3]:
    """Return the angle, −π … π, of the twist of R about the unit axis e of frame a (swing–twist decomposition), and the
    vector g in a with d(angle) = g · ω. tan(angle) = S/C with S = e · axial(R), C = tr R − e · R e."""
    trace = plus(plus(R.x.x, R.y.y), R.z.z)
    turned = R.act(e)
    S, C = e.dot(axial(R)), minus(trace, e.dot(turned))
    dS = e.scaled(trace) - R.act_back(e)
    dC = -(axial(R) + turned.cross(e))
    square = plus(times(S, S), times(C, C))
    return apply("atan2", S, C), (dS.scaled(C) - dC.scaled(S)).over(square)


def rotation_vector(q: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return the rotation vector (axis times angle, −π … π) of a quaternion x, y, z, w of any sign and length."""
    length = sqrt(plus(total(times(c, c) for c in q[:3]), _TINY))
    sign = side(q[3])
    angle = times(2.0, apply("atan2", length, times(q[3], sign)))
    factor = times(over(angle, length), sign)
    return tuple(times(factor, c) for c in q[:3])


def quaternion_of(R: Rotation) -> tuple[Scalar, ...]:
    """Return the quaternion x, y, z, w with w ≥ 0 of a rotation matrix; at half a turn from the largest component.

    All four candidates of Shepperd's method, added with equal signs: each is the quaternion times 4 |its component|.
    """
    xx, yy, zz = R.x.x, R.y.y, R.z.z
    a, b, c = axial(R)
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

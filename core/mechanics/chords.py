"""Chords: measures between two frames a and b, and the wrench that each transmits (MOBILE 1.3 User's Guide 5.2).

A measure s depends on the pose of b against a only, so its rate is the power of a wrench W on the motion of b against
a: ṡ = W · V_ab. A force Q along s then acts on b as Q W and on a as −Q W at the same point: force transmission is
the transpose of motion transmission. Wrenches are about b's origin in world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.mechanics.joints import rotation_vector
from core.mechanics.tree import Place
from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation
from core.spatial.scalar import Scalar, apply, cos, minus, negated, over, plus, sin, sqrt, times
from core.spatial.vector import ZERO, Vector3, X, Y, Z

TINY = 1e-24
"""m²: keeps the direction of a line of length zero from being 0/0; the direction is then zero."""


class Chord(NamedTuple):
    """What is measured between which frames; unit vectors `axis` in a, `axis_b` in b (of a joint: its law)."""

    kind: str
    a: Place
    b: Place
    axis: Any = Z
    axis_b: Any = Z


class Reading(NamedTuple):
    """Values, and for each the wrench that transmits it."""

    values: tuple[Scalar, ...]
    wrenches: tuple[Force, ...]


Measure = Callable[[Pose, Pose, Any, Any], Reading]


def _length(p: Vector3) -> Scalar:
    return sqrt(plus(p.dot(p), TINY))


def _over(p: Vector3, length: Scalar) -> Vector3:
    return Vector3(*(over(component, length) for component in p))


def _pull(force: Vector3) -> Force:
    return Force(ZERO, force)


def _turn(moment: Vector3) -> Force:
    return Force(moment, ZERO)


def distance(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """|p_ab|."""
    p = X_b.position - X_a.position
    length = _length(p)
    return Reading((length,), (_pull(_over(p, length)),))


def square_distance(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """|p_ab|²."""
    p = X_b.position - X_a.position
    return Reading((p.dot(p),), (_pull(p.scaled(2.0)),))


def point_plane(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """n_a · p_ab."""
    n = X_a.rotation.act(axis)
    return Reading((n.dot(X_b.position - X_a.position),), (_pull(n),))


def plane_point(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """n_b · p_ba; its rate is −n_b · v − (n_b × p_ab) · ω."""
    n, p = X_b.rotation.act(axis_b), X_b.position - X_a.position
    return Reading((negated(n.dot(p)),), (Force(p.cross(n), -n),))


def plane_plane(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """n_a · n_b; its rate is (n_b × n_a) · ω."""
    n_a, n_b = X_a.rotation.act(axis), X_b.rotation.act(axis_b)
    return Reading((n_a.dot(n_b),), (_turn(n_b.cross(n_a)),))


def axial(R: Rotation) -> Vector3:
    """2 sin φ n of a rotation by φ about n."""
    return Vector3(minus(R.z.y, R.y.z), minus(R.x.z, R.z.x), minus(R.y.x, R.x.y))


def twist(R: Rotation, e: Vector3) -> tuple[Scalar, Vector3]:
    """Angle of R about the unit axis e of a (the twist of swing and twist), −π … π, and the vector g in a with
    d(angle) = g · ω. tan(angle) = S/C with S = e · axial(R), C = tr R − e · R e."""
    trace = plus(plus(R.x.x, R.y.y), R.z.z)
    turned = R.act(e)
    S, C = e.dot(axial(R)), minus(trace, e.dot(turned))
    dS = e.scaled(trace) - R.act_back(e)
    dC = -(axial(R) + turned.cross(e))
    square = plus(times(S, S), times(C, C))
    return apply("atan2", S, C), _over(dS.scaled(C) - dC.scaled(S), square)


def angle(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """How far b is turned about a's axis."""
    value, g = twist(X_a.rotation.transposed() @ X_b.rotation, axis)
    return Reading((value,), (_turn(X_a.rotation.act(g)),))


def position(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """p_ab in a's axes."""
    values = X_a.rotation.act_back(X_b.position - X_a.position)
    return Reading(tuple(values), tuple(_pull(X_a.rotation.act(e)) for e in (X, Y, Z)))


def quaternion_of(R: Rotation) -> tuple[Scalar, ...]:
    """x, y, z, w with w ≥ 0 of a rotation; away from half a turn exact, at half a turn by the largest component.

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
    length = sqrt(plus(plus(times(sums[0], sums[0]), times(sums[1], sums[1])),
                       plus(times(sums[2], sums[2]), times(sums[3], sums[3]))))  # fmt: skip
    return tuple(over(x, length) for x in sums)


def _inverse_left(phi: Vector3) -> tuple[Vector3, Vector3, Vector3]:
    """Rows of J⁻¹ with d(rotation vector)/dt = J⁻¹ ω, ω in a's axes: 1 − [φ]×/2 + k [φ]×²,
    k = (1 − (φ/2) cot(φ/2))/φ² (Sola, Deray, Atchuthan 2018, 146)."""
    square = plus(phi.dot(phi), 1e-12)
    half = times(0.5, sqrt(square))
    k = over(minus(1.0, over(times(half, cos(half)), sin(half))), square)
    rows = []
    for e in (X, Y, Z):
        # row r of J⁻¹ as a vector: e + φ × e / 2 + k φ × (φ × e), since [φ]×ᵀ = −[φ]×
        once = phi.cross(e)
        rows.append(e + once.scaled(0.5) + phi.cross(once).scaled(k))
    return rows[0], rows[1], rows[2]


def orientation(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """Rotation vector of R_ab (in a's axes; the same in b's)."""
    phi = Vector3(*rotation_vector(quaternion_of(X_a.rotation.transposed() @ X_b.rotation)))
    return Reading(tuple(phi), tuple(_turn(X_a.rotation.act(row)) for row in _inverse_left(phi)))


def pose(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Reading:
    """Rotation vector, then position."""
    turn, place = orientation(X_a, X_b, axis, axis_b), position(X_a, X_b, axis, axis_b)
    return Reading((*turn.values, *place.values), (*turn.wrenches, *place.wrenches))


CHORDS: dict[str, Measure] = {
    "distance": distance, "square_distance": square_distance, "point_plane": point_plane, "plane_point": plane_point,
    "plane_plane": plane_plane, "angle": angle, "position": position, "orientation": orientation, "pose": pose,
}  # fmt: skip


def relative(X_a: Pose, X_b: Pose, V_a: Motion, V_b: Motion) -> Motion:
    """Motion of b against a at b's origin, world axes: the rotation of a taken off."""
    p = X_b.position - X_a.position
    return Motion(V_b.angular - V_a.angular, V_b.linear - V_a.linear - V_a.angular.cross(p))


def rate(wrench: Force, motion: Motion) -> Scalar:
    """ṡ = W · V."""
    return motion.dot(wrench)


def in_axes(X: Pose, vector: Vector3) -> Vector3:
    """A vector of world axes in a frame's."""
    return X.rotation.act_back(vector)

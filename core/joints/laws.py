"""Joint laws: how frame b moves relative to frame a, one small class per kind.

Every kind has one vocabulary; recursions never ask for the kind. The frames are *canonical*: the joint's axis is z
(`canonical_frame` gives the rotation that makes it so), so a law holds only the numbers that remain.

nq, nv        numbers of coordinates and speeds
pose(q)       X_ab: frame b in frame a
subspace()    columns S_k of the motion subspace, in b's axes at b's origin: V_ab = Σ S_k v_k
bias(q, v)    Ṡ v, the components in b that the changing columns add to the acceleration
rate(q, v)    q̇
spring(q, r)  displacement from the rest position r, one number per speed (rad or m)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from core.errors import ModelError
from core.spatial import rotation
from core.spatial.attitude import rotation_vector
from core.spatial.motion import ZERO as ZERO_MOTION
from core.spatial.motion import Motion
from core.spatial.pose import IDENTITY, Pose
from core.spatial.rotation import IDENTITY as NO_ROTATION
from core.spatial.rotation import Rotation, about, about_z, from_axes, from_quaternion, from_z
from core.spatial.scalar import Scalar, minus, negated, over, times
from core.spatial.vector import ZERO, Vector3, X, Y, Z

Scalars = Sequence[Scalar]
Columns = tuple[Motion, ...]


class JointLaw(Protocol):
    """What a recursion asks of a joint."""

    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    def pose(self, q: Scalars) -> Pose: ...
    def subspace(self, q: Scalars) -> Columns: ...
    def bias(self, q: Scalars, v: Scalars) -> Motion: ...
    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]: ...
    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]: ...


class _Plain:
    """Coordinates whose rates are the speeds, and columns that do not change."""

    __slots__ = ()

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return ZERO_MOTION

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return tuple(v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return tuple(minus(a, b) for a, b in zip(q, rest, strict=True))


def _turning(axis: Vector3) -> Motion:
    return Motion(axis, ZERO)


def _sliding(axis: Vector3) -> Motion:
    return Motion(ZERO, axis)


class _Fixed(NamedTuple):
    pass


class Fixed(_Fixed, _Plain):
    """No motion."""

    nq, nv = 0, 0

    def pose(self, q: Scalars) -> Pose:
        return IDENTITY

    def subspace(self, q: Scalars) -> Columns:
        return ()


class Revolute(_Fixed, _Plain):
    """Rotation about z."""

    nq, nv = 1, 1

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (_turning(Z),)


class Prismatic(_Fixed, _Plain):
    """Translation along z."""

    nq, nv = 1, 1

    def pose(self, q: Scalars) -> Pose:
        return Pose(NO_ROTATION, Vector3(0.0, 0.0, q[0]))

    def subspace(self, q: Scalars) -> Columns:
        return (_sliding(Z),)


class _Screw(NamedTuple):
    advance: Scalar
    """Advance per radian, m/rad."""


class Screw(_Screw, _Plain):
    """Rotation about z by q with a translation of `advance` · q along z."""

    nq, nv = 1, 1

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), Vector3(0.0, 0.0, times(self.advance, q[0])))

    def subspace(self, q: Scalars) -> Columns:
        return (Motion(Z, Vector3(0.0, 0.0, self.advance)),)


class Cylindrical(_Fixed, _Plain):
    """Rotation about z and translation along z: (angle, displacement)."""

    nq, nv = 2, 2

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]), Vector3(0.0, 0.0, q[1]))

    def subspace(self, q: Scalars) -> Columns:
        return (_turning(Z), _sliding(Z))


class _Universal(NamedTuple):
    second: Vector3
    """Unit vector of the second axis in a at q = 0."""


class Universal(_Universal, _Plain):
    """Rotation about a's z, then about b's `second` axis."""

    nq, nv = 2, 2

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[0]) @ about(self.second, q[1]), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (_turning(about(self.second, q[1]).act_back(Z)), _turning(self.second))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        # d/dt (R₂ᵀ z) v₁ = −(e v₂) × (R₂ᵀ z) v₁
        first = about(self.second, q[1]).act_back(Z)
        return _turning(first.cross(self.second).scaled(times(v[0], v[1])))


class Planar(_Fixed, _Plain):
    """Translation in the plane across z, in a's axes, and rotation about z: (x, y, angle)."""

    nq, nv = 3, 3

    def pose(self, q: Scalars) -> Pose:
        return Pose(about_z(q[2]), Vector3(q[0], q[1], 0.0))

    def subspace(self, q: Scalars) -> Columns:
        R = about_z(q[2])
        return (_sliding(R.act_back(X)), _sliding(R.act_back(Y)), _turning(Z))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        # d/dt (Rᵀ ṗ) at constant ṗ = −ω × Rᵀ ṗ
        linear = about_z(q[2]).act_back(Vector3(v[0], v[1], 0.0))
        return _sliding(linear.cross(Z.scaled(v[2])))


class Spherical(_Fixed, _Plain):
    """Any rotation: quaternion x, y, z, w; speeds are the angular velocity in b's axes."""

    nq, nv = 4, 3

    def pose(self, q: Scalars) -> Pose:
        return Pose(from_quaternion(q), ZERO)

    def subspace(self, q: Scalars) -> Columns:
        return (_turning(X), _turning(Y), _turning(Z))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return quaternion_rate(q, v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return rotation_vector(quaternion_difference(rest, q))


class Free(_Fixed, _Plain):
    """Any motion: position of b in a, then the quaternion; speeds [ω; v] in b's axes."""

    nq, nv = 7, 6

    def pose(self, q: Scalars) -> Pose:
        return Pose(from_quaternion(q[3:]), Vector3(*q[:3]))

    def subspace(self, q: Scalars) -> Columns:
        return (*map(_turning, (X, Y, Z)), *map(_sliding, (X, Y, Z)))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return (*from_quaternion(q[3:]).act(Vector3(*v[3:])), *quaternion_rate(q[3:], v[:3]))

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        away = Vector3(*q[:3]) - Vector3(*rest[:3])
        turned = rotation_vector(quaternion_difference(rest[3:], q[3:]))
        return (*turned, *from_quaternion(q[3:]).act_back(away))


class _Reversed(NamedTuple):
    law: Any


class Reversed(_Reversed):
    """A joint met from its child side: the motion of a relative to b, with the coordinates of b relative to a.

    X_ba = X_ab⁻¹; V of a in b, in a's axes = −X_ab V_ab, whose rate is −X_ab (Ṡ v) since V_ab × V_ab = 0.
    """

    @property
    def nq(self) -> int:
        return self.law.nq

    @property
    def nv(self) -> int:
        return self.law.nv

    def pose(self, q: Scalars) -> Pose:
        return self.law.pose(q).inverse()

    def subspace(self, q: Scalars) -> Columns:
        X_ab = self.law.pose(q)
        return tuple(-X_ab.motion(column) for column in self.law.subspace(q))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -self.law.pose(q).motion(self.law.bias(q, v))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return self.law.rate(q, v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return self.law.displacement(q, rest)


# -------------------------------------------------------------------------------------- quaternions


def quaternion_rate(q: Scalars, w: Scalars) -> tuple[Scalar, ...]:
    """q̇ = ½ q ⊗ (ω, 0) with ω in b's axes; q as x, y, z, w."""
    half = quaternion_product(q, (*w, 0.0))
    return tuple(times(0.5, component) for component in half)


def quaternion_product(p: Scalars, q: Scalars) -> tuple[Scalar, ...]:
    """p ⊗ q, both x, y, z, w."""
    pv, qv = Vector3(*p[:3]), Vector3(*q[:3])
    vector = qv.scaled(p[3]) + pv.scaled(q[3]) + pv.cross(qv)
    return (*vector, minus(times(p[3], q[3]), pv.dot(qv)))


def quaternion_difference(p: Scalars, q: Scalars) -> tuple[Scalar, ...]:
    """p⁻¹ ⊗ q: the rotation from p to q in p's axes."""
    return quaternion_product((*(negated(c) for c in p[:3]), p[3]), q)


# ------------------------------------------------------------------------------------- choosing one

_AXIAL: dict[str, Callable[[], Any]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "cylindrical": Cylindrical,
    "planar": Planar,
}
_AXLESS: dict[str, Callable[[], Any]] = {"spherical": Spherical, "free": Free, "fixed": Fixed}


def canonical(kind: str, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Any, Rotation]:
    """The law of a joint kind, and the rotation R_ac of the canonical frame c (axis along z) in frame a.

    axis, second_axis : directions in a; pitch : m per revolution
    """
    if kind in _AXLESS:
        return _AXLESS[kind](), NO_ROTATION
    z = rotation.normalised(axis)
    if kind == "universal":
        return _universal(z, rotation.normalised(second_axis))
    if kind == "screw":
        return Screw(over(pitch, 2.0 * math.pi)), from_z(z)
    return _AXIAL[kind](), from_z(z)


def _universal(first: Vector3, second: Vector3) -> tuple[Universal, Rotation]:
    along = first.dot(second)
    if isinstance(along, float) and abs(along) > 1.0 - rotation.TIDY:
        raise ModelError(
            "The two axes of the universal joint are parallel.",
            where="second_axis",
            remedy="Give a second axis that is not parallel to the first.",
        )
    R_ac = from_axes(first, second)
    second = R_ac.act_back(second)
    return Universal(Vector3(*(rotation.tidy(c) for c in second))), R_ac

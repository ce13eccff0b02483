"""Coordinates of a joint measured from the poses of its frames: for joints that close a loop and have none in q.

Each wrench gives the rate of one speed, W · V_ab, on motions that the joint allows. Frames are canonical (axis z).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core.joints import laws
from core.spatial.attitude import quaternion_of, twist
from core.spatial.force import Force
from core.spatial.pose import Pose
from core.spatial.relative_measures import RELATIVE_MEASURES, Measure, Measured
from core.spatial.rotation import about_z
from core.spatial.scalar import Scalar, apply, is_zero, minus, over, plus, times
from core.spatial.vector import ZERO, Vector3, X, Y, Z


def _angle(X_ab: Pose) -> tuple[Scalar, Force]:
    value, g = twist(X_ab.rotation, Z)
    return value, Force(g, ZERO)


def _revolute(law: Any, X_ab: Pose) -> Measured:
    value, wrench = _angle(X_ab)
    return Measured((value,), (wrench,))


def _screw(law: laws.Screw, X_ab: Pose) -> Measured:
    """The advance tells the whole turns."""
    value, wrench = _angle(X_ab)
    if is_zero(law.advance):
        return Measured((value,), (wrench,))
    turn = 2.0 * math.pi
    turns = apply("floor", plus(over(minus(over(X_ab.position.z, law.advance), value), turn), 0.5))
    return Measured((plus(value, times(turn, turns)),), (wrench,))


def _prismatic(law: Any, X_ab: Pose) -> Measured:
    return Measured((X_ab.position.z,), (Force(ZERO, Z),))


def _cylindrical(law: Any, X_ab: Pose) -> Measured:
    value, wrench = _angle(X_ab)
    return Measured((value, X_ab.position.z), (wrench, Force(ZERO, Z)))


def _planar(law: Any, X_ab: Pose) -> Measured:
    value, wrench = _angle(X_ab)
    return Measured((X_ab.position.x, X_ab.position.y, value), (Force(ZERO, X), Force(ZERO, Y), wrench))


def _turned_about(e: Vector3, start: Vector3, end: Vector3) -> Scalar:
    """Angle about the unit vector e from one vector to another."""
    start, end = (v - e.scaled(e.dot(v)) for v in (start, end))
    return apply("atan2", e.dot(start.cross(end)), start.dot(end))


def _universal(law: laws.Universal, X_ab: Pose) -> Measured:
    """R = Rz(q₁) R(e, q₂) takes e to Rz(q₁) e, and R(e, q₂) z = Rz(q₁)ᵀ R z. ω = z q̇₁ + e′ q̇₂, e′ = R e."""
    R = X_ab.rotation
    second = R.act(law.second)
    first_angle = _turned_about(Z, law.second, second)
    second_angle = _turned_about(law.second, Z, about_z(first_angle).act_back(R.act(Z)))
    across = Z.cross(second)
    dual = (second.cross(across), across.cross(Z))
    return Measured(
        (first_angle, second_angle),
        (
            Force(dual[0].scaled(over(1.0, dual[0].dot(Z))), ZERO),
            Force(dual[1].scaled(over(1.0, dual[1].dot(second))), ZERO),
        ),
    )


def _spherical(law: Any, X_ab: Pose) -> Measured:
    axes = X_ab.rotation.columns()
    return Measured(quaternion_of(X_ab.rotation), tuple(Force(axis, ZERO) for axis in axes))


def _free(law: Any, X_ab: Pose) -> Measured:
    turns = _spherical(law, X_ab)
    slides = tuple(Force(ZERO, axis) for axis in X_ab.rotation.columns())
    return Measured((*X_ab.position, *turns.values), (*turns.wrenches, *slides))


_READINGS: dict[type, Callable[[Any, Pose], Measured]] = {
    laws.Revolute: _revolute,
    laws.Screw: _screw,
    laws.Prismatic: _prismatic,
    laws.Cylindrical: _cylindrical,
    laws.Planar: _planar,
    laws.Universal: _universal,
    laws.Spherical: _spherical,
    laws.Free: _free,
    laws.Fixed: lambda law, X_ab: Measured((), ()),
}


def coordinates_of(X_a: Pose, X_b: Pose, law: Any, _: Any) -> Measured:
    """Coordinates, and per speed the wrench on b about b's origin, world axes."""
    X_ab = X_a.inverse() @ X_b
    values, wrenches = _READINGS[type(law)](law, X_ab)
    turn = X_a.rotation
    return Measured(values, tuple(Force(turn.act(W.moment), turn.act(W.force)) for W in wrenches))


MEASURES: dict[str, Measure] = {**RELATIVE_MEASURES, "joint": coordinates_of}
"""All measures by name."""

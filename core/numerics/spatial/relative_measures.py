"""Relative measures between two frames a and b, and the wrench that each transmits (MOBILE 1.3 User's Guide 5.2).

A measure s depends on the pose of b against a only, so its rate is the power of a wrench W on the motion of b against
a: ṡ = W · V_ab. A force Q along s then acts on b as Q W and on a as −Q W at the same point: force transmission is
the transpose of motion transmission. Wrenches are about b's origin in world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import inverse_left_jacobian, quaternion_from_rotation, rotation_vector, twist_angle
from core.numerics.spatial.scalar import Scalar, negated, plus, sqrt
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3, X, Y, Z

TINY = 1e-24
"""Small number (m²) that keeps the direction of a line of length zero from being 0/0; the direction is then zero."""


class Measured(NamedTuple):
    """Measured values, and for each value the wrench W that gives its rate."""

    values: tuple[Scalar, ...]
    wrenches: tuple[Force, ...]


Measure = Callable[[Pose, Pose, Any, Any], Measured]


def _length(p: Vector3) -> Scalar:
    return sqrt(plus(p.dot(p), TINY))


def _pure_force(force: Vector3) -> Force:
    return Force(ZERO, force)


def _pure_moment(moment: Vector3) -> Force:
    return Force(moment, ZERO)


def distance(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Distance |p_ab| between the origins (m)."""
    p = X_b.position - X_a.position
    length = _length(p)
    return Measured((length,), (_pure_force(p.over(length)),))


def square_distance(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Squared distance |p_ab|² between the origins (m²)."""
    p = X_b.position - X_a.position
    return Measured((p.dot(p),), (_pure_force(p.scaled(2.0)),))


def point_plane(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Distance n_a · p_ab of b's origin from the plane through a with normal n_a."""
    n = X_a.rotation.act(axis)
    return Measured((n.dot(X_b.position - X_a.position),), (_pure_force(n),))


def plane_point(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Distance n_b · p_ba of a's origin from the plane through b with normal n_b; rate −n_b · v − (n_b × p_ab) · ω."""
    n, p = X_b.rotation.act(axis_b), X_b.position - X_a.position
    return Measured((negated(n.dot(p)),), (Force(p.cross(n), -n),))


def plane_plane(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Cosine n_a · n_b of the angle between two plane normals; rate (n_b × n_a) · ω."""
    n_a, n_b = X_a.rotation.act(axis), X_b.rotation.act(axis_b)
    return Measured((n_a.dot(n_b),), (_pure_moment(n_b.cross(n_a)),))


def angle(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Angle of b about a's axis (rad)."""
    value, g = twist_angle(X_a.rotation.transposed() @ X_b.rotation, axis)
    return Measured((value,), (_pure_moment(X_a.rotation.act(g)),))


def position(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Position p_ab in a's axes (m)."""
    values = X_a.rotation.act_back(X_b.position - X_a.position)
    return Measured(tuple(values), tuple(_pure_force(X_a.rotation.act(e)) for e in (X, Y, Z)))


def orientation(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Rotation vector of R_ab, in a's axes (equal to that in b's)."""
    phi = Vector3(*rotation_vector(quaternion_from_rotation(X_a.rotation.transposed() @ X_b.rotation)))
    return Measured(tuple(phi), tuple(_pure_moment(X_a.rotation.act(row)) for row in inverse_left_jacobian(phi)))


def pose(X_a: Pose, X_b: Pose, axis: Vector3, axis_b: Vector3) -> Measured:
    """Relative pose as rotation vector, then position."""
    turn, place = orientation(X_a, X_b, axis, axis_b), position(X_a, X_b, axis, axis_b)
    return Measured((*turn.values, *place.values), (*turn.wrenches, *place.wrenches))


def relative_motion(X_a: Pose, X_b: Pose, V_a: Motion, V_b: Motion) -> Motion:
    """Return the motion of b relative to a at b's origin in world axes, with v as seen from a."""
    p = X_b.position - X_a.position
    return Motion(V_b.angular - V_a.angular, V_b.linear - V_a.linear - V_a.angular.cross(p))


def measure_rate(wrench: Force, motion: Motion) -> Scalar:
    """Return the rate ṡ = W · V of a measure from its wrench and the relative motion."""
    return motion.dot(wrench)


def in_frame_axes(X: Pose, vector: Vector3) -> Vector3:
    """Transform a vector from world axes to a frame's axes."""
    return X.rotation.act_back(vector)

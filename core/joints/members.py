"""What the members of several joint kinds are made of: columns, residuals, angles."""

from __future__ import annotations

from core.spatial.attitude import twist
from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation
from core.spatial.scalar import Scalar, minus, plus, times
from core.spatial.vector import ZERO, Vector3, Z


def turning(axis: Vector3) -> Motion:
    """A column of rotation."""
    return Motion(axis, ZERO)


def sliding(axis: Vector3) -> Motion:
    """A column of translation."""
    return Motion(ZERO, axis)


def angle(X_ab: Pose) -> tuple[Scalar, Force]:
    """Angle about z, −π … π, and the wrench that gives its rate."""
    value, g = twist(X_ab.rotation, Z)
    return value, Force(g, ZERO)


def coincident(X: Pose) -> list[Scalar]:
    """Origins coincide."""
    return list(X.position)


def on_axis(X: Pose) -> list[Scalar]:
    """b's origin lies on a's axis."""
    return [X.position.x, X.position.y]


def parallel(R: Rotation) -> list[Scalar]:
    """b's z is parallel to a's: its x and y components in a vanish."""
    return [R.x.z, R.y.z]


def aligned(R: Rotation) -> list[Scalar]:
    """No rotation at all: the axial vector of R (sin φ n)."""
    return [
        times(0.5, minus(R.z.y, R.y.z)),
        times(0.5, minus(R.x.z, R.z.x)),
        times(0.5, minus(R.y.x, R.x.y)),
    ]


def cosine_of_angle(R: Rotation) -> Scalar:
    """Of the angle by which R turns."""
    return times(0.5, minus(plus(plus(R.x.x, R.y.y), R.z.z), 1.0))

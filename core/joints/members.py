"""What the members of several joint kinds are made of: columns, residuals, angles."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ModelError
from core.spatial.attitude import twist
from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.rotation import TIDY, Rotation, from_axes, normalised
from core.spatial.scalar import Scalar, minus, plus, times
from core.spatial.vector import ZERO, Vector3, Z


def turning(axis: Vector3) -> Motion:
    """A column of rotation."""
    return Motion(axis, ZERO)


def sliding(axis: Vector3) -> Motion:
    """A column of translation."""
    return Motion(ZERO, axis)


def between_axes(axis: Sequence[Scalar], second_axis: Sequence[Scalar]) -> tuple[Vector3, Rotation]:
    """The frame c whose z is a joint's axis and whose y lies in the half plane of its second axis: that axis in it (a
    unit vector), and R_ac. Raises ModelError where the two are parallel."""
    first, second = normalised(axis), normalised(second_axis)
    along = first.dot(second)
    if isinstance(along, float) and abs(along) > 1.0 - TIDY:
        raise ModelError(
            "The two axes of the joint are parallel.",
            where="second_axis",
            remedy="Give a second axis that is not parallel to the first.",
        )
    R_ac = from_axes(first, second)
    return R_ac.act_back(second), R_ac


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

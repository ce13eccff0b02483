"""Building blocks of joint kinds: columns of the motion subspace, residuals, angles."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ModelError
from core.numerics.spatial.attitude import twist
from core.numerics.spatial.force import Force
from core.numerics.spatial.motion import Motion
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import ROUNDING_TOLERANCE, Rotation, from_axes, normalised
from core.numerics.spatial.scalar import Scalar, minus, plus, times
from core.numerics.spatial.vector import ZERO, Vector3, Z


def turning(axis: Vector3) -> Motion:
    """Return the column of a rotation about an axis."""
    return Motion(axis, ZERO)


def sliding(axis: Vector3) -> Motion:
    """Return the column of a translation along an axis."""
    return Motion(ZERO, axis)


def canonical_frame(axis: Sequence[Scalar], second_axis: Sequence[Scalar]) -> tuple[Vector3, Rotation]:
    """Return the second axis of a joint in its canonical frame c (a unit vector), and R_ac; z of c is the joint's axis
    and y lies in the half plane of the second axis. Raises ModelError where the two are parallel."""
    first, second = normalised(axis), normalised(second_axis)
    along = first.dot(second)
    if isinstance(along, float) and abs(along) > 1.0 - ROUNDING_TOLERANCE:
        raise ModelError(
            "The joint's axis and second axis are parallel.",
            where="second_axis",
            remedy="Give a second axis that is not parallel to the first.",
        )
    R_ac = from_axes(first, second)
    return R_ac.act_back(second), R_ac


def angle(X_ab: Pose) -> tuple[Scalar, Force]:
    """Return the angle about z, −π … π, and the wrench that gives its rate."""
    value, g = twist(X_ab.rotation, Z)
    return value, Force(g, ZERO)


def coincident(X: Pose) -> list[Scalar]:
    """Residuals of coincident origins."""
    return list(X.position)


def on_axis(X: Pose) -> list[Scalar]:
    """Residuals of b's origin on a's axis."""
    return [X.position.x, X.position.y]


def parallel(R: Rotation) -> list[Scalar]:
    """Residuals of parallel z axes: x and y components in a of b's z axis."""
    return [R.x.z, R.y.z]


def aligned(R: Rotation) -> list[Scalar]:
    """Residuals of aligned frames: the axial vector of R (sin φ n)."""
    return [
        times(0.5, minus(R.z.y, R.y.z)),
        times(0.5, minus(R.x.z, R.z.x)),
        times(0.5, minus(R.y.x, R.x.y)),
    ]


def cosine_of_angle(R: Rotation) -> Scalar:
    """Return the cosine of the angle of a rotation."""
    return times(0.5, minus(plus(plus(R.x.x, R.y.y), R.z.z), 1.0))

"""Free joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    Scalars,
    rotation_column,
    translation_column,
)
from core.later import dataclass
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import (
    from_quaternion,
    quaternion_difference,
    quaternion_from_rotation,
    quaternion_rate,
    rotation_vector,
)
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, Vector3, X, Y, Z

if TYPE_CHECKING:
    from core.joints.kind import Array


@dataclass(frozen=True)
class Free(ConstantSubspaceKind):
    """Free motion with six degrees of freedom: position of b in a, then the quaternion; speeds [ω; v] in b's axes."""

    name, title = "free", "Free"
    help = "Moves and turns freely, as a body without a joint does relative to the ground."
    coordinates = ("x", "y", "z", "qx", "qy", "qz", "qw")
    coordinate_dimensions = ("length",) * 3 + ("none",) * 4
    speeds = ("wx", "wy", "wz", "vx", "vy", "vz")
    speed_dimensions = ("angular_velocity",) * 3 + ("velocity",) * 3
    neutral = (0.0,) * 6 + (1.0,)
    uses = ()
    counts_turns = False
    quaternion = 3
    balls = ((0, 1, 2), (3, 4, 5))
    position = ("x", "y", "z")
    forbidden = Forbidden("none", "none")

    def pose(self, q: Scalars) -> Pose:
        return Pose(from_quaternion(q[3:]), Vector3(*q[:3]))

    def subspace(self, q: Scalars) -> Columns:
        return (*map(rotation_column, (X, Y, Z)), *map(translation_column, (X, Y, Z)))

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return []

    def measure(self, X_ab: Pose) -> Measured:
        R = X_ab.rotation
        turns = tuple(Force(axis, ZERO) for axis in R.columns())
        slides = tuple(Force(ZERO, axis) for axis in R.columns())
        return Measured((*X_ab.position, *quaternion_from_rotation(R)), (*turns, *slides))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return (*from_quaternion(q[3:]).act(Vector3(*v[3:])), *quaternion_rate(q[3:], v[:3]))

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        away = Vector3(*q[:3]) - Vector3(*rest[:3])
        turned = rotation_vector(quaternion_difference(rest[3:], q[3:]))
        return (*turned, *from_quaternion(q[3:]).act_back(away))

    def carried(self, v: Scalars) -> Scalars:
        return (0.0, 0.0, 0.0, *Vector3(*v[:3]).cross(Vector3(*v[3:])))

    @classmethod
    def moved(cls, q: Array, step: Array) -> Array:
        """Displace by the exponential of a constant twist in b's axes (Murray, Li, Sastry 1994, 2.36)."""
        from core.joints import quaternions

        turn, shift = step[..., :3], step[..., 3:]
        position = q[..., :3] + quaternions.rotate_vector(
            quaternions.normalise_quaternion(q[..., 3:]), quaternions.screw_displacement(turn, shift)
        )
        return quaternions.concatenate_parts(position, quaternions.rotate_quaternion(q[..., 3:], turn))

    @classmethod
    def between(cls, q0: Array, q1: Array) -> Array:
        from core.joints import quaternions

        turn = quaternions.rotation_vector_between(q0[..., 3:], q1[..., 3:])
        back = quaternions.conjugate_quaternion(quaternions.normalise_quaternion(q0[..., 3:]))
        shift = quaternions.rotate_vector(back, q1[..., :3] - q0[..., :3])
        return quaternions.concatenate_parts(turn, quaternions.screw_velocity(turn, shift))

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("F"),)

"""Poses X_AB = (R_AB, p_AB) of a frame B in a frame A, and the transformation of motions and forces between them."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3


class Pose(NamedTuple):
    """Pose of frame B in frame A: rotation R_AB, and p_AB from A's origin to B's in A's axes (m)."""

    rotation: Rotation
    position: Vector3

    def __matmul__(self, other: Pose) -> Pose:
        """Compose two poses: X_AC = X_AB X_BC."""
        return Pose(self.rotation @ other.rotation, self.position + self.rotation.act(other.position))

    def inverse(self) -> Pose:
        """Return the inverse pose X_BA."""
        return Pose(self.rotation.transposed(), -self.rotation.act_back(self.position))

    def is_identity(self) -> bool:
        """Return True if every entry is a literal and A coincides with B."""
        entries = zip((*self.rotation, self.position), (*NO_ROTATION, ZERO), strict=True)
        return all(type(x) is float and x == y for row, own in entries for x, y in zip(row, own, strict=True))

    def point(self, p: Vector3) -> Vector3:
        """Transform a point from B to A."""
        return self.position + self.rotation.act(p)

    def motion(self, m: Motion) -> Motion:
        """Transform a motion from B to A: [R ω; R v + p × R ω] (RBDA 2.24)."""
        angular = self.rotation.act(m.angular)
        return Motion(angular, self.rotation.act(m.linear) + self.position.cross(angular))

    def motion_back(self, m: Motion) -> Motion:
        """Transform a motion from A to B: [Rᵀ ω; Rᵀ(v − p × ω)]."""
        return Motion(
            self.rotation.act_back(m.angular),
            self.rotation.act_back(m.linear - self.position.cross(m.angular)),
        )

    def force(self, f: Force) -> Force:
        """Transform a force from B to A: [R n + p × R f; R f] (RBDA 2.25)."""
        force = self.rotation.act(f.force)
        return Force(self.rotation.act(f.moment) + self.position.cross(force), force)

    def force_back(self, f: Force) -> Force:
        """Transform a force from A to B: [Rᵀ(n − p × f); Rᵀ f]."""
        return Force(
            self.rotation.act_back(f.moment - self.position.cross(f.force)),
            self.rotation.act_back(f.force),
        )


IDENTITY = Pose(NO_ROTATION, ZERO)


def from_matrix(matrix: Any) -> Pose:
    """Return the pose given by a homogeneous matrix (4, 4) of numbers."""
    rows = [Vector3(*map(float, row[:3])) for row in matrix[:3]]
    return Pose(Rotation(*rows), Vector3(*map(float, matrix[:3, 3])))

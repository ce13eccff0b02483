"""Placeholder for joints of an unknown kind."""

from __future__ import annotations

from typing import Self

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Scalars,
    aligned_frames_residuals,
    coincident_origin_residuals,
)
from core.later import dataclass
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class UnknownJoint(ConstantSubspaceKind):
    """Placeholder for a joint of an unknown kind, in a model that is only displayed and edited; it does not move. It is
    not one of the joint kinds, and no mechanism can be compiled with it."""

    name, title = "", "Unknown kind"
    help = "Its motion is defined by a package that is not installed."
    coordinates, coordinate_dimensions = (), ()
    uses = ("axis", "second_axis", "pitch")
    counts_turns = False

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        return cls(), NO_ROTATION

    def pose(self, q: Scalars) -> Pose:
        return IDENTITY

    def subspace(self, q: Scalars) -> Columns:
        return ()

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident_origin_residuals(X_ab) + aligned_frames_residuals(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        return Measured((), ())

"""Fixed joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    ConstantSubspaceKind,
    Elementary,
    Forbidden,
    JointReplacement,
    Scalars,
    aligned_frames_residuals,
    coincident_origin_residuals,
    cosine_of_angle,
)
from core.later import dataclass
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class Fixed(ConstantSubspaceKind):
    """Rigid connection: no motion."""

    name, title = "fixed", "Fixed"
    help = "Connects two bodies rigidly."
    coordinates, coordinate_dimensions = (), ()
    uses = ()
    counts_turns = False
    direction_rows = slice(3, 6)
    forbidden = Forbidden("all", "all")
    releases = (
        JointReplacement("spherical", ("rotation", "rotation", "rotation")),
        JointReplacement("revolute", ("rotation",), axis="rotation"),
        JointReplacement("prismatic", ("translation",), axis="translation"),
    )

    def pose(self, q: Scalars) -> Pose:
        return IDENTITY

    def subspace(self, q: Scalars) -> Columns:
        return ()

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident_origin_residuals(X_ab) + aligned_frames_residuals(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        return Measured((), ())

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("W"),)

    def facing(self, X_ab: Pose) -> Scalar:
        return cosine_of_angle(X_ab.rotation)

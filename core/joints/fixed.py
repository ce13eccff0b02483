"""Fixed joint."""

from __future__ import annotations

from core.joints.kind import (
    Columns,
    Elementary,
    Exchange,
    Forbidden,
    Scalars,
    SteadyKind,
    aligned,
    coincident,
    cosine_of_angle,
)
from core.later import dataclass
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class Fixed(SteadyKind):
    """Rigid connection: no motion."""

    name, title = "fixed", "Fixed"
    help = "Holds two bodies together as if they were one."
    coordinates, coordinate_dimensions = (), ()
    uses = ()
    counts_turns = False
    direction_rows = slice(3, 6)
    forbidden = Forbidden("all", "all")
    releases = (
        Exchange("spherical", ("rotation", "rotation", "rotation")),
        Exchange("revolute", ("rotation",), axis="rotation"),
        Exchange("prismatic", ("translation",), axis="translation"),
    )

    def pose(self, q: Scalars) -> Pose:
        return IDENTITY

    def subspace(self, q: Scalars) -> Columns:
        return ()

    def residual(self, X_ab: Pose) -> list[Scalar]:
        return coincident(X_ab) + aligned(X_ab.rotation)

    def measure(self, X_ab: Pose) -> Measured:
        return Measured((), ())

    def elementary(self) -> tuple[Elementary, ...]:
        return (Elementary("W"),)

    def facing(self, X_ab: Pose) -> Scalar:
        return cosine_of_angle(X_ab.rotation)

"""Joint traversed from its child side."""

from __future__ import annotations

from core.joints.kind import Columns, JointLaw, Scalars
from core.later import dataclass
from core.numerics.spatial.motion import Motion
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class Reversed:
    """Joint that gives the motion of a relative to b, with the coordinates of b relative to a.

    X_ba = X_ab⁻¹; V of a in b, in a's axes = −X_ab V_ab, whose rate is −X_ab (Ṡ v) since V_ab × V_ab = 0.
    """

    law: JointLaw

    @property
    def nq(self) -> int:
        return self.law.nq

    @property
    def nv(self) -> int:
        return self.law.nv

    @property
    def neutral(self) -> tuple[float, ...]:
        return self.law.neutral

    @property
    def balls(self) -> tuple[tuple[int, ...], ...]:
        return self.law.balls

    def pose(self, q: Scalars) -> Pose:
        return self.law.pose(q).inverse()

    def subspace(self, q: Scalars) -> Columns:
        X_ab = self.law.pose(q)
        return tuple(-X_ab.motion(column) for column in self.law.subspace(q))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -self.law.pose(q).motion(self.law.bias(q, v))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return self.law.rate(q, v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return self.law.displacement(q, rest)

    def carried(self, v: Scalars) -> Scalars | None:
        return self.law.carried(v)

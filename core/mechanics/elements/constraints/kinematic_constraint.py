"""Interface of all kinematic constraints: cut joints, constraints and drivers.

A row holds s(q) = f(t). On position level the residual is s − f; on the level of speeds G v = ḟ; of accelerations
G a = f̈ − Ġ v. A driver may give only the speed or the acceleration; its rows then hold on these levels alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import LinkFrame
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import small as small_rotation
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3

POSITION, VELOCITY, ACCELERATION = 0, 1, 2

Rates = Callable[[Sequence[Scalar]], Sequence[Scalar]]


class Row(NamedTuple):
    """Owner of a row of the constraint equations."""

    collection: str
    """"joints", "constraints" or "drivers"."""
    element: str
    component: str
    level: int = POSITION
    """0: enforced for positions, speeds and accelerations; 1: for speeds and accelerations; 2: for accelerations only.
    """

    def __str__(self) -> str:
        return f"{self.element}.{self.component}" if self.component else self.element


class Target(NamedTuple):
    """Prescribed f, ḟ, f̈."""

    value: Scalar = 0.0
    rate: Scalar = 0.0
    second: Scalar = 0.0


STILL = Target()


class Side(NamedTuple):
    """Pair of frames between which a row exerts a wrench."""

    a: LinkFrame
    b: LinkFrame
    names: tuple[str, str]
    """Names of the bodies or frames, or the world, that carry the two frames."""
    joint: str = ""
    """Cut joint that transmits the wrench; empty: none."""


class ConstraintState:
    """Poses of the frames in the constraint equations; `shifts` displaces the frames b of sides by small motions."""

    def __init__(self, kinematics: KinematicState, shifts: dict[int, Sequence[Scalar]] | None = None) -> None:
        self.kinematics, self.shifts = kinematics, shifts or {}

    def frames(self, side: Side) -> tuple[Pose, Pose]:
        """Return X_Wa and X_Wb."""
        X_a, X_b = self.kinematics.frame(side.a), self.kinematics.frame(side.b)
        motion = self.shifts.get(id(side))
        if motion is not None:
            turn = small_rotation(Vector3(*motion[:3]))
            X_b = Pose(turn @ X_b.rotation, X_b.position + Vector3(*motion[3:]))
        return X_a, X_b


class KinematicConstraint(ABC):
    """Kinematic constraint s(q) = f(t), one or more rows."""

    rows: tuple[Row, ...]
    turns: bool = False
    """True if s is an angle known up to whole turns."""
    relative: bool = False
    """True if s depends only on the relative pose of the side's two frames."""

    @property
    def sharing_key(self) -> Hashable:
        """Return a key that is equal for constraints whose rows depend in the same way on the poses of their frames;
        None if that is unknown."""
        return None

    @property
    @abstractmethod
    def sides(self) -> tuple[Side, ...]:
        """Return the pairs of frames between which the constraint exerts wrenches; none for constraints on speeds of
        the tree."""

    @abstractmethod
    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return s(q) of each row; zero for rows that constrain speeds only."""

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """Return f(t) of each row; zero by default."""
        return [STILL] * len(self.rows)

    def speeds(self, state: ConstraintState, v: Sequence[Scalar], rates: Rates) -> list[Scalar] | None:
        """Return the constrained speeds, where these are not rates of coordinates; None: rows are of coordinates. rates
        : function that differentiates scalars of the state with respect to time"""
        return None

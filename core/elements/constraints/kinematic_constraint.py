"""What the program asks of everything that holds: joints that close loops, constraints, drivers.

A row holds s(q) = f(t). On position level the residual is s − f; on the level of speeds G v = ḟ; of accelerations
G a = f̈ − Ġ v. A driver may give only the speed or the acceleration; its rows then hold on these levels alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place
from core.spatial.pose import Pose
from core.spatial.rotation import small as small_rotation
from core.spatial.scalar import Scalar
from core.spatial.vector import Vector3

POSITION, VELOCITY, ACCELERATION = 0, 1, 2

Rates = Callable[[Sequence[Scalar]], Sequence[Scalar]]


class Row(NamedTuple):
    """Whose a row of the constraint equations is."""

    collection: str
    """"joints", "constraints" or "drivers"."""
    element: str
    component: str
    level: int = POSITION
    """0: holds on all levels; 1: on speeds and accelerations; 2: on accelerations only."""

    def __str__(self) -> str:
        return f"{self.element}.{self.component}" if self.component else self.element


class Target(NamedTuple):
    """f, ḟ, f̈."""

    value: Scalar = 0.0
    rate: Scalar = 0.0
    second: Scalar = 0.0


STILL = Target()


class Side(NamedTuple):
    """Two frames between which a row exerts a wrench."""

    a: Place
    b: Place
    names: tuple[str, str]
    """What carries them: names of bodies, frames, or the world."""
    joint: str = ""
    """The cut joint through which the wrench goes; empty: none."""


class ConstraintState:
    """Where frames are when rows are written down; `shifts` displaces the b of sides by small motions."""

    def __init__(self, kinematics: KinematicState, shifts: dict[int, Sequence[Scalar]] | None = None) -> None:
        self.kinematics, self.shifts = kinematics, shifts or {}

    def frames(self, side: Side) -> tuple[Pose, Pose]:
        """X_Wa and X_Wb."""
        X_a, X_b = self.kinematics.frame(side.a), self.kinematics.frame(side.b)
        motion = self.shifts.get(id(side))
        if motion is not None:
            turn = small_rotation(Vector3(*motion[:3]))
            X_b = Pose(turn @ X_b.rotation, X_b.position + Vector3(*motion[3:]))
        return X_a, X_b


class KinematicConstraint(ABC):
    """Something that holds."""

    rows: tuple[Row, ...]
    turns: bool = False
    """True if s is an angle known up to whole turns."""
    relative: bool = False
    """True if s is known from how the two frames of its side stand to each other: what moves both changes nothing."""

    @property
    def alike(self) -> Hashable:
        """Equal of constraints whose rows depend on the poses of their frames in the same way; None: not known."""
        return None

    @property
    @abstractmethod
    def sides(self) -> tuple[Side, ...]:
        """The frames between which it exerts wrenches; none of what acts on speeds of the tree."""

    @abstractmethod
    def values(self, state: ConstraintState) -> list[Scalar]:
        """s(q) of each row; zero for rows of speeds."""

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """f(t) of each row; by default nothing moves by time."""
        return [STILL] * len(self.rows)

    def speeds(self, state: ConstraintState, v: Sequence[Scalar], rates: Rates) -> list[Scalar] | None:
        """What rows of speeds hold, where no coordinates have them as rates; None: rows are of coordinates. rates : the
        derivatives by time of scalars of the state"""
        return None

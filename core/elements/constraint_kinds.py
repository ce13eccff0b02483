"""Everything that holds: joints that close loops, constraints, drivers; each with its rows of the constraint equations.

A row holds s(q) = f(t). On position level the residual is s − f; on the level of speeds G v = ḟ; of accelerations
G a = f̈ − Ġ v. A driver may give only the speed or the acceleration; its rows then hold on these levels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from core.elements.force_element import within_half_a_turn
from core.elements.sensors import Sensor
from core.joints.measures import MEASURES
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place
from core.model.constraints import meshing
from core.spatial.attitude import axial
from core.spatial.pose import Pose
from core.spatial.rotation import IDENTITY as NO_ROTATION
from core.spatial.rotation import Rotation, about
from core.spatial.rotation import small as small_rotation
from core.spatial.scalar import Scalar, is_zero, minus, over, plus, sqrt, times
from core.spatial.vector import Vector3

POSITION, VELOCITY, ACCELERATION = 0, 1, 2


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


class KinematicConstraint(Protocol):
    """One element of the document that holds something."""

    @property
    def rows(self) -> tuple[Row, ...]: ...
    @property
    def sides(self) -> tuple[Side, ...]: ...
    @property
    def turns(self) -> bool:
        """True if s is an angle known up to whole turns."""
        ...

    def values(self, state: ConstraintState) -> list[Scalar]:
        """s(q) of each row."""
        ...

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """f(t) of each row."""
        ...


class _Still:
    """Holds at fixed values, which are part of s."""

    rows: tuple[Row, ...]
    turns = False

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """Nothing moves by time."""
        return [STILL] * len(self.rows)


@dataclass(frozen=True)
class CutJoint(_Still):
    """A joint that closes a loop."""

    law: Any
    side: Side
    rows: tuple[Row, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """Its own frames."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """What the joint forbids."""
        X_a, X_b = state.frames(self.side)
        return self.law.residual(X_a.inverse() @ X_b)


@dataclass(frozen=True)
class Rod(_Still):
    """(|p|² − L²)/(2 L): smooth everywhere, and to first order the gap in m."""

    side: Side
    length: Scalar
    rows: tuple[Row, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """Its ends."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """The gap."""
        X_a, X_b = state.frames(self.side)
        p = X_b.position - X_a.position
        return [over(minus(p.dot(p), times(self.length, self.length)), times(2.0, self.length))]


@dataclass(frozen=True)
class SensorConstraint(_Still):
    """All components of a sensor at one value. Orientations are compared as rotations, so that the rows stay minimal
    and regular up to half a turn."""

    sensor: Sensor
    value: Scalar
    sides: tuple[Side, ...]
    rows: tuple[Row, ...]

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Sensor − value."""
        return sensor_residual(self.sensor, self.sides, self.value, state)


def sensor_residual(sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState) -> list[Scalar]:
    """Components of a sensor less a value."""
    if sensor.kind in ("orientation", "pose"):
        return _rotation_residual(sensor, sides, value, state)
    result = _plain_sum(sensor, sides, value, state)
    return [within_half_a_turn(x) for x in result] if sensor.kind == "angle" else result


def _plain_sum(sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState) -> list[Scalar]:
    sums: list[Scalar] = [minus(minus(0.0, sensor.offset), value)] * sensor.count
    for (sign, measure), side in zip(sensor.shares, sides, strict=True):
        values = MEASURES[measure.kind](*state.frames(side), measure.axis, measure.axis_b).values
        sums = [plus(total, times(sign, x)) for total, x in zip(sums, values, strict=True)]
    return sums


def _rotation_residual(sensor: Sensor, sides: Sequence[Side], value: Scalar, state: ConstraintState) -> list[Scalar]:
    """2 sin(φ/2) n of what is left of the rotation, target taken off; for a pose then the position."""
    frames = [state.frames(side) for side in sides]
    own, other = NO_ROTATION, NO_ROTATION
    for (sign, _), (X_a, X_b) in zip(sensor.shares, frames, strict=True):
        R = X_a.rotation.transposed() @ X_b.rotation
        own, other = (own @ R, other) if sign > 0.0 else (own, other @ R)
    wanted = plus(value, sensor.offset)
    if not is_zero(wanted):
        other = other @ _by_vector(wanted)
    R = other.transposed() @ own
    trace = plus(plus(plus(1.0, R.x.x), R.y.y), R.z.z)  # 4 cos²(φ/2)
    rows = [over(component, sqrt(plus(trace, 1e-12))) for component in axial(R)]
    if sensor.kind == "orientation":
        return rows
    shifts: list[Scalar] = [minus(0.0, wanted)] * 3
    for (sign, _), (X_a, X_b) in zip(sensor.shares, frames, strict=True):
        p = X_a.rotation.act_back(X_b.position - X_a.position)
        shifts = [plus(total, times(sign, x)) for total, x in zip(shifts, p, strict=True)]
    return [*rows, *shifts]


def _by_vector(component: Scalar) -> Rotation:
    """The rotation whose rotation vector has three equal components."""
    third = 3.0**-0.5
    return about(Vector3(third, third, third), times(component, 3.0**0.5))


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a joint: an entry of a tree joint's own, or measured where the joint closes a loop."""

    joint: str
    k: int
    link: int | None
    side: Side | None = None
    law: Any = None
    turns: bool = False

    @property
    def sides(self) -> tuple[Side, ...]:
        """None in the tree: there it is a force in the joint."""
        return () if self.side is None else (self.side,)

    def value(self, state: ConstraintState) -> Scalar:
        """The coordinate."""
        if self.side is None:
            return state.kinematics.coordinates[self.link][self.k]  # type: ignore[index]
        return MEASURES["joint"](*state.frames(self.side), self.law, None).values[self.k]


@dataclass(frozen=True)
class Gear(_Still):
    """q_joint − ratio · q_leader − offset."""

    joint: Coordinate
    leader: Coordinate
    ratio: Scalar
    offset: Scalar
    rows: tuple[Row, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """Of those of the two joints that close a loop."""
        return (*self.joint.sides, *self.leader.sides)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """The gap; an angle that is measured is known up to whole turns, the gap of its gear up to what they make."""
        led = plus(times(self.ratio, self.leader.value(state)), self.offset)
        gap = minus(self.joint.value(state), led)
        if self.joint.turns and self.leader.turns and isinstance(self.ratio, int | float):
            places = meshing(self.ratio) or 1  # turns of either change the gap by multiples of 2π/places
            return [over(within_half_a_turn(times(float(places), gap)), float(places))]
        if self.joint.turns:
            return [within_half_a_turn(gap)]
        if self.leader.turns and not is_zero(self.ratio):
            return [times(self.ratio, within_half_a_turn(over(gap, self.ratio)))]
        return [gap]


class Motion(Protocol):
    """A function of time."""

    def __call__(self, t: Sequence[Scalar]) -> Target: ...


def on_level(function: Target, level: int) -> Target:
    """f of a row whose function gives position, speed or acceleration."""
    shifted = (
        (function.value, function.rate, function.second),
        (0.0, function.value, function.rate),
        (0.0, 0.0, function.value),
    )
    return Target(*shifted[level])


class _Driven:
    """What a function of time moves."""

    motion: Motion
    rows: tuple[Row, ...]

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """The function."""
        return [on_level(self.motion(t), self.rows[0].level)]


@dataclass(frozen=True)
class DrivenJoint(_Driven):
    """A joint's coordinate moved by time."""

    coordinate: Coordinate
    motion: Motion
    rows: tuple[Row, ...]
    speed: bool = False
    """True if it is speed k that is moved, because no coordinate has it as its rate."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """See `Coordinate.sides`."""
        return self.coordinate.sides

    @property
    def turns(self) -> bool:
        """See `KinematicConstraint`."""
        return self.coordinate.turns

    def values(self, state: ConstraintState) -> list[Scalar]:
        """The coordinate."""
        return [self.coordinate.value(state)]


@dataclass(frozen=True)
class DrivenSensor(_Driven):
    """A component of a sensor moved by time."""

    sensor: Sensor
    k: int
    motion: Motion
    sides: tuple[Side, ...]
    rows: tuple[Row, ...]

    @property
    def turns(self) -> bool:
        """See `KinematicConstraint`."""
        return self.sensor.kind == "angle"

    def values(self, state: ConstraintState) -> list[Scalar]:
        """The component."""
        return [_plain_sum(self.sensor, self.sides, 0.0, state)[self.k]]

"""Joint coordinate in gears, drivers and clutches, of a tree joint or a cut joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.joints.kind import measure_joint_coordinates
from core.later import dataclass
from core.mechanics.elements.constraints.kinematic_constraint import (
    POSITION,
    VELOCITY,
    ConstraintState,
    KinematicConstraint,
    Rates,
    Row,
    Side,
)
from core.mechanics.elements.resolver import Resolver
from core.model import Force, Joint
from core.numerics.spatial.scalar import Scalar, negated, plus, times
from core.numerics.spatial.vector import Motion, Vector3


@dataclass(frozen=True)
class Coordinate:
    """Joint coordinate: an entry of q for a tree joint, or measured for a cut joint."""

    joint: str
    k: int
    link: int | None
    side: Side | None = None
    law: Any = None
    turns: bool = False

    @classmethod
    def read(cls, joint: Joint, k: int, machine: Resolver) -> Coordinate:
        """Return coordinate k of a joint."""
        if joint.name not in machine.machine.laws:
            return cls(joint.name, k, machine.joint_link(joint.name))
        law, a, b = machine.machine.laws[joint.name]
        turns = joint.info.wraps_around(k)
        return cls(joint.name, k, None, Side(a, b, (joint.parent, joint.child), joint.name), law, turns)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides of a cut joint; none for a tree joint, where the force acts on the coordinate itself."""
        return () if self.side is None else (self.side,)

    def value(self, state: ConstraintState) -> Scalar:
        """Return the value of the coordinate."""
        if self.side is None:
            return state.kinematics.coordinates[self.link][self.k]  # type: ignore[index]
        return measure_joint_coordinates(*state.frames(self.side), self.law, None).values[self.k]


OF_CLUTCH = -1
"""Index that marks the slip of a clutch instead of a joint's coordinate."""


@dataclass(frozen=True)
class RowCoordinate(KinematicConstraint):
    """Coordinate along which forces act although its rate is not a speed of the tree: measured in a cut joint, or Σ
    factor · coordinate of a clutch."""

    owner: str
    k: int
    """Name of the joint or clutch, and index of its coordinate (`OF_CLUTCH`)."""
    parts: tuple[tuple[Scalar, Coordinate], ...]
    rows: tuple[Row, ...]
    is_speed: bool = False
    """True for the k-th speed of a joint with a quaternion, which is not the rate of a coordinate."""

    @property
    def relative(self) -> bool:  # type: ignore[override]
        """Return True if the coordinate depends on the relative pose of its two frames only."""
        return self.k != OF_CLUTCH

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides, as `Coordinate.sides`."""
        return tuple(side for _, part in self.parts for side in part.sides)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the coordinate; for a speed its displacement by small motions of b."""
        if self.is_speed:
            side = self.sides[0]
            motion = state.shifts.get(id(side))
            return [0.0] if motion is None else [self._speed_along(ConstraintState(state.kinematics), motion)]
        total: Scalar = 0.0
        for factor, part in self.parts:
            total = plus(total, times(factor, part.value(state)))
        return [total]

    def _speed_along(self, state: ConstraintState, motion: Sequence[Scalar]) -> Scalar:
        """Return the speed that a motion [ω; v] of b relative to a produces, at b's origin in the axes of all
        frames."""
        part = self.parts[0][1]
        wrench = measure_joint_coordinates(*state.frames(self.sides[0]), part.law, None).wrenches[self.k]
        return Motion(Vector3(*motion[:3]), Vector3(*motion[3:])).dot(wrench)

    def speeds(self, state: ConstraintState, v: Sequence[Scalar], rates: Rates) -> list[Scalar] | None:
        """Return the speed of a joint with a quaternion; None for coordinates."""
        if not self.is_speed:
            return None
        X_a, X_b = state.frames(self.sides[0])
        X_ab = X_a.inverse() @ X_b
        R = X_ab.rotation
        flat = rates([entry for row in (*R, X_ab.position) for entry in row])
        slopes = [Vector3(*flat[i : i + 3]) for i in (0, 3, 6)]
        turning = Vector3(slopes[2].dot(R[1]), slopes[0].dot(R[2]), slopes[1].dot(R[0]))  # Ṙ Rᵀ = ω ×
        wrench = self.parts[0][1].law.measure(X_ab).wrenches[self.k]
        return [Motion(turning, Vector3(*flat[9:])).dot(wrench)]


def find_row_coordinates(machine: Resolver) -> tuple[RowCoordinate, ...]:
    """Return the coordinates of all cut joints (speeds where joints have a quaternion), then those of clutches."""
    cuts = (machine.machine.find_joint(name) for name in machine.machine.laws)
    of_joints = (row for joint in cuts for row in _coordinates_of_joint(joint, machine))
    clutches = (build_slip_coordinate(force, machine) for force in machine.model.forces if force.is_clutch)
    return (*of_joints, *clutches)


def _coordinates_of_joint(joint: Joint, machine: Resolver) -> Iterator[RowCoordinate]:
    by_speeds = joint.info.nq != joint.info.nv
    for k, word in enumerate(joint.info.speeds if by_speeds else joint.info.coordinates):
        row = Row("joints", joint.name, word, VELOCITY if by_speeds else POSITION)
        yield RowCoordinate(joint.name, k, ((1.0, Coordinate.read(joint, k, machine)),), (row,), by_speeds)


def build_slip_coordinate(force: Force, machine: Resolver) -> RowCoordinate:
    """Return the slip q_joint − ratio · q_leader of a clutch."""
    joint, leader = (
        Coordinate.read(machine.machine.find_joint(name), 0, machine) for name in (force.joint, force.leader)
    )
    ratio = machine.numbers.scalar(force.ratio, f"force '{force.name}', ratio")
    return RowCoordinate(
        force.name, OF_CLUTCH, ((1.0, joint), (negated(ratio), leader)), (Row("forces", force.name, ""),)
    )

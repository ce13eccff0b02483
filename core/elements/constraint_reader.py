"""From the document's loops, constraints and drivers to what holds in a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import as_symbol
from core.elements.constraint_kinds import (
    POSITION,
    Coordinate,
    CutJoint,
    DrivenJoint,
    DrivenSensor,
    Gear,
    KinematicConstraint,
    Motion,
    Rod,
    Row,
    SensorConstraint,
    Side,
    Target,
)
from core.elements.element_reader import Elements
from core.elements.mode_variables import MODE_NAME, ModeVariables
from core.elements.sensors import Sensor
from core.elements.time_argument import Clock
from core.errors import ModelError
from core.model import WORLD, Constraint, Driver, Joint
from core.model.constraints import MOTIONS
from core.model.formula.expression import evaluate, parse
from core.spatial.scalar import is_zero


class ConstraintReader:
    """Everything that holds, on the machine of `elements`: cut joints first, then constraints and drivers."""

    def __init__(self, elements: Elements, clock: Clock) -> None:
        self.elements, self.clock = elements, clock
        self.model, self.machine, self.numbers = elements.model, elements.machine, elements.numbers
        self.table: tuple[KinematicConstraint, ...] = (
            *map(self._cut, self.machine.laws),
            *map(self._constraint, self.model.constraints),
            *map(self._driver, self.model.drivers),
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(row for constraint in self.table for row in constraint.rows)

    def sides(self) -> Iterator[tuple[KinematicConstraint, Side, slice]]:
        """(constraint, side, its rows) of all sides that exert wrenches."""
        start = 0
        for constraint in self.table:
            rows = slice(start, start + len(constraint.rows))
            start = rows.stop
            for side in constraint.sides:
                yield constraint, side, rows

    # ------------------------------------------------------------------------------------------- joints

    def _cut(self, name: str) -> KinematicConstraint:
        law, a, b = self.machine.laws[name]
        joint = self.machine.member(name)
        count = joint.info.constraints
        rows = tuple(Row("joints", name, str(k + 1)) for k in range(count))
        return CutJoint(law, Side(a, b, (joint.parent, joint.child), name), rows)

    def _coordinate(self, joint: Joint, k: int) -> Coordinate:
        if joint.name not in self.machine.laws:
            return Coordinate(joint.name, k, self.elements.joint_link(joint.name))
        law, a, b = self.machine.laws[joint.name]
        side = Side(a, b, (joint.parent, joint.child), joint.name)
        return Coordinate(joint.name, k, None, side, law, joint.info.is_wound(k))

    # -------------------------------------------------------------------------------------- constraints

    def _constraint(self, constraint: Constraint) -> KinematicConstraint:
        name, where = constraint.name, f"constraint '{constraint.name}'"
        if constraint.kind == "hold":
            return self._hold(constraint, where)
        if constraint.kind == "gear":
            return self._gear(constraint, where)
        length = self.numbers.scalar(constraint.length, f"{where}, length")
        return Rod(self._side(constraint.a, constraint.b), length, (Row("constraints", name, ""),))

    def _hold(self, constraint: Constraint, where: str) -> KinematicConstraint:
        sensor = self._geometric(constraint.sensor, f"{where}, sensor")
        value = self.numbers.scalar(constraint.value, f"{where}, value")
        if (
            sensor.kind in ("distance", "square_distance")
            and len(sensor.shares) == 1
            and (is_zero(value) and is_zero(sensor.offset))
        ):
            raise ModelError(
                "A distance of zero has no direction in which to hold it.",
                where=f"{where}, value",
                remedy="Hold a position sensor instead.",
            )
        components = self.model.find("sensors", constraint.sensor).info.components
        rows = tuple(Row("constraints", constraint.name, suffix) for suffix in components)
        return SensorConstraint(sensor, value, self._sides_of(constraint.sensor), rows)

    def _gear(self, constraint: Constraint, where: str) -> KinematicConstraint:
        joints = []
        for field in ("joint", "leader"):
            joint = self.machine.member(getattr(constraint, field))
            if joint.info.nq != 1:
                raise ModelError(
                    f"'{joint.name}' has {joint.info.nq} coordinates, not one.",
                    where=f"{where}, {field}",
                    remedy="Couple joints with one coordinate.",
                )
            joints.append(self._coordinate(joint, 0))
        ratio, offset = (
            self.numbers.scalar(getattr(constraint, field), f"{where}, {field}") for field in ("ratio", "offset")
        )
        return Gear(joints[0], joints[1], ratio, offset, (Row("constraints", constraint.name, ""),))

    def _side(self, a: str, b: str) -> Side:
        # places of their own: each side can be displaced by itself
        return Side(self.elements.place(a), self.elements.place(b), (a or WORLD, b or WORLD))

    def _geometric(self, name: str, where: str) -> Sensor:
        info = self.model.find("sensors", name).info
        if not info.geometric:
            raise ModelError(
                f"'{name}' does not measure a position or orientation, so it cannot be prescribed.",
                where=where,
                remedy="Prescribe a distance, angle, position, orientation or pose.",
            )
        return self.elements.sensors[name]

    def _sides_of(self, name: str) -> tuple[Side, ...]:
        table = {sensor.name: sensor for sensor in self.model.sensors}
        sides = []
        for _ in self.elements.sensors[name].shares:
            sides.append(self._side(table[name].a, table[name].b))
            name = table[name].minus
        return tuple(sides)

    # ------------------------------------------------------------------------------------------ drivers

    def _driver(self, driver: Driver) -> KinematicConstraint:
        where, level = f"driver '{driver.name}'", MOTIONS.index(driver.motion)
        motion = self._motion(driver, where)
        if driver.sensor:
            sensor = self._geometric(driver.sensor, f"{where}, sensor")
            words = self.model.find("sensors", driver.sensor).info.components
            k = _component(words, driver.coordinate, driver.sensor, where)
            return DrivenSensor(
                sensor, k, motion, self._sides_of(driver.sensor), (Row("drivers", driver.name, words[k], level),)
            )
        joint = self.machine.member(driver.joint)
        words = joint.info.coordinates
        if joint.info.nq > joint.info.nv and driver.coordinate in joint.info.speeds:
            if level == POSITION:
                raise ModelError(
                    f"'{driver.coordinate}' is a speed of '{joint.name}', not a coordinate.",
                    where=f"{where}, motion",
                    remedy="Let the driver give the velocity.",
                )
            k, link = joint.info.speeds.index(driver.coordinate), self.elements.joint_link(joint.name)
            if link is None:
                raise ModelError(
                    f"'{joint.name}' closes a loop, so it has no speeds of its own.",
                    where=f"{where}, joint",
                    remedy="Cut the loop at another joint.",
                )
            coordinate = Coordinate(joint.name, k, link)
            return DrivenJoint(coordinate, motion, (Row("drivers", driver.name, driver.coordinate, level),), speed=True)
        words = tuple(word for word in words if word not in ("qx", "qy", "qz", "qw"))
        if not words:
            remedy = "Drive an orientation sensor" + (", or a speed." if joint.info.nv else ".")
            raise ModelError(
                f"'{joint.name}' has no coordinate that can be driven.", where=f"{where}, joint", remedy=remedy
            )
        k = _component(words, driver.coordinate, joint.name, where)
        row = Row("drivers", driver.name, words[k], level)
        return DrivenJoint(self._coordinate(joint, k), motion, (row,))

    def _motion(self, driver: Driver, where: str) -> Motion:
        if driver.function is None:
            return _Recorded(self.clock.index(driver.name))
        if not isinstance(driver.function, str):
            return _Constant(float(driver.function))
        return _Formula(driver.function, dict(self.numbers.values), f"{where}, function", self.elements.mode_variables)


def _component(words: Sequence[str], wanted: str, owner: str, where: str) -> int:
    if len(words) == 1 and wanted in ("", words[0]):
        return 0
    if wanted in words:
        return list(words).index(wanted)
    raise ModelError(
        f"It is not said which coordinate of '{owner}' is moved.",
        where=f"{where}, coordinate",
        remedy=f"Name one of {', '.join(words)}.",
    )


class _Constant:
    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, t: Sequence[Any]) -> Target:
        return Target(self.value)


class _Recorded:
    def __init__(self, index: int) -> None:
        self.index = index

    def __call__(self, t: Sequence[Any]) -> Target:
        return Target(*t[self.index : self.index + 3])


class _Formula:
    """Differentiated exactly, by the graph."""

    def __init__(self, text: str, values: dict[str, Any], where: str, mode_variables: ModeVariables) -> None:
        self.node, self.values, self.where = mode_variables.with_modes(parse(text)), values, where
        self.modes = len(mode_variables.numbers)

    def __call__(self, t: Sequence[Any]) -> Target:
        time = as_symbol(t[0])
        last = t[-self.modes :] if len(t) > self.modes > 0 else [0.0] * self.modes
        held = {f"{MODE_NAME}{k}": each for k, each in enumerate(last)}
        try:
            value = as_symbol(evaluate(self.node, {**self.values, **held, "t": time, "time": time}))
        except Exception as error:
            if isinstance(error, ModelError) or not hasattr(error, "at"):
                raise
            raise error.at(where=self.where) from None
        rate = ca.jacobian(value, time)
        return Target(value, ca.densify(rate), ca.densify(ca.jacobian(rate, time)))

"""From the document's sensors and force elements to those of mechanics, over the scalars of a machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from core.elements.added_inertia import AddedInertia
from core.elements.force_element import End, ForceElement, Law
from core.elements.force_kinds import CutJointForce, JointForce, LineForce, MeasureForce, SeriesForce, WrenchForce
from core.elements.formulas import LocatedFormula, formula_of
from core.elements.line_masses import LineMass
from core.elements.mode_variables import ModeVariables
from core.elements.rotors import Rotor
from core.elements.sensors import RelativeMeasure, Sensor, Share, measurement
from core.elements.turn_counters import formulas_of_forces, turn_counters
from core.errors import ModelError, near_misses
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place
from core.model import WORLD, Force, Joint, Model
from core.model import Sensor as DocumentSensor
from core.model.formula.expression import names, parse
from core.model.signals import component
from core.multibody.number_reader import Numbers
from core.multibody.tree_of_model import Machine
from core.spatial.rotation import normalised
from core.spatial.scalar import is_zero
from core.spatial.vector import Vector3

Value = Any
Reader = Callable[[KinematicState], Any]
"""Takes a coordinate or speed from an instant."""


class Elements:
    """Sensors and forces of a model on one of its machines (links merged, or every body a link of its own)."""

    def __init__(self, model: Model, machine: Machine, numbers: Numbers) -> None:
        self.model, self.machine, self.numbers = model, machine, numbers
        self.junctions = {junction.name: 3 * k for k, junction in enumerate(model.junctions)}
        series = [force.name for force in model.forces if force.kind == "series"]
        first = 3 * len(self.junctions)
        self.states = {name: first + k for k, name in enumerate(series)}
        """Where the state of a series element is in x."""
        self.turn_counters = {
            each.name: (first + len(series) + k, each) for k, each in enumerate(turn_counters(model, machine))
        }
        """Angles that count turns, by name: where the state of each is in x."""
        self.x_names = (
            *(f"{name}.{axis}" for name in self.junctions for axis in "xyz"),
            *(f"{name}.stretch" for name in series),
            *(f"{name}.turned" for name in self.turn_counters),
        )

    # ----------------------------------------------------------------------------------------------- places

    def place(self, name: str) -> Place:
        """Where a body or frame is; empty: world."""
        return self.machine.frames[name or WORLD]

    def end(self, name: str) -> End:
        """A frame, or a junction."""
        return self.junctions[name] if name in self.junctions else self.place(name)

    def joint_link(self, name: str) -> int | None:
        """The link behind a joint of the tree."""
        return self.machine.carried.get(name)

    # ---------------------------------------------------------------------------------------------- sensors

    @cached_property
    def sensors(self) -> dict[str, Sensor]:
        """All sensors that measure motion."""
        return {s.name: self._sensor(s) for s in self.model.sensors if "b" in s.info.uses}

    def _sensor(self, sensor: DocumentSensor) -> Sensor:
        where, count = f"sensor '{sensor.name}'", len(sensor.info.components)
        if not sensor.info.geometric:
            return Sensor(
                sensor.name,
                sensor.kind,
                (),
                0.0,
                self.place(sensor.a),
                self.place(sensor.b),
                self.place(sensor.resolve),
                count,
            )
        shares, offset, sign, seen = [], 0.0, 1.0, [sensor.name]
        current: DocumentSensor | None = sensor
        table = {s.name: s for s in self.model.sensors}
        while current is not None:
            shares.append(Share(sign, self._measure(current)))
            offset = offset + sign * self.numbers.scalar(current.offset, f"{where}, offset")
            sign, previous = -sign, current
            current = table.get(current.minus) if current.minus else None
            if current is not None and current.kind != previous.kind:
                raise ModelError(
                    f"'{previous.name}' and '{current.name}' measure different things.",
                    where=f"sensor '{previous.name}', minus",
                    remedy="Subtract one of the same kind.",
                )
            if current is not None and current.name in seen:
                raise ModelError(
                    "The sensors are subtracted from each other in a circle.",
                    where=f"{where}, minus",
                    remedy="Let one of them stand alone.",
                )
            seen += [current.name] if current is not None else []
        return Sensor(sensor.name, sensor.kind, tuple(shares), offset, count=count)

    def _measure(self, sensor: DocumentSensor) -> RelativeMeasure:
        where = f"sensor '{sensor.name}'"
        axes = [
            normalised(self.numbers.vector(getattr(sensor, field), f"{where}, {field}"))
            if field in sensor.info.uses
            else Vector3(0.0, 0.0, 1.0)
            for field in ("axis", "axis_b")
        ]
        return RelativeMeasure(sensor.kind, self.place(sensor.a), self.place(sensor.b), *axes)

    def sensor_named(self, name: str) -> tuple[str | None, int, bool]:
        """(sensor, component, whether its rate) that a signal's name means; sensor None if it means none."""
        return self._sensor_signals.get(name, (None, 0, False))

    @cached_property
    def _sensor_signals(self) -> dict[str, tuple[str | None, int, bool]]:
        found: dict[str, tuple[str | None, int, bool]] = {}
        for sensor in self.model.sensors:
            for k, suffix in enumerate(sensor.info.components):
                value = component(sensor.name, suffix)
                found[value] = sensor.name, k, False
                found[f"{value}.rate"] = sensor.name, k, True
        return found

    # ------------------------------------------------------------------------------------------ coordinates

    @cached_property
    def coordinates(self) -> dict[str, Reader]:
        """Coordinates and speeds of all joints by name, those that close a loop measured."""
        found: dict[str, Reader] = {}
        for joint in self.machine.members:
            link, law = self.joint_link(joint.name), self.machine.laws.get(joint.name)
            for k, suffix in enumerate(joint.info.coordinates):
                reader = _measured_value(self.measure_of_joint(joint.name), k) if law else _own_coordinate(link, k)
                name = component(joint.name, suffix)
                found[name] = found[f"{name}.q"] = reader
            for k, suffix in enumerate(joint.info.speeds):
                reader = _measured_rate(self.measure_of_joint(joint.name), k) if law else _own_speed(link, k)
                found[f"{component(joint.name, suffix)}.v"] = reader
        return found

    def measure_of_joint(self, name: str) -> RelativeMeasure:
        """The measure of a joint that closes a loop."""
        law, a, b = self.machine.laws[name]
        return RelativeMeasure("joint", a, b, law)

    def coordinate_index(self, joint: Joint, coordinate: str, where: str) -> int:
        """Which speed of a joint a `coordinate` field means. Raises ModelError."""
        words = [word for word in joint.info.speeds if word] or [""]
        names = dict.fromkeys(joint.info.coordinates)
        if joint.info.nv == 0:
            raise ModelError(f"'{joint.name}' is fixed.", where=where, remedy="Name a joint that moves.")
        if joint.info.nv == 1 and coordinate in ("", *names, joint.name):
            return 0
        if coordinate in joint.info.speeds:
            return joint.info.speeds.index(coordinate)
        if joint.info.nq == joint.info.nv and coordinate in names:
            return list(names).index(coordinate)
        remedy = f"Name one of {', '.join(words)}." if not coordinate else near_misses(coordinate, words)
        raise ModelError(f"It is not said which coordinate of '{joint.name}' is meant.", where=where, remedy=remedy)

    # ----------------------------------------------------------------------------------------------- forces

    @cached_property
    def forces(self) -> tuple[ForceElement, ...]:
        """All force elements of the document, then the passive forces of joints that close a loop."""
        return (*map(self._force, self.model.forces), *self._passive())

    @cached_property
    def line_masses(self) -> tuple[LineMass, ...]:
        """Point masses on the lines of forces."""
        return tuple(
            self._line_mass(force, k)
            for force in self.model.forces
            if force.kind == "line"
            for k in range(len(force.masses))
        )

    @cached_property
    def rotors(self) -> tuple[Rotor, ...]:
        """Rotor inertias of joints that close a loop."""
        found: list[Rotor] = []
        for name, (law, _, _) in self.machine.laws.items():
            J = self.numbers.scalar(self.machine.member(name).armature, f"joint '{name}', armature")
            if law.nv and not is_zero(J):
                found.append(Rotor(name, self.measure_of_joint(name), J))
        return tuple(found)

    @property
    def added_inertia(self) -> tuple[AddedInertia, ...]:
        """What has inertia beside the links."""
        return (*self.line_masses, *self.rotors)

    def _line_mass(self, force: Force, k: int) -> LineMass:
        part, where = force.masses[k], f"force '{force.name}', masses[{k}]"
        a, b = self.end(force.a), self.end(force.b)
        if isinstance(a, int) or isinstance(b, int):
            raise ModelError(
                "A line with a mass cannot end at a junction, which has none.",
                where=where,
                remedy="Put a body with a mass in place of the junction.",
            )
        mass, place = (self.numbers.scalar(value, where) for value in (part.mass, part.place))
        return LineMass(force.name, a, b, mass, part.at, place)

    @property
    def named_forces(self) -> tuple[ForceElement, ...]:
        """Those of the document."""
        return self.forces[: len(self.model.forces)]

    def forces_in(self, joint: str) -> list[ForceElement]:
        """Elements that act in a cut joint: its own passive forces, and those of the document along its coordinates."""
        named = (
            element
            for force, element in zip(self.model.forces, self.forces, strict=False)
            if force.kind == "joint" and force.joint == joint
        )
        return [*named, *(element for element in self.forces[len(self.model.forces) :] if element.name == joint)]

    def _force(self, force: Force) -> ForceElement:
        where = f"force '{force.name}'"
        if force.kind == "wrench":
            vectors = [
                tuple(self.term(x, f"{where}, {field}") for x in getattr(force, field)) for field in ("force", "torque")
            ]
            return WrenchForce(force.name, self.end(force.a), self.end(force.b), self.place(force.resolve), *vectors)
        law = self._law(force, where)
        if force.kind == "line":
            return LineForce(force.name, self.end(force.a), self.end(force.b), law)
        if force.kind == "series":
            return self._series(force, law, where)
        if force.kind == "sensor":
            return self._along_sensor(force, law, where)
        return self._in_joint(force, law, where)

    def _state(self, angle: str) -> int | None:
        """Where the state of an angle that counts turns is in x."""
        return self.turn_counters[angle][0] if angle in self.turn_counters else None

    def term(self, value: Value, where: str, force: str = "") -> Any:
        """A number, or a formula of signals; force : whose law it is."""
        if not isinstance(value, str):
            return float(value)
        node = parse(value)
        if names(node) <= set(self.numbers.values):
            return self.numbers.scalar(value, where)
        return LocatedFormula(formula_of(self.mode_variables.with_modes(node, force)), where)

    @cached_property
    def mode_variables(self) -> ModeVariables:
        """Of the formulas of forces and drivers."""
        texts = [driver.function for driver in self.model.drivers if isinstance(driver.function, str)]
        laws = {force.name: parse(force.law) for force in self.model.forces if isinstance(force.law, str)}
        return ModeVariables(map(parse, [*formulas_of_forces(self.model), *texts]), self.numbers.values, laws)

    def _law(self, force: Force, where: str) -> Law:
        numbers = [
            self.numbers.scalar(getattr(force, field), f"{where}, {field}")
            for field in ("stiffness", "rest", "damping")
        ]
        further = 0.0 if force.law is None else self.term(force.law, f"{where}, law", force.name)
        return Law(numbers[0], numbers[1], numbers[2], further)

    def _series(self, force: Force, law: Law, where: str) -> ForceElement:
        for field in ("stiffness", "damping"):
            if is_zero(getattr(law, field)):
                raise ModelError(
                    "A spring and a damper in series need both.",
                    where=f"{where}, {field}",
                    remedy="Give a positive rate, or use a line force.",
                )
        return SeriesForce(force.name, self.end(force.a), self.end(force.b), law, self.states[force.name])

    def _along_sensor(self, force: Force, law: Law, where: str) -> ForceElement:
        sensor = self.model.find("sensors", force.sensor)
        if not sensor.info.geometric or len(sensor.info.components) != 1:
            raise ModelError(
                f"The sensor '{sensor.name}' is no single measure of position.",
                where=f"{where}, sensor",
                remedy="Name a distance, an angle or a distance from a plane.",
            )
        found = self.sensors[sensor.name]
        return MeasureForce(force.name, found.shares, found.offset, law, 0, self._state(sensor.name))

    def _in_joint(self, force: Force, law: Law, where: str) -> ForceElement:
        joint = self.machine.member(force.joint)
        if force.coordinate in joint.info.position:
            measure = RelativeMeasure("position", *self.machine.joints[joint.name])
            return MeasureForce(
                force.name, (Share(1.0, measure),), 0.0, law, joint.info.position.index(force.coordinate)
            )
        k = self.coordinate_index(joint, force.coordinate, f"{where}, coordinate")
        return self._at_joint(force.name, joint, k, law)

    def _at_joint(self, name: str, joint: Joint, k: int, law: Law) -> ForceElement:
        if joint.name not in self.machine.laws:
            link = self.joint_link(joint.name)
            assert link is not None
            return JointForce(name, link, k, law)
        if joint.info.nq > joint.info.nv:
            return CutJointForce(name, self.measure_of_joint(joint.name), k, law, tuple(map(float, joint.info.neutral)))
        share = Share(1.0, self.measure_of_joint(joint.name))
        return MeasureForce(name, (share,), 0.0, law, k, self._state(component(joint.name, joint.info.coordinates[k])))

    def _passive(self) -> list[ForceElement]:
        """Damping, friction and springs of joints that close a loop."""
        result: list[ForceElement] = []
        for name in self.machine.laws:
            joint = self.machine.member(name)
            where = f"joint '{name}'"
            stiffness, damping, friction = (
                self.numbers.scalar(getattr(joint, field), f"{where}, {field}")
                for field in ("stiffness", "damping", "friction")
            )
            if all(is_zero(x) for x in (stiffness, damping, friction)):
                continue
            rest = tuple(self.numbers.scalar(x, f"{where}, rest") for x in joint.rest or joint.info.neutral)
            for k in range(joint.info.nv):
                if joint.info.nq == joint.info.nv:
                    result.append(self._at_joint(name, joint, k, Law(stiffness, rest[k], damping, 0.0, friction)))
                else:
                    law = Law(stiffness, 0.0, damping, 0.0, friction)
                    result.append(CutJointForce(name, self.measure_of_joint(name), k, law, rest))
        return result


def _own_coordinate(link: int | None, k: int) -> Reader:
    return lambda kinematics: kinematics.coordinates[link][k]  # type: ignore[index]


def _own_speed(link: int | None, k: int) -> Reader:
    return lambda kinematics: kinematics.speeds[link][k]  # type: ignore[index]


def _measured_value(measure: RelativeMeasure, k: int) -> Reader:
    return lambda kinematics: measurement(measure, kinematics)[0].values[k]


def _measured_rate(measure: RelativeMeasure, k: int) -> Reader:
    def read(kinematics: KinematicState) -> Any:
        measured, motion = measurement(measure, kinematics)
        return kinematics.run(_power, measured.wrenches[k], motion)

    return read


def _power(wrench: Any, motion: Any) -> Any:
    return motion.dot(wrench)

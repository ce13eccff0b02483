"""Resolution of the document's names and values on a machine: frames, sensors, coordinates, states, formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import ExpressionError, ModelError, suggest_names
from core.joints.kind import measure_joint_coordinates
from core.mechanics.dry_friction import DryFriction, friction_of, is_controlled, owner_name
from core.mechanics.elements.force_state import End
from core.mechanics.elements.mode_variables import ModeVariables
from core.mechanics.elements.sensors import RelativeMeasure, Sensor, SignedMeasure, evaluate_measure
from core.mechanics.elements.time_argument import followed_coordinates, recorded_drivers
from core.mechanics.elements.turn_counters import TurnCounter, force_formulas
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.tree_of_model import Machine
from core.mechanics.tree import LinkFrame
from core.model import WORLD, Force, Joint, Model
from core.model import Sensor as DocumentSensor
from core.model.formula.expression import Node, evaluate, names_in_formula, parse
from core.model.signal_laws import Recursion
from core.model.signals import component_name
from core.numerics.spatial.rotation import unit_vector
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3


class Formula(NamedTuple):
    """Formula as a step, evaluated from the values of its names."""

    node: Node
    names: tuple[str, ...]

    def __call__(self, values: tuple[Scalar, ...]) -> Scalar:
        """Evaluate the formula."""
        result = evaluate(self.node, dict(zip(self.names, values, strict=True)))
        return float(result) if isinstance(result, int | float) else result


def build_formula(node: Node) -> Formula:
    """Convert the syntax tree of a formula to a step of a recursion."""
    return Formula(node, tuple(sorted(names_in_formula(node))))


class LocatedFormula:
    """Formula whose errors name its place in the document."""

    def __init__(self, formula: Formula, where: str) -> None:
        self.formula, self.where, self.names = formula, where, formula.names

    def __call__(self, values: tuple[Any, ...]) -> Any:
        try:
            return self.formula(values)
        except ExpressionError as error:
            raise error.at(where=self.where) from None

    def __hash__(self) -> int:
        return hash(self.formula)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocatedFormula) and self.formula == other.formula


Value = Any
Reader = Callable[[KinematicState], Any]
"""Function that returns a coordinate or speed of a kinematic state."""


class Resolver:
    """Names of a model resolved on one of its machines (bodies merged into links, or each body a link of its own).

    states, turn_counters, signal_states : where in x the states of force elements begin, and angles that count turns
    and states of signals are, by name
    """

    def __init__(
        self,
        model: Model,
        machine: Machine,
        numbers: Numbers,
        states: Mapping[str, int],
        turn_counters: Mapping[str, tuple[int, TurnCounter]],
        signal_states: Mapping[str, int],
    ) -> None:
        self.model, self.machine, self.numbers = model, machine, numbers
        self.states, self.turn_counters, self.signal_states = states, turn_counters, signal_states
        self.junctions = {junction.name: 3 * k for k, junction in enumerate(model.junctions)}

    # ----------------------------------------------------------------------------------------------- places

    def link_frame(self, name: str) -> LinkFrame:
        """Return the frame of a body or frame by its name, on the link that carries it; an empty name is the world."""
        return self.machine.frames[name or WORLD]

    def end(self, name: str) -> End:
        """Return the end of a force: a frame, or a junction."""
        return self.junctions[name] if name in self.junctions else self.link_frame(name)

    def joint_link(self, name: str) -> int | None:
        """Return the link that a tree joint moves; None for other joints."""
        return self.machine.carried.get(name)

    def single_coordinate_joint(self, joint: str, where: str) -> Joint:
        """Return a joint that must have one coordinate. Raises ModelError for others."""
        found = self.machine.find_joint(joint)
        if found.info.nq != 1:
            raise ModelError(
                f"'{joint}' has {found.info.nq} coordinates, not one.",
                where=where,
                remedy="Choose a joint with one coordinate.",
            )
        return found

    # ---------------------------------------------------------------------------------------------- sensors

    @cached_property
    def sensors(self) -> dict[str, Sensor]:
        """Return all sensors that measure motion."""
        return {s.name: self._sensor_from_document(s) for s in self.model.sensors if s.info.is_between_frames}

    def _sensor_from_document(self, sensor: DocumentSensor) -> Sensor:
        where = f"sensor '{sensor.name}'"
        if not sensor.info.is_geometric:
            a, b, resolve = map(self.link_frame, (sensor.a, sensor.b, sensor.resolve))
            return Sensor(sensor.name, sensor.info, a=a, b=b, resolve=resolve)
        shares, offset, sign, seen = [], 0.0, 1.0, [sensor.name]
        current: DocumentSensor | None = sensor
        table = {s.name: s for s in self.model.sensors}
        while current is not None:
            shares.append(SignedMeasure(sign, self._relative_measure(current)))
            offset = offset + sign * self.numbers.scalar(current.offset, f"{where}, offset")
            sign, previous = -sign, current
            current = table.get(current.minus) if current.minus else None
            if current is not None and current.kind != previous.kind:
                raise ModelError(
                    f"Sensors '{previous.name}' and '{current.name}' measure different quantities.",
                    where=f"sensor '{previous.name}', minus",
                    remedy="Subtract a sensor of the same kind.",
                )
            if current is not None and current.name in seen:
                raise ModelError(
                    "The sensors are subtracted from each other in a cycle.",
                    where=f"{where}, minus",
                    remedy="Remove 'minus' from one of the sensors.",
                )
            seen += [current.name] if current is not None else []
        return Sensor(sensor.name, sensor.info, tuple(shares), offset)

    def _relative_measure(self, sensor: DocumentSensor) -> RelativeMeasure:
        where = f"sensor '{sensor.name}'"
        axes = [
            unit_vector(self.numbers.vector(getattr(sensor, field), f"{where}, {field}"))
            if field in sensor.info.uses
            else Vector3(0.0, 0.0, 1.0)
            for field in ("axis", "axis_b")
        ]
        if sensor.info.measure is None:
            raise ModelError(f"A sensor of kind {sensor.kind} does not measure a pose.", where=where)
        return RelativeMeasure(sensor.info.measure, self.link_frame(sensor.a), self.link_frame(sensor.b), *axes)

    def find_sensor_signal(self, name: str) -> tuple[str | None, int, bool]:
        """Return (sensor, component, True for its rate) of a signal's name; sensor None if the name is not a
        sensor's."""
        return self._sensor_signals.get(name, (None, 0, False))

    @cached_property
    def _sensor_signals(self) -> dict[str, tuple[str | None, int, bool]]:
        found: dict[str, tuple[str | None, int, bool]] = {}
        for sensor in self.model.sensors:
            for k, suffix in enumerate(sensor.info.components):
                value = component_name(sensor.name, suffix)
                found[value] = sensor.name, k, False
                found[f"{value}.rate"] = sensor.name, k, True
        return found

    # ------------------------------------------------------------------------------------------ coordinates

    @cached_property
    def coordinates(self) -> dict[str, Reader]:
        """Return the coordinates and speeds of all joints by name; those of cut joints are measured."""
        found: dict[str, Reader] = {}
        for joint in self.machine.members:
            link, law = self.joint_link(joint.name), self.machine.laws.get(joint.name)
            for k, suffix in enumerate(joint.info.coordinates):
                reader = (
                    _measured_value_reader(self.measure_of_joint(joint.name), k) if law else _coordinate_reader(link, k)
                )
                name = component_name(joint.name, suffix)
                found[name] = found[f"{name}.q"] = reader
            for k, suffix in enumerate(joint.info.speeds):
                reader = _measured_rate_reader(self.measure_of_joint(joint.name), k) if law else _speed_reader(link, k)
                found[f"{component_name(joint.name, suffix)}.v"] = reader
        return found

    def measure_of_joint(self, name: str) -> RelativeMeasure:
        """Return the relative measure of a cut joint."""
        law, a, b = self.machine.laws[name]
        return RelativeMeasure(measure_joint_coordinates, a, b, law)

    def coordinate_index(self, joint: Joint, coordinate: str, where: str) -> int:
        """Return the index of the joint's speed that a `coordinate` field names. Raises ModelError."""
        words = [word for word in joint.info.speeds if word] or [""]
        names = dict.fromkeys(joint.info.coordinates)
        if joint.info.nv == 0:
            raise ModelError(
                f"Joint '{joint.name}' is fixed, so it has no coordinate.",
                where=where,
                remedy="Choose a joint that moves.",
            )
        if joint.info.nv == 1 and coordinate in ("", *names, joint.name):
            return 0
        if coordinate in joint.info.speeds:
            return joint.info.speeds.index(coordinate)
        if joint.info.nq == joint.info.nv and coordinate in names:
            return list(names).index(coordinate)
        remedy = f"Choose one of {', '.join(words)}." if not coordinate else suggest_names(coordinate, words)
        raise ModelError(f"The coordinate of '{joint.name}' is not specified.", where=where, remedy=remedy)

    # --------------------------------------------------------------------------------- formulas and states

    def turn_counter_index(self, angle: str) -> int | None:
        """Return the index in x of an angle that counts turns; None for other angles."""
        return self.turn_counters[angle][0] if angle in self.turn_counters else None

    def read_term(self, value: Value, where: str, force: str = "") -> Any:
        """Return a number, or a formula of signals; force : name of the force whose law it is."""
        if not isinstance(value, str):
            return float(value)
        node = parse(value)
        if names_in_formula(node) <= set(self.numbers.values):
            return self.numbers.scalar(value, where)
        return LocatedFormula(build_formula(self.mode_variables.with_mode_variables(node, force)), where)

    def friction(self, element: Joint | Force) -> DryFriction:
        """Return the dry friction of a joint or a clutch; its levels may be formulas."""
        return friction_of(element, self.read_term, owner_name(element))

    def is_controlled(self, element: Joint | Force) -> bool:
        """Return True if the friction is a formula of time or state, as in a brake or an actuated clutch."""
        return is_controlled(element, self.numbers.values)

    @cached_property
    def mode_variables(self) -> ModeVariables:
        """Return the mode variables of the formulas of forces and drivers."""
        texts = [driver.function for driver in self.model.drivers if isinstance(driver.function, str)]
        laws = {force.name: parse(force.law) for force in self.model.forces if isinstance(force.law, str)}
        nodes = [*map(parse, [*force_formulas(self.model), *texts]), *(n for _, n in self.model.signal_table.nodes)]
        return ModeVariables(nodes, self.numbers.values, laws)

    @cached_property
    def signal_values(self) -> dict[str, LocatedFormula | Recursion]:
        """Return the formulas of the values of signals by name."""
        table = self.model.signal_table
        return {
            name: value if isinstance(value, Recursion) else self._signal_formula(name, value)
            for name, value in table.values.items()
        }

    @cached_property
    def signal_rates(self) -> dict[str, LocatedFormula]:
        """Return the formulas of the rates of states of signals."""
        return {name: self._signal_formula(name, law.rate) for name, law in self.model.signal_table.states.items()}

    @cached_property
    def signal_starts(self) -> dict[str, LocatedFormula]:
        """Return the formulas of the states of signals at the start."""
        return {name: self._signal_formula(name, law.start) for name, law in self.model.signal_table.states.items()}

    @cached_property
    def signal_updates(self) -> dict[str, LocatedFormula]:
        """Return the formulas of the states of sampled signals at samples."""
        return {name: self._signal_formula(name, node) for name, node in self.model.signal_table.updates.items()}

    def _signal_formula(self, name: str, node: Node) -> LocatedFormula:
        owner = self.model.signal_table.owner[name].name
        return LocatedFormula(build_formula(self.mode_variables.with_mode_variables(node)), f"signal '{owner}'")

    @cached_property
    def motion_columns(self) -> dict[str, int]:
        """Return where in the time argument the coordinates of motions are, by name (`pick.elbow`)."""
        first = 1 + 3 * len(recorded_drivers(self.model))
        return {name: first + 3 * k for k, name in enumerate(followed_coordinates(self.model))}

    @cached_property
    def speed_numbers(self) -> dict[str, int]:
        """Return the index in v of each coordinate of tree joints by name."""
        found: dict[str, int] = {}
        for joint in self.machine.members:
            number = self.joint_link(joint.name)
            if number is None or joint.name in self.machine.laws or self.machine.tree.links[number].coupling:
                continue
            first = self.machine.tree.links[number].first_v
            for k, suffix in enumerate(joint.info.speeds):
                found[component_name(joint.name, suffix)] = first + k
        return found


def _coordinate_reader(link: int | None, k: int) -> Reader:
    return lambda kinematics: kinematics.coordinates[link][k]  # type: ignore[index]


def _speed_reader(link: int | None, k: int) -> Reader:
    return lambda kinematics: kinematics.speeds[link][k]  # type: ignore[index]


def _measured_value_reader(measure: RelativeMeasure, k: int) -> Reader:
    return lambda kinematics: evaluate_measure(measure, kinematics)[0].values[k]


def _measured_rate_reader(measure: RelativeMeasure, k: int) -> Reader:
    def read(kinematics: KinematicState) -> Any:
        measured, motion = evaluate_measure(measure, kinematics)
        return kinematics.run(_power_of_wrench, measured.wrenches[k], motion)

    return read


def _power_of_wrench(wrench: Any, motion: Any) -> Any:
    return motion.dot(wrench)

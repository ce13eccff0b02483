"""Values of the names in formulas of time and state (`core.model.signals`), as symbolic scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ExpressionError
from core.mechanics.elements import signal_recursions
from core.mechanics.elements.element_reader import MachineElements
from core.mechanics.elements.force_state import Formula
from core.mechanics.elements.mode_variables import MODE_NAME
from core.mechanics.elements.sensors import evaluate_measure, values_and_rates
from core.mechanics.kinematic_state import KinematicState
from core.model.signal_laws import ImpedanceForce, InverseDynamics, Recursion
from core.model.signals import TIME, is_mass_entry, mass_entry_indices
from core.numerics.spatial.relative_measures import measure_rate
from core.numerics.spatial.rotation import unwrap_near
from core.numerics.spatial.scalar import Scalar

GRAVITY = "gravity."
COORDINATE = ("q", "v", "a")
"""Suffixes of the coordinates of motions, in the order of the time argument."""


class SignalValues:
    """Values of names at a state: time, parameters, sensors and their rates, coordinates and speeds."""

    def __init__(
        self,
        elements: MachineElements,
        parameters: Mapping[str, Scalar],
        kinematics: KinematicState,
        t: Sequence[Scalar] = (0.0,),
        x: Sequence[Scalar] = (),
    ) -> None:
        """Set the state. x : states of force elements; without them measured angles lie within half a turn."""
        self.elements, self.parameters, self.kinematics, self.t, self.x = elements, parameters, kinematics, t, x
        self._known: dict[str, Scalar] = {}
        self._forces: dict[Any, Any] = {}

    def __call__(self, name: str) -> Scalar:
        """Return the value of a name. Raises ExpressionError if it is unknown when forces are computed."""
        if name not in self._known:
            self._known[name] = self._find_value(name)
        return self._known[name]

    def counted_angle(self, name: str) -> tuple[Scalar, Scalar]:
        """Return an angle that counts turns, as measured, and its rate."""
        sensor, component, _ = self.elements.find_sensor_signal(name)
        if sensor is not None:
            return self._sensor_value(sensor, component, False), self._sensor_value(sensor, component, True)
        each = self.elements.turn_counters[name][1]
        measured, motion = evaluate_measure(self.elements.measure_of_joint(each.joint), self.kinematics)
        return measured.values[each.k], self.kinematics.run(measure_rate, measured.wrenches[each.k], motion)

    def _find_value(self, name: str) -> Scalar:
        if name in TIME:
            return self.t[0]
        if name.startswith(MODE_NAME):
            first = len(self.t) - len(self.elements.mode_variables.numbers)
            return self.t[first + int(name.removeprefix(MODE_NAME))] if first > 0 else 0.0
        if name in self.parameters:
            return self.parameters[name]
        plain = name.removesuffix(".q")
        if plain in self.elements.turn_counters and self.x:
            state = self.x[self.elements.turn_counters[plain][0]]
            return self.kinematics.run(unwrap_near, state, self.counted_angle(plain)[0])
        sensor, component, of_rate = self.elements.find_sensor_signal(name)
        if sensor is not None:
            return self._sensor_value(sensor, component, of_rate)
        found = self.elements.coordinates.get(name)
        return self._control_value(name) if found is None else found(self.kinematics)

    def _control_value(self, name: str) -> Scalar:
        """Return a state or value of a signal, a coordinate of a motion, a gravity force, or an entry of the mass
        matrix."""
        if name in self.elements.signal_states:
            return self.x[self.elements.signal_states[name]] if self.x else 0.0
        if name in self.elements.signal_values:
            return self._signal_value(self.elements.signal_values[name])
        owner, _, what = name.rpartition(".")
        if owner in self.elements.motion_columns and what in COORDINATE:
            column = self.elements.motion_columns[owner] + COORDINATE.index(what)
            return self.t[column] if column < len(self.t) else 0.0
        if name.startswith(GRAVITY):
            return self._number_of_speed(GRAVITY, name.removeprefix(GRAVITY))
        if is_mass_entry(name):
            return self._mass_entry(name)
        raise ExpressionError(
            f"There is no quantity '{name}'.",
            remedy="Use time, parameters, joint coordinates and speeds, sensors and signals.",
        )

    def _signal_value(self, value: Formula | Recursion) -> Scalar:
        if isinstance(value, InverseDynamics):
            return self._recursion(value)
        if isinstance(value, ImpedanceForce):
            return self._number_of_speed(value._replace(component=""), value.component)
        return self.kinematics.run(value, tuple(map(self, value.names)))

    def _number_of_speed(self, key: Any, component: str) -> Scalar:
        """Return the entry for a coordinate of forces (nv,) that are computed once."""
        if key not in self._forces:
            if key == GRAVITY:
                signal_recursions.check_open(self.elements, f"{GRAVITY}{component}")
                self._forces[key] = signal_recursions.gravity_forces(self.elements, self.kinematics)
            else:
                signal_recursions.check_open(self.elements, "impedance")
                self._forces[key] = signal_recursions.impedance_forces(self.elements, key, self.kinematics)
        return self._forces[key][signal_recursions.speed_number(self.elements, component)]

    def _recursion(self, value: InverseDynamics) -> Scalar:
        key = value._replace(component="")
        if key not in self._forces:
            signal_recursions.check_open(self.elements, "computed torque")
            elements = self.elements
            machine = signal_recursions.nominal_elements(elements, value.nominal) if value.nominal else elements
            v = [0.0] * self.kinematics.tree.nv if self.kinematics.v is None else self.kinematics.v
            a: list[Scalar] = [0.0] * self.kinematics.tree.nv
            for component, name in value.accelerations:
                a[signal_recursions.speed_number(elements, component)] = self(name)
            self._forces[key] = signal_recursions.inverse_dynamics(machine, self.kinematics, v, a)
        return self._forces[key][signal_recursions.speed_number(self.elements, value.component)]

    def _mass_entry(self, name: str) -> Scalar:
        i, j = mass_entry_indices(name)
        if "M" not in self._forces:
            signal_recursions.check_open(self.elements, name)
            self._forces["M"] = signal_recursions.mass_rows(self.elements, self.kinematics)
        rows = self._forces["M"]
        if not (0 <= i < len(rows) and 0 <= j < len(rows)):
            raise ExpressionError(
                f"There is no entry {name}: the mass matrix has {len(rows)} rows.",
                remedy="Count the independent speeds from 1.",
            )
        return rows[i][j]

    def _sensor_value(self, name: str, component: int, of_rate: bool) -> Scalar:
        sensor = self.elements.sensors.get(name)
        if sensor is None or not sensor.info.is_function_of_state or (of_rate and not sensor.info.is_geometric):
            raise ExpressionError(
                f"The {'rate' if of_rate else 'value'} of sensor '{name}' depends on accelerations, so no "
                "force can depend on it.",
                remedy="Let the formula use positions, speeds and time.",
            )
        values, rates = values_and_rates(sensor, self.kinematics)
        return (rates if of_rate else values)[component]

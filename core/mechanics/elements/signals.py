"""Values of the names in formulas of time and state (`core.model.signals`), as symbolic scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import ExpressionError
from core.mechanics.elements.element_reader import MachineElements
from core.mechanics.elements.mode_variables import MODE_NAME
from core.mechanics.elements.sensors import evaluate_measure, values_and_rates
from core.mechanics.kinematic_state import KinematicState
from core.model.signals import TIME
from core.numerics.spatial.relative_measures import measure_rate
from core.numerics.spatial.rotation import unwrap_near
from core.numerics.spatial.scalar import Scalar


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
        if found is None:
            raise ExpressionError(
                f"There is no quantity '{name}'.",
                remedy="Use time, parameters, joint coordinates and speeds, and sensors.",
            )
        return found(self.kinematics)

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

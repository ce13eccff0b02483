"""Interface of all drivers: constraints whose value is a function of time (a number, a recorded signal or a
formula)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import casadi as ca

from core.codegen.graph_symbols import to_symbol
from core.errors import ModelError
from core.mechanics.elements.constraints.kinematic_constraint import KinematicConstraint, Target
from core.mechanics.elements.mode_variables import MODE_NAME, ModeVariables
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.time_argument import Clock
from core.model import Driver
from core.model.formula.expression import evaluate, parse
from core.numerics.spatial.scalar import Scalar


class TimeFunction(Protocol):
    """Function of time."""

    def __call__(self, t: Sequence[Scalar]) -> Target: ...


def build_time_function(driver: Driver, machine: Resolver, clock: Clock) -> TimeFunction:
    """Return the function of a driver."""
    if driver.function is None:
        return RecordedSignal(clock.index(driver.name))
    if not isinstance(driver.function, str):
        return ConstantFunction(float(driver.function))
    where = f"driver '{driver.name}', function"
    return TimeFormula(driver.function, dict(machine.numbers.values), where, machine.mode_variables)


def target_on_level(function: Target, level: int) -> Target:
    """Return the target f of a row whose function gives position, speed or acceleration."""
    shifted = (
        (function.value, function.rate, function.second),
        (0.0, function.value, function.rate),
        (0.0, 0.0, function.value),
    )
    return Target(*shifted[level])


class ConstantFunction:
    """Constant function."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, t: Sequence[Any]) -> Target:
        return Target(self.value)


class RecordedSignal:
    """Recorded signal (table or file), evaluated outside the symbolic function: its value and rates are entries of the
    time argument."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __call__(self, t: Sequence[Any]) -> Target:
        return Target(*t[self.index : self.index + 3])


class TimeFormula:
    """Formula of time, differentiated exactly."""

    def __init__(self, text: str, values: dict[str, Any], where: str, mode_variables: ModeVariables) -> None:
        self.node, self.values, self.where = mode_variables.with_mode_variables(parse(text)), values, where
        self.modes = len(mode_variables.numbers)

    def __call__(self, t: Sequence[Any]) -> Target:
        time = to_symbol(t[0])
        last = t[-self.modes :] if len(t) > self.modes > 0 else [0.0] * self.modes
        held = {f"{MODE_NAME}{k}": each for k, each in enumerate(last)}
        try:
            value = to_symbol(evaluate(self.node, {**self.values, **held, "t": time, "time": time}))
        except Exception as error:
            if isinstance(error, ModelError) or not hasattr(error, "at"):
                raise
            raise error.at(where=self.where) from None
        rate = ca.jacobian(value, time)
        return Target(value, ca.densify(rate), ca.densify(ca.jacobian(rate, time)))


class DriverElement(KinematicConstraint):
    """Driver of the document. Each kind is one class, selected by the document's field that names the driven
    quantity."""

    name: ClassVar[str]
    motion: TimeFunction

    @classmethod
    @abstractmethod
    def read(cls, driver: Driver, function: TimeFunction, machine: Resolver) -> DriverElement:
        """Read a driver of the document. Raises ModelError."""

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """Return the value of the driver's function."""
        return [target_on_level(self.motion(t), self.rows[0].level)]


def component_index(component_names: Sequence[str], component: str, owner: str, where: str) -> int:
    """Return the index of the component that a `coordinate` field names, among the names of all components. Raises
    ModelError."""
    if len(component_names) == 1 and component in ("", component_names[0]):
        return 0
    if component in component_names:
        return list(component_names).index(component)
    raise ModelError(
        f"The driven coordinate of '{owner}' is not specified.",
        where=f"{where}, coordinate",
        remedy=f"Choose one of {', '.join(component_names)}.",
    )

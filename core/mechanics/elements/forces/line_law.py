"""Base class of user-defined force laws on the line between two points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.mechanics.elements.force_state import End, ForceState, Scalars
from core.mechanics.elements.forces.line import OnLine
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.symbol_trial import check_member, named_symbols, named_tuple_type, read_numbers
from core.model import Force
from core.model.element_kinds import check_names
from core.numerics.spatial.scalar import Scalar


@dataclass(frozen=True)
class LineLaw(OnLine):
    """User-defined force element on the line from the origin of a to that of b: derive a class from this one and
    register it.

    `name` (in files), `title` (in the window) and `force` must be stated, and `state_rate` if there are states; what it
    exerts on bodies and junctions, its power, channels, fields and look follow. `numbers` are the quantities that each
    element sets, with unit, default and help. Its functions are static; they get scalars in SI:

    length : m, distance of the ends; rate : m/s, its derivative
    state : by `state_names` (`state.stretch`); numbers : by `numbers` (`numbers.stiffness`)

    These are floats or symbols of a trace, from which machine code and derivatives are made: compute with + - * / **
    and `ks.scalar` (`sqrt(x)`, `apply("exp", x)`). An `if` cannot ask a symbol: take
    `apply("if_else", apply("lt", a, b), x, y)`.
    """

    uses = ("a", "b")
    element: str
    a: End
    b: End
    given: Any
    """Numbers set for this element."""
    state: int = 0

    @staticmethod
    @abstractmethod
    def force(length: Scalar, rate: Scalar, state: Any, numbers: Any) -> Scalar:
        """Return the force in N; positive pulls the ends together."""

    @staticmethod
    def state_rate(length: Scalar, rate: Scalar, state: Any, numbers: Any) -> Sequence[Scalar]:
        """Return the time derivative of each state, per s."""
        return ()

    @staticmethod
    def rest_state(length: Scalar, state: Any, numbers: Any) -> Sequence[Scalar]:
        """Return the initial value of each state for a machine at rest; `state` has zeros."""
        return tuple(state)

    @staticmethod
    def energy(length: Scalar, state: Any, numbers: Any) -> Scalar:
        """Return the stored energy in J, which counts in the machine's energy and does not affect its motion."""
        return 0.0

    @classmethod
    def read(cls, force: Force, machine: Resolver) -> LineLaw:
        """Read a force element of the document. Raises ModelError."""
        given = read_numbers(force, f"force '{force.name}'", machine.numbers)
        return cls(force.name, machine.end(force.a), machine.end(force.b), given, machine.states.get(force.name, 0))

    @classmethod
    def check(cls) -> None:
        """Check the kind, including an evaluation of its functions with symbols."""
        super().check()
        check_names(cls, "state_names", cls.state_names)
        length, rate = named_symbols("length", "rate")
        state, numbers = named_symbols(*cls.state_names), named_symbols(*(number.name for number in cls.numbers))
        check_member(cls, "force", 1, length, rate, state, numbers)
        check_member(cls, "energy", 1, length, state, numbers)
        check_member(cls, "state_rate", len(state), length, rate, state, numbers)
        check_member(cls, "rest_state", len(state), length, state, numbers)

    def _named_states(self, x: Scalars) -> Any:
        return named_tuple_type(*self.state_names)(*x[self.state : self.state + len(self.state_names)])

    def force_and_potential(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """Return (F, potential) of the law."""
        state = self._named_states(s.x)
        force = s.run(type(self).force, value, speed, state, self.given)
        return force, s.run(type(self).energy, value, state, self.given)

    def x_rate(self, s: ForceState) -> Scalars:
        """Return the rates of the states."""
        rates: Scalars = s.run(
            _TupleFunction(type(self).state_rate), *self.value_and_rate(s), self._named_states(s.x), self.given
        )
        return rates

    def x_rest(self, s: ForceState) -> Scalars:
        """Return the initial states."""
        zeros = named_tuple_type(*self.state_names)(*(0.0,) * len(self.state_names))
        return tuple(type(self).rest_state(self.value_and_rate(s)[0], zeros, self.given))


@dataclass(frozen=True)
class _TupleFunction:
    """Function whose result is converted to a tuple, as symbolic functions need."""

    function: Callable[..., Sequence[Scalar]]

    def __call__(self, *arguments: Any) -> tuple[Scalar, ...]:
        return tuple(self.function(*arguments))

"""A law of one's own on the line between two points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from core.elements.force_state import End, ForceState, Scalars
from core.elements.forces.line import OnLine
from core.elements.own_numbers import named, numbers_of
from core.elements.resolver import Resolver
from core.elements.symbol_trial import symbols, tried, usable_names, usable_units
from core.model import Force, ForceKind, Quantity
from core.model.forces import LINE
from core.spatial.scalar import Scalar


@dataclass(frozen=True)
class LineLaw(OnLine):
    """A force element of your own on the line from the origin of a to that of b: derive from this, and register it.

    `name`, `title` and `force` must be stated, and `state_rate` if there are states; what it exerts on bodies and
    junctions, its power, channels, fields and look follow. Its functions are static; they get scalars in SI:

    length : m, distance of the ends; rate : m/s, its derivative
    state : by `state_names` (`state.stretch`); numbers : by `numbers` (`numbers.stiffness`)

    These are floats or symbols of a trace, from which machine code and derivatives are made: compute with + - * / **
    and `ks.scalar` (`sqrt(x)`, `apply("exp", x)`). An `if` cannot ask a symbol: take
    `apply("if_else", apply("lt", a, b), x, y)`.
    """

    title: ClassVar[str]
    """What the window calls the kind; `name` is what files call it."""
    numbers: ClassVar[tuple[Quantity, ...]] = ()
    """What its elements set, each with unit, default and help."""
    element: str
    a: End
    b: End
    given: Any
    """Its numbers."""
    state: int = 0

    @staticmethod
    @abstractmethod
    def force(length: Scalar, rate: Scalar, state: Any, numbers: Any) -> Scalar:
        """N; positive pulls the ends together."""

    @staticmethod
    def state_rate(length: Scalar, rate: Scalar, state: Any, numbers: Any) -> Sequence[Scalar]:
        """The derivative of each state by time, per s."""
        return ()

    @staticmethod
    def rest_state(length: Scalar, state: Any, numbers: Any) -> Sequence[Scalar]:
        """Each state where it starts, in a machine that has stood still; `state` has zeros."""
        return tuple(state)

    @staticmethod
    def energy(length: Scalar, state: Any, numbers: Any) -> Scalar:
        """J, what it has stored and gives back; counts in the energy of the machine, and changes no motion."""
        return 0.0

    @classmethod
    def read(cls, force: Force, machine: Resolver) -> LineLaw:
        """See `ForceElement`."""
        given = numbers_of(force, f"force '{force.name}'", machine.numbers)
        return cls(force.name, machine.end(force.a), machine.end(force.b), given, machine.states.get(force.name, 0))

    @classmethod
    def in_document(cls) -> ForceKind:
        """See `ForceElement`."""
        return ForceKind(cls.name, cls.title, ("a", "b", "settings"), LINE, numbers=cls.numbers)

    @classmethod
    def check(cls) -> None:
        """Its functions are tried over symbols, too."""
        super().check()
        usable_names(cls, "numbers", [number.name for number in cls.numbers])
        usable_units(cls, cls.numbers)
        usable_names(cls, "state_names", cls.state_names)
        length, rate = symbols("length", "rate")
        state, numbers = symbols(*cls.state_names), symbols(*(number.name for number in cls.numbers))
        tried(cls, "force", 1, length, rate, state, numbers)
        tried(cls, "energy", 1, length, state, numbers)
        tried(cls, "state_rate", len(state), length, rate, state, numbers)
        tried(cls, "rest_state", len(state), length, state, numbers)

    def _states(self, x: Scalars) -> Any:
        return named(*self.state_names)(*x[self.state : self.state + len(self.state_names)])

    def force_and_potential(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """By the law."""
        state = self._states(s.x)
        force = s.run(type(self).force, value, speed, state, self.given)
        return force, s.run(type(self).energy, value, state, self.given)

    def x_rate(self, s: ForceState) -> Scalars:
        """See `ForceElement`."""
        rates: Scalars = s.run(_Together(type(self).state_rate), *self.quantity(s), self._states(s.x), self.given)
        return rates

    def x_rest(self, s: ForceState) -> Scalars:
        """See `ForceElement`."""
        zeros = named(*self.state_names)(*(0.0,) * len(self.state_names))
        return tuple(type(self).rest_state(self.quantity(s)[0], zeros, self.given))


@dataclass(frozen=True)
class _Together:
    """The numbers of a sequence as a tuple, which a trace can take apart."""

    function: Callable[..., Sequence[Scalar]]

    def __call__(self, *arguments: Any) -> tuple[Scalar, ...]:
        return tuple(self.function(*arguments))

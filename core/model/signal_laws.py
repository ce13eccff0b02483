"""Formulas of signals: values, states with their rates, and forces in joints; their order, and algebraic loops.

A kind of signal gives a `BlockLaw`: formulas of names. The table of all signals of a model joins them under full names,
`controller.elbow.tau` for example. `core.mechanics.elements.signals` computes the values of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import ModelError
from core.model.fields import Value
from core.model.formula.differentiation import ZERO
from core.model.formula.expression import names_in_formula, parse, substitute
from core.model.formula.nodes import Name, Node, Number
from core.model.signal_elements import ControlledJoint, NominalValue, Signal
from core.model.signals import component_name


class StateLaw(NamedTuple):
    """Formulas of a state: its rate, and its value at the start of a run."""

    rate: Node
    start: Node = ZERO


class InverseDynamics(NamedTuple):
    """Joint forces for given accelerations: those of the machine with other parameter values.

    accelerations : coordinate → name of a value, others 0; component : the coordinate whose force this is
    """

    component: str
    accelerations: tuple[tuple[str, str], ...]
    nominal: tuple[NominalValue, ...] = ()


class ImpedanceForce(NamedTuple):
    """Joint force that acts like a spring and damper between a frame and a target."""

    component: str
    signal: Signal


Recursion = InverseDynamics | ImpedanceForce
"""Value that needs a recursion over the machine, not a formula alone."""


class BlockLaw(NamedTuple):
    """Formulas of a signal. Keys are suffixes of the signal's name; formulas use full names.

    forces : controlled joints and the suffixes of the values that act in them
    """

    values: Mapping[str, Node | Recursion]
    states: Mapping[str, StateLaw] = {}
    forces: tuple[tuple[ControlledJoint, str], ...] = ()


def value_node(value: Value) -> Node:
    """Return a number or formula of the document as a formula."""
    return parse(value) if isinstance(value, str) else Number(float(value))


class SignalTable:
    """Values, states and forces of all signals of an expanded model, by full name."""

    def __init__(self, model: Any) -> None:
        self.values: dict[str, Node | Recursion] = {}
        self.states: dict[str, StateLaw] = {}
        self.forces: list[tuple[Signal, ControlledJoint, str]] = []
        self.owner: dict[str, Signal] = {}
        """Signal of each value and state."""
        for signal in model.signals:
            if signal.period is not None:
                raise ModelError(
                    "Signals are evaluated continuously.",
                    where=f"signal '{signal.name}', period",
                    remedy="Leave it empty.",
                )
            law = signal.info.law(signal, model)
            for suffix, value in law.values.items():
                self.values[component_name(signal.name, suffix)] = value
                self.owner[component_name(signal.name, suffix)] = signal
            for suffix, state in law.states.items():
                self.states[component_name(signal.name, suffix)] = state
                self.owner[component_name(signal.name, suffix)] = signal
            self.forces += [(signal, row, component_name(signal.name, suffix)) for row, suffix in law.forces]

    @property
    def nodes(self) -> Iterator[tuple[str, Node]]:
        """Yield (name of the signal, formula) of all values and rates."""
        for name, value in self.values.items():
            if not isinstance(value, Recursion):
                yield self.owner[name].name, value
        for name, state in self.states.items():
            yield self.owner[name].name, state.rate

    @cached_property
    def used_names(self) -> frozenset[str]:
        """Return the names in all formulas."""
        starts = (state.start for state in self.states.values())
        return frozenset().union(*(names_in_formula(node) for _, node in self.nodes), *map(names_in_formula, starts))

    def check(self) -> None:
        """Raise ModelError if two controllers act in the same coordinate, or values depend on themselves without a
        state between; names the members of the loop."""
        acting: dict[str, str] = {}
        for signal, row, _ in self.forces:
            if (other := acting.setdefault(row.component, signal.name)) != signal.name:
                raise ModelError(
                    f"Two controllers act in '{row.component}': '{other}' and '{signal.name}'.",
                    where=f"signal '{signal.name}', joints",
                    remedy="Remove the joint from one of them.",
                )
        done: set[str] = set()
        for name in self.values:
            self._visit(name, [], done)

    def _visit(self, name: str, path: list[str], done: set[str]) -> None:
        if name in done:
            return
        if name in path:
            loop = path[path.index(name) :]
            members = list(dict.fromkeys(self.owner[each].name for each in loop))
            raise ModelError(
                f"The signals depend on themselves: {' → '.join([*loop, name])}.",
                where=f"signal '{members[0]}'",
                remedy="Put a block with a state, such as a first-order lag or a delay, into the loop.",
            )
        for used in direct_names(self.values[name]):
            if used in self.values:
                self._visit(used, [*path, name], done)
        done.add(name)


def direct_names(value: Node | Recursion) -> frozenset[str]:
    """Return the names on which a value depends directly."""
    if isinstance(value, InverseDynamics):
        return frozenset(name for _, name in value.accelerations)
    return frozenset() if isinstance(value, ImpedanceForce) else names_in_formula(value)


def with_full_names(node: Node, signal: Signal, references: Mapping[str, Node]) -> Node:
    """Return a formula of a signal with its own states by full names and its references replaced."""
    own: dict[str, Node] = {state.name: Name(f"{signal.name}.{state.name}") for state in signal.states}
    return substitute(node, {**own, **references})

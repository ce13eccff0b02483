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
from core.model.formula.differentiation import ZERO, combine
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


class SampledSignal(NamedTuple):
    """Signal that is evaluated at equal time steps, with its states, held outputs and noises by full name."""

    signal: Signal
    states: tuple[str, ...]
    outputs: tuple[str, ...]
    noises: tuple[str, ...]


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
        self.updates: dict[str, Node] = {}
        """States of sampled signals, and their formulas at samples."""
        self.sampled: list[SampledSignal] = []
        for signal in model.signals:
            law = signal.info.law(signal, model)
            if signal.period is not None:
                law = self._sample(signal, law)
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
        for name, node in self.updates.items():
            yield self.owner[name].name, node

    @cached_property
    def used_names(self) -> frozenset[str]:
        """Return the names in all formulas."""
        starts = (state.start for state in self.states.values())
        return frozenset().union(*(names_in_formula(node) for _, node in self.nodes), *map(names_in_formula, starts))

    def _sample(self, signal: Signal, law: BlockLaw) -> BlockLaw:
        """Return the law with outputs that are held between samples, and states that advance at samples by Euler's
        rule; register how they change there."""
        values, states = dict(law.values), {}
        name = f"{signal.name}."
        own = tuple(name + suffix for suffix in law.states)
        for suffix, state in law.states.items():
            states[suffix] = StateLaw(ZERO, state.start)
            self.updates[name + suffix] = combine(
                "x + T*r", x=Name(name + suffix), T=value_node(signal.period or 0.0), r=state.rate
            )
        outputs = []
        for suffix in [suffix for _, suffix in law.forces] or [""]:
            held = f"{suffix}.held" if suffix else "held"
            output = values[suffix]
            if isinstance(output, Recursion):
                values[f"{suffix}.now"], output = output, Name(f"{name}{suffix}.now")
            start = output if signal.initial == "steady" else ZERO
            states[held], values[suffix] = StateLaw(ZERO, start), Name(name + held)
            self.updates[name + held] = output
            outputs.append(name + held)
        noises = []
        if signal.noise != 0.0:
            for suffix in [row.component for row in signal.joints] or [""]:
                noise = f"{suffix}.noise" if suffix else "noise"
                states[noise] = StateLaw(ZERO, ZERO)
                noises.append(name + noise)
        self.sampled.append(SampledSignal(signal, own, tuple(outputs), tuple(noises)))
        return BlockLaw(values, states, law.forces)

    @cached_property
    def sampled_order(self) -> tuple[tuple[SampledSignal, ...], ...]:
        """Return the sampled signals in layers, each of which uses only outputs of earlier ones. Raises ModelError."""
        by_output = {name: each for each in self.sampled for name in (*each.outputs, *each.states)}
        depth: dict[str, int] = {}

        def depth_of(each: SampledSignal, path: tuple[str, ...]) -> int:
            name = each.signal.name
            if name in path:
                return 0  # a loop through held outputs: the last sample is used
            if name not in depth:
                used = self._sources(each)
                depth[name] = 1 + max(
                    (depth_of(by_output[s], (*path, name)) for s in used if by_output[s] is not each), default=-1
                )
            return depth[name]

        layers: dict[int, list[SampledSignal]] = {}
        for each in self.sampled:
            layers.setdefault(depth_of(each, ()), []).append(each)
        return tuple(tuple(layers[k]) for k in sorted(layers))

    def _sources(self, each: SampledSignal) -> set[str]:
        """Return the states at samples of other signals on which the outputs of a sampled signal depend."""
        waiting: list[Node | Recursion] = [self.updates[name] for name in (*each.outputs, *each.states)]
        seen: set[str] = set()
        known = {name for other in self.sampled for name in (*other.outputs, *other.states)}
        while waiting:
            for name in direct_names(waiting.pop()) - seen:
                seen.add(name)
                if name in self.values:
                    waiting.append(self.values[name])
        return seen & known

    def require_continuous(self, result: str) -> None:
        """Raise ModelError if a signal is sampled. result : name of what sampled signals do not have"""
        for each in self.sampled:
            raise ModelError(
                f"The sampled signal '{each.signal.name}' holds its output between samples, so there is no {result}.",
                where=f"signal '{each.signal.name}', period",
                remedy="Leave the period empty for a continuous law.",
            )

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

"""Measures of runs: formulas of channels that give one number, by reductions over time.

rms(x) mean(x) integral(x)     over time; the run between two samples is a parabola through three (Simpson)
max(x) min(x) span(x)          of the samples; span is the largest less the smallest
at(x, 0.3 s)  at(x, end)       the value at a time, between samples by the cubic through the nearest four
max(a, b), abs(x), sqrt(x) …   as in all formulas (`core.model.formula`)

Measure(mech, "max(abs(elbow.tau))").value(run)          a number in SI; `.unit` is "N·m"
Measures(mech, {"tip": "at(tool.position, end)"}).values(run)      {"tip.x": …, "tip.y": …, "tip.z": …}
Requirement(mech, "max(elbow.q) < 40 deg").margin(run)   what is left, negative where it fails
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import ExpressionError, KinetostatError, ModelError, suggest_names
from core.mechanism import Mechanism
from core.model import Model, Parameter
from core.model.fields import nested_elements
from core.model.formula.expression import (
    Binary,
    Call,
    Name,
    Node,
    evaluate,
    format_formula,
    names_in_formula,
    parse,
    substitute,
)
from core.model.formula.formula_fields import list_formulas
from core.model.formula.formula_units import (
    LITERAL,
    UNKNOWN,
    Dimension,
    dimension_by_name,
    formula_dimension,
    is_compatible,
)
from core.model.formula.nodes import COMPARISONS, CONSTANTS, Negative
from core.simulation.measures.reductions import (
    END,
    FURTHER,
    REDUCTIONS,
    START,
    reduce_curve,
    replace_reductions,
    simpson_weights,
)
from core.simulation.run.channels import FRAME, MAGNITUDES, Channels, column_suffixes
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]

TIME_FRACTION = 1e-9
"""Fraction of the duration within which a given time is taken to be that of a sample."""


class RunSamples(Protocol):
    """Interface of a run that measures need."""

    @property
    def time(self) -> Array: ...
    @property
    def settings(self) -> Settings: ...
    def __getitem__(self, channel: str) -> Array: ...
    def part(self, rows: slice) -> RunSamples:
        """Return the run restricted to some samples."""
        ...


class _RestSample(NamedTuple):
    """A machine at rest as a run of one sample, to find the shape of channels."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array


class Signals:
    """Names available in formulas of measures for one machine: channels, their components, coordinates, parameters."""

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech
        p, none = mech.parameter_values(), np.zeros((1, mech.nv))
        rest = np.asarray(mech.neutral())[None, :]
        sample = _RestSample(np.zeros(1), rest, none, none, none, np.zeros((1, mech.nx)), np.zeros((0, 0)))
        self.channels = Channels(mech, p, sample)
        self.parameters = {each.name: each.dimension for each in mech.model.expanded.parameters}
        self._components: dict[str, tuple[str, ...] | None] = {}

    @cached_property
    def all(self) -> tuple[str, ...]:
        """Names of channels, coordinates and parameters."""
        return tuple(dict.fromkeys(("t", *self.channels.names, *self.mech.q_names, *self.parameters)))

    def is_channel(self, name: str) -> bool:
        """Return True if the named quantity varies along a run."""
        return self.components(name) is not None

    def components(self, name: str) -> tuple[str, ...] | None:
        """Return the suffixes of a channel's components, () for a scalar channel, None if there is no such channel."""
        if name not in self._components:
            self._components[name] = self._find_components(name)
        return self._components[name]

    def _find_components(self, name: str) -> tuple[str, ...] | None:
        if name in ("t", "time") or name in self.mech.q_names:
            return ()
        if name in self.channels.names:
            return column_suffixes(self.channels, name)
        owner, _, part = name.rpartition(".")
        if owner in self.channels.names:
            parts = column_suffixes(self.channels, owner)
            if part in parts or (part in MAGNITUDES and set(MAGNITUDES[part]) <= set(parts)):
                return ()
        if part in ("q", "v", "a", "tau") and owner in (self.mech.q_names if part == "q" else self.mech.v_names):
            return ()
        return None

    def dimension(self, name: str) -> Dimension:
        """Return the dimension of a named quantity."""
        if name in (END, START):
            return dimension_by_name("time")
        if self.is_channel(name):
            return dimension_by_name(self.channels.dimension(f"{name}.q" if name in self.mech.q_names else name))
        return dimension_by_name(self.parameters.get(name, "none"))

    def check(self, node: Node, text: str) -> None:
        """Raise an error for unknown names and functions in a formula.

        Raises ExpressionError with the column of the name and near misses.
        """
        for name in sorted(names_in_formula(node)):
            if name in self.channels.modes.word_channels:
                words = ", ".join(self.channels.modes.word_channels[name])
                raise ExpressionError(
                    f"'{name}' in column {_column_of_name(text, name)} of '{text}' is a text channel: {words}.",
                    where="measure",
                    remedy="Use the corresponding force channel.",
                )
            if not (self.is_channel(name) or name in self.parameters or name in (END, START)):
                raise ExpressionError(
                    f"There is no channel or parameter '{name}', in column {_column_of_name(text, name)} of '{text}'.",
                    where="measure",
                    remedy=suggest_names(name, self.all),
                )


def _column_of_name(text: str, name: str) -> int:
    """Return the position of a name in a text, from 1."""
    found = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)
    return 1 + (found.start() if found else 0)


class Measure:
    """Formula of a machine's channels that gives one number per run.

    text : the formula; dimension, unit : what the number is; channels, parameters : what it names
    Raises ExpressionError for what the formula cannot mean, with the column; ModelError where it gives a curve.
    """

    def __init__(self, machine: Mechanism | Signals, text: str, dimension: str = "") -> None:
        """Check the formula. dimension : required dimension of the number, a name of `core.model.units.SI`; empty for
        any"""
        signals = machine if isinstance(machine, Signals) else Signals(machine)
        node = parse(text, "native", FURTHER)
        signals.check(node, text)
        self._set_up(signals, node, text, dimension)
        several = [name for name in self.channels if signals.components(name)]
        if several:
            part = (signals.components(several[0]) or ("",))[0]
            raise ExpressionError(
                f"'{several[0]}' in column {_column_of_name(text, several[0])} of '{text}' has several components.",
                where="measure",
                remedy=f"Name one of them, such as '{several[0]}.{part}'.",
            )

    @classmethod
    def from_node(cls, signals: Signals, node: Node, text: str) -> Measure:
        """Return a measure for a parsed formula whose names have been checked."""
        self = cls.__new__(cls)
        self._set_up(signals, node, text, "")
        return self

    def _set_up(self, signals: Signals, node: Node, text: str, dimension: str) -> None:
        self.signals, self.node, self.text = signals, node, text
        used = sorted(names_in_formula(node) - {END, START})
        self.channels = tuple(name for name in used if signals.is_channel(name))
        self.parameters = tuple(name for name in used if not signals.is_channel(name))
        if (curve := _find_first_curve(node, signals)) is not None:
            raise ModelError(
                f"'{text}' is not a number: '{curve}' is a curve over time.",
                where="measure",
                remedy=f"Reduce it to a number: max({curve}), mean({curve}), at({curve}, end) …",
            )
        found = formula_dimension(node, signals.dimension)
        if dimension and not is_compatible(found, dimension_by_name(dimension)):
            raise ExpressionError(
                f"'{text}' is in {found.unit or 'pure numbers'}, not in {dimension_by_name(dimension).unit}.",
                where="units",
            )
        self.dimension: Dimension = UNKNOWN if found is LITERAL else found

    @property
    def unit(self) -> str:
        """SI unit of the number, "" if it has none or it is unknown."""
        return self.dimension.unit

    def __repr__(self) -> str:
        return f"Measure({self.text!r})"

    def value(self, run: RunSamples) -> float:
        """Return the number for a run.

        Raises ModelError where it asks for a time outside the run.
        """
        return _FormulaEvaluator(self.signals, run).evaluate_number(self.node)

    def constant_reason(self, varied: Iterable[str] = ()) -> str:
        """Return the reason why the number is the same for all runs; empty if it can vary.

        varied : parameters that will be varied, where nothing else will
        """
        varied = tuple(varied)
        if not set(self.channels) - {"t", "time"} and not set(self.parameters) & set(varied):
            alone = "depends on time alone" if self.channels else "names no channel of the motion"
            return f"'{self.text}' {alone}" + (" and nothing that is varied" if varied else "")
        if varied and self.channels and not set(self.parameters) & set(varied):
            idle = unused_parameters(self.signals.mech.model, varied)
            if len(idle) == len(varied):
                none = "none of the varied parameters" if len(varied) > 1 else "the varied parameter"
                return f"'{self.text}': {none} ({', '.join(varied)}) changes it: nothing of the machine names it"
        return ""


class Measures:
    """Several measures by name; a formula of a channel with components gives one measure per component."""

    def __init__(self, machine: Mechanism | Signals, formulas: Mapping[str, str]) -> None:
        """Check the formulas. Raises ExpressionError or ModelError naming the measure."""
        signals = machine if isinstance(machine, Signals) else Signals(machine)
        self.signals = signals
        self.table: dict[str, Measure] = {}
        for name, text in formulas.items():
            try:
                self.table.update(_expand_formula(signals, name, text))
            except KinetostatError as error:
                error.where = f"'{name}'" + (f", {error.where}" if error.where else "")
                raise

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the numbers."""
        return tuple(self.table)

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the numbers."""
        return tuple(each.unit for each in self.table.values())

    def values(self, run: RunSamples) -> dict[str, float]:
        """Return all numbers of a run; channels are computed only once."""
        return self.chosen_values(run, self.table)

    def chosen_values(self, run: RunSamples, measures: Mapping[str, Measure]) -> dict[str, float]:
        """Return the numbers of the chosen measures for a run."""
        reader = _FormulaEvaluator(self.signals, run)
        return {name: reader.evaluate_number(each.node) for name, each in measures.items()}


def _expand_formula(signals: Signals, name: str, text: str) -> dict[str, Measure]:
    node = parse(text, "native", FURTHER)
    signals.check(node, text)
    several = {each: parts for each in sorted(names_in_formula(node)) if (parts := signals.components(each))}
    if not several:
        return {name: Measure.from_node(signals, node, text)}
    found_parts = set(several.values())
    if len(found_parts) > 1:
        raise ExpressionError(
            f"Channels in '{text}' have different components: {', '.join(several)}.",
            remedy="Name components, such as 'tool.position.x'.",
        )
    found = {}
    for part in found_parts.pop():
        one = substitute(node, {each: Name(f"{each}.{part}") for each in several})
        found[f"{name}.{part}"] = Measure.from_node(signals, one, format_formula(one))
    return found


class Requirement:
    """Requirement on runs such as "max(elbow.q) < 40 deg"; its margin is positive if it is fulfilled.

    Raises ExpressionError if it compares nothing, or what does not measure the same.
    """

    def __init__(self, machine: Mechanism | Signals, text: str) -> None:
        signals = machine if isinstance(machine, Signals) else Signals(machine)
        node = parse(text, "native", FURTHER)
        if not isinstance(node, Binary) or node.operator not in COMPARISONS or node.operator == "!=":
            raise ExpressionError(
                f"'{text}' is not a comparison.", where="requirement", remedy="Write it with <, <=, >, >= or ==."
            )
        signals.check(node, text)
        formula_dimension(node, signals.dimension)
        sides = (node.right, node.left) if node.operator in ("<", "<=") else (node.left, node.right)
        self.text, self.equality = text, node.operator == "=="
        self.measure = Measure.from_node(signals, Binary("-", *sides), text)

    @property
    def unit(self) -> str:
        """SI unit of the margin."""
        return self.measure.unit

    def margin(self, run: RunSamples) -> float:
        """Return the margin for a run, negative if the requirement fails; for an equality the signed error."""
        return self.measure.value(run)


def unused_parameters(model: Model, candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the parameters that nothing in a machine uses, not even the definition of another parameter."""
    used: set[str] = set()
    follow: dict[str, set[str]] = {}
    for element in nested_elements(model.expanded):
        found = {name for formula in list_formulas(element) for name in names_in_formula(parse(formula.text))}
        if isinstance(element, Parameter):
            follow[element.name] = found
        else:
            used |= found
    waiting = list(used)
    while waiting:
        for name in follow.get(waiting.pop(), set()) - used:
            used.add(name)
            waiting.append(name)
    return tuple(name for name in candidates if name not in used)


def _find_first_curve(node: Node, signals: Signals) -> str | None:
    """Return the first subexpression of a formula that is a curve over time; None if the formula gives a number."""
    match node:
        case Name(name):
            return name if signals.is_channel(name) else None
        case Call("at", (_, when)):
            return _find_first_curve(when, signals)
        case Call(function, (_,)) if function in REDUCTIONS:
            return None
        case Negative(operand):
            return _find_first_curve(operand, signals)
        case Binary(_, left, right):
            return _find_first_curve(left, signals) or _find_first_curve(right, signals)
        case Call(_, arguments):
            return next((found for each in arguments if (found := _find_first_curve(each, signals)) is not None), None)
        case _:
            return None


# ----------------------------------------------------------------------------------------- numbers of a run


class _FormulaEvaluator:
    """Evaluates formulas over one run."""

    def __init__(
        self, signals: Signals, run: RunSamples, whole: _FormulaEvaluator | None = None, rows: slice = slice(None)
    ) -> None:
        self.signals, self.run, self.rows = signals, run, rows
        self.whole = whole
        """Of the whole run, where this one knows some samples of it only."""
        self._columns: dict[str, Any] = {}
        self._near: dict[tuple[int, int], _FormulaEvaluator] = {}
        self._weights: Array | None = None
        self._places: dict[float, int] = {}

    def evaluate_number(self, node: Node) -> float:
        """Evaluate a formula that gives a number."""
        with np.errstate(all="ignore"):
            return float(np.asarray(self._evaluate(node)).reshape(-1)[0])

    def _evaluate(self, node: Node) -> Any:
        """Evaluate a formula to a number or to values (n,) over time, reductions first."""
        match node:  # what stands alone needs no formula around it
            case Name(name) if name not in CONSTANTS:
                return self._named_values(name)
            case Call(word, arguments) if (word, len(arguments)) in FURTHER:
                return self._evaluate_reduction(word, arguments)
        inner: dict[str, Any] = {}
        outer = self._replace_reductions(node, inner)
        values = {name: inner[name] if name in inner else self._named_values(name) for name in names_in_formula(outer)}
        return evaluate(outer, values)

    def _replace_reductions(self, node: Node, reduced_values: dict[str, Any]) -> Node:
        """Replace each reduction by a name whose value is added to `reduced_values`."""

        def replace_one(reduction: str, arguments: tuple[Node, ...]) -> Node:
            return _add_placeholder(reduced_values, self._evaluate_reduction(reduction, arguments))

        return replace_reductions(node, FURTHER, replace_one)

    def _evaluate_reduction(self, reduction: str, arguments: tuple[Node, ...]) -> float:
        what, *when = arguments
        return (
            self._evaluate_at(what, float(np.asarray(self._evaluate(when[0]))))
            if when
            else self._values_over_time(reduction, what)
        )

    def _named_values(self, name: str) -> Any:
        if name in (END, START) and not self.signals.is_channel(name) and name not in self.signals.parameters:
            return float((self.whole or self).run.time[-1 if name == END else 0])
        if name not in self._columns:
            self._columns[name] = self._find_values(name)
        return self._columns[name]

    def _find_values(self, name: str) -> Any:
        if not self.signals.is_channel(name):
            given = self.run.settings.parameters
            return float(given[name]) if name in given else float(np.asarray(self._parameter_values[name]))
        if self.whole is not None and not _is_local_channel(self.signals.mech, name):
            return self.whole._named_values(name)[self.rows]
        return np.asarray(self.run[name])

    @cached_property
    def _parameter_values(self) -> Mapping[str, Any]:
        """Return the values of all parameters, including dependent ones."""
        from core.model.parameters import parameter_values

        return parameter_values(self.signals.mech.model.expanded.parameters, dict(self.run.settings.parameters))

    def _values_over_time(self, function: str, formula: Node) -> float:
        values = np.broadcast_to(np.asarray(self._evaluate(formula), dtype=float), self.run.time.shape)
        if self._weights is None:
            self._weights = simpson_weights(self.run.time)
        return reduce_curve(function, values, self.run.time, self._weights)

    def _evaluate_at(self, formula: Node, t: float) -> float:
        """Evaluate at a time: at a sample, or by the polynomial through up to four nearest samples on its side of a
        discontinuity."""
        time = self.run.time
        exact = TIME_FRACTION * max(float(time[-1] - time[0]), 1e-12)
        if not (time[0] - exact <= t <= time[-1] + exact):
            raise ModelError(
                f"There is no value at t = {t:.6g} s: the run goes from {time[0]:.6g} s to {time[-1]:.6g} s.",
                where=f"at({format_formula(formula)}, …)",
                remedy="Give a time within the run, 'end' or 'start', or extend the run.",
            )
        if t not in self._places:
            self._places[t] = int(np.searchsorted(time, t + exact, side="right")) - 1
        last = self._places[t]
        if abs(time[last] - t) <= exact:
            return float(np.asarray(self._restrict_to_samples(last, last + 1)._evaluate(formula)).reshape(-1)[0])
        first, end = max(last - 1, 0), min(last + 3, len(time))
        jumps = np.flatnonzero(np.diff(time[first:end]) <= 0.0) + first
        first = max([first, *(int(k) + 1 for k in jumps if k < last)])
        end = min([end, *(int(k) + 1 for k in jumps if k > last)])
        nodes = time[first:end]
        values = np.broadcast_to(self._restrict_to_samples(first, end)._evaluate(formula), nodes.shape)
        return float(sum(value * _lagrange(nodes, k, t) for k, value in enumerate(values)))

    def _restrict_to_samples(self, first: int, end: int) -> _FormulaEvaluator:
        """Return a reader for some samples only."""
        if (first, end) not in self._near:
            rows = slice(first, end)
            self._near[first, end] = _FormulaEvaluator(self.signals, self.run.part(rows), self, rows)
        return self._near[first, end]


def _add_placeholder(values: dict[str, Any], value: float) -> Name:
    name = f"reduced {len(values)}"
    values[name] = value
    return Name(name)


def _is_local_channel(mech: Mechanism, name: str) -> bool:
    """Return True if a channel at a sample can be computed from that sample alone."""
    owner, _, what = name.rpartition(".")
    if what in "xyz" and owner:
        owner, _, what = owner.rpartition(".")
    if owner in mech.frame_names:
        return what in FRAME and what != "orientation"
    return name in mech.q_names or (what in ("q", "v", "a") and owner in mech.v_names)


def _lagrange(nodes: Array, k: int, t: float) -> float:
    others = np.delete(nodes, k)
    return float(np.prod((t - others) / (nodes[k] - others)))

"""Objective: a scalar of a run as a formula of reductions: "at(tool.position.z, end)", "rms(elbow.tau) +
max(abs(tip.v))".

A reduction takes a channel or a formula of channels: its value at a time (`at`), mean, root mean square, integral,
largest or smallest value, span, or smooth maximum (`softmax(x, beta)`) over the samples of the run, as
`core.simulation.measures.reductions` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.errors import ExpressionError, ModelError
from core.model.formula.expression import Name, Node, evaluate, names, parse, text_of
from core.simulation.measures.reductions import END, FURTHER, SMOOTH, with_reductions_replaced, with_slopes

Array = NDArray[np.float64]

WORDS = FURTHER | {SMOOTH}
"""Reductions in objectives: (word, number of arguments)."""
EXAMPLE = "Write e.g. at(tool.position.z, end), rms(elbow.tau) or max(abs(elbow.v))."


class Reduction(NamedTuple):
    """Call of a reduction: its word, the formula it reduces, and its second argument ("" if it has none)."""

    word: str
    channel: str
    second: str

    def weigh(self, values: Array, times: Array) -> tuple[float, Array]:
        """Return the value of the reduction over samples, and its derivatives by these (n,)."""
        if self.word == "at":
            return float(values[0]), np.ones(1)
        return with_slopes(self.word, values, times, beta=float(self.second or 1.0))

    def time(self, first: float, last: float) -> float | None:
        """Return the time of `at`, s; None for reductions over all samples. Raises ModelError for a time outside the
        run."""
        if self.word != "at":
            return None
        if self.second == END:
            return last
        try:
            time = float(evaluate(parse(self.second), {}))
        except ExpressionError as error:
            raise error.at(where=f"objective, time of at({self.channel}, …)") from None
        if not first <= time <= last:
            raise ModelError(
                f"The run has no time {time:g} s.",
                where="objective",
                remedy=f"Give a time from {first:g} to {last:g} s, or end.",
            )
        return time


class Objective:
    """Formula of reductions. Raises ExpressionError and ModelError that state what is wrong."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not text.strip():
            raise ModelError("The objective is not a formula.", where="objective", remedy=EXAMPLE)
        self.text = text
        self.reductions: list[Reduction] = []
        try:
            self._node = with_reductions_replaced(parse(text, further=WORDS), WORDS, self._replace_reduction)
        except ExpressionError as error:
            raise error.at(where="objective") from None
        unknown = sorted(names(self._node) - {f"reduction{k}" for k in range(len(self.reductions))})
        if unknown or not self.reductions:
            name = unknown[0] if unknown else text.strip()
            raise ModelError(
                f"'{name}' varies over time, so it is not one number per run: reduce it by at, mean, max or the like.",
                where="objective",
                remedy=EXAMPLE,
            )

    def _replace_reduction(self, word: str, arguments: tuple[Node, ...]) -> Node:
        """Record a reduction and return the name that replaces it."""
        self.reductions.append(_reduction(word, arguments))
        return Name(f"reduction{len(self.reductions) - 1}")

    def combined(self, values: Sequence[float]) -> tuple[float, Array]:
        """Return the value of the objective, and its derivatives by the reductions' values."""
        x = ca.SX.sym("x", len(values))
        whole = evaluate(self._node, {f"reduction{k}": x[k] for k in range(len(values))})
        found = ca.Function("objective", [x], [ca.SX(whole), ca.densify(ca.gradient(ca.SX(whole), x))])
        value, slopes = found(np.asarray(values, dtype=float))
        return float(value), np.asarray(slopes.full(), dtype=float).reshape(-1)


def _reduction(word: str, arguments: tuple[Node, ...]) -> Reduction:
    second = text_of(arguments[1]) if len(arguments) == 2 else ""
    if word == "softmax" and not _is_number(second):
        raise ExpressionError(f"'{second}' is not a number other than 0.", where="objective", remedy=EXAMPLE)
    if inner := _first_reduction(arguments[0]):
        raise ExpressionError(
            f"'{word}' contains another reduction, '{inner}'.",
            where="objective",
            remedy="Reduce a formula of channels, which has a value at each time.",
        )
    return Reduction(word, text_of(arguments[0]), second)


def _first_reduction(node: Node) -> str:
    """Return the word of the first reduction in a formula; "" if there is none."""
    found: list[str] = []

    def put(word: str, arguments: tuple[Node, ...]) -> Node:
        found.append(word)
        return arguments[0]

    with_reductions_replaced(node, WORDS, put)
    return found[0] if found else ""


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text)) and float(text) != 0.0
    except ValueError:
        return False

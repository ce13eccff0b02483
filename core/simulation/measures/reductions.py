"""Reductions of a curve over time to one number, with derivatives with respect to the samples, and their use in
formulas.

rms, mean, integral are over time: the run between two samples is a parabola through three (Simpson). max, min, span are
of the samples; softmax(x, β) = log(mean exp(β x))/β is a smooth maximum. `at` is looked up by who has the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.model.formula.expression import Binary, Call, Node
from core.model.formula.nodes import Negative

Array = NDArray[np.float64]
Word = tuple[str, int]
"""Function in a formula: its name and its number of arguments."""

REDUCTIONS = ("rms", "mean", "integral", "max", "min", "span", "at")
FURTHER: frozenset[Word] = frozenset({*((name, 1) for name in REDUCTIONS[:-1]), ("at", 2)})
"""Functions in formulas of measures besides the usual ones."""
SMOOTH: Word = ("softmax", 2)
"""Additional reduction in formulas of objectives."""
END, START = "end", "start"
"""Names of the end and start time of a run in the second argument of `at`."""


def replace_reductions(
    node: Node, reductions: Collection[Word], build_replacement: Callable[[str, tuple[Node, ...]], Node]
) -> Node:
    """Return the formula with each reduction replaced by `put(word, arguments)`."""
    match node:
        case Call(word, arguments) if (word, len(arguments)) in reductions:
            return build_replacement(word, arguments)
        case Negative(operand):
            return Negative(replace_reductions(operand, reductions, build_replacement))
        case Binary(operator, left, right):
            return Binary(
                operator, *(replace_reductions(each, reductions, build_replacement) for each in (left, right))
            )
        case Call(function, arguments):
            return Call(function, tuple(replace_reductions(each, reductions, build_replacement) for each in arguments))
        case _:
            return node


def reduce_curve(reduction: str, values: Array, times: Array, weights: Array | None = None, beta: float = 1.0) -> float:
    """Reduce values (n,) at times (n,) to one number; weights : `simpson_weights` of the times, if known."""
    return reduce_with_derivatives(reduction, values, times, weights, beta)[0]


def reduce_with_derivatives(
    reduction: str, values: Array, times: Array, weights: Array | None = None, beta: float = 1.0
) -> tuple[float, Array]:
    """Return the reduced number and its derivatives with respect to the values (n,); for a maximum, the derivative is
    taken at its first sample."""
    if reduction in ("max", "min", "span"):
        found, slopes = 0.0, np.zeros_like(values)
        if reduction != "min":
            k = int(np.argmax(values))
            found, slopes[k] = float(values[k]), 1.0
        if reduction != "max":
            k, sign = int(np.argmin(values)), 1.0 if reduction == "min" else -1.0
            found += sign * float(values[k])
            slopes[k] += sign
        return found, slopes
    length = float(times[-1] - times[0])
    if length == 0.0:
        return _reduce_instant(reduction, values)
    weights = simpson_weights(times) if weights is None else weights
    if reduction == "rms":
        size = float(np.sqrt(max(float(weights @ values**2) / length, 0.0)))
        return size, weights * values / (length * size) if size else np.zeros_like(values)
    if reduction == "softmax":
        top = float(np.max(beta * values))
        parts = weights * np.exp(beta * values - top)
        whole = float(parts.sum())
        return (top + float(np.log(whole / length))) / beta, parts / whole
    scale = 1.0 if reduction == "integral" else 1.0 / length
    return scale * float(weights @ values), scale * weights


def _reduce_instant(reduction: str, values: Array) -> tuple[float, Array]:
    """Reduce the values of a run that has no duration."""
    slopes = np.zeros_like(values)
    if reduction == "integral":
        return 0.0, slopes
    last = float(values[-1])
    slopes[-1] = -1.0 if reduction == "rms" and last < 0.0 else 1.0
    return (abs(last) if reduction == "rms" else last), slopes


def simpson_weights(time: Array) -> Array:
    """Return integration weights (n,) of samples over time: Simpson's rule between discontinuities, with the last
    interval, if their number is odd, by the parabola that ends there (Cartwright 2017)."""
    weights = np.zeros(len(time))
    borders = [0, *(np.flatnonzero(np.diff(time) <= 0.0) + 1).tolist(), len(time)]
    for first, end in pairwise(borders):
        h = np.diff(time[first:end])
        part = weights[first:end]
        if len(h) == 1:
            part += 0.5 * h[0]
        if len(h) < 2:
            continue
        pairs = len(h) // 2
        a, b = h[0 : 2 * pairs : 2], h[1 : 2 * pairs : 2]
        both = a + b
        np.add.at(part, np.arange(0, 2 * pairs, 2), both / 6.0 * (2.0 - b / a))
        np.add.at(part, np.arange(1, 2 * pairs, 2), both**3 / (6.0 * a * b))
        np.add.at(part, np.arange(2, 2 * pairs + 1, 2), both / 6.0 * (2.0 - a / b))
        if len(h) % 2:
            a1, b1 = h[-2], h[-1]
            part[-1] += (2.0 * b1**2 + 3.0 * a1 * b1) / (6.0 * (a1 + b1))
            part[-2] += (b1**2 + 3.0 * a1 * b1) / (6.0 * a1)
            part[-3] -= b1**3 / (6.0 * a1 * (a1 + b1))
    return weights

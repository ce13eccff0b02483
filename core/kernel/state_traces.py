"""Traces of the first-order states x of force elements: springs in series with dampers, massless junctions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.kernel.dynamic_traces import situation
from core.kernel.symbols import as_symbol
from core.mechanics.force_elements import SeriesForce
from core.mechanics.steps import Runner, inline
from core.spatial.scalar import Scalar, minus

if TYPE_CHECKING:
    from core.kernel.tracing import Tracer

Inputs = Mapping[str, list[Any]]


def states(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """ẋ."""
    s = situation(tracer, x)
    result: list[Scalar] = [0.0] * tracer.nx
    for element in tracer.elements.named_forces:
        if isinstance(element, SeriesForce):
            result[element.state] = element.state_rate(s)
    return [as_symbol(entry) for entry in result]


def stretched(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """x as given, but springs in series with all of the stretch: L − rest."""
    s = situation(tracer, x)
    result: list[Scalar] = list(s.x)
    for element in tracer.elements.named_forces:
        if isinstance(element, SeriesForce):
            result[element.state] = minus(element.line(s).length, element.law.rest)
    return [as_symbol(entry) for entry in result]

"""Angles probably meant in degrees: plain numbers, read as rad, of more than two turns."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees, pi

from core.model.dimensions import dimension_of, nested_with_owners
from core.model.fields import Element, ScalarKind, VectorKind, fields_of
from core.model.formula.expression import Negative, Number, parse
from core.model.model import Model
from core.model.validation.findings import Finding

FEWEST, MOST = 4.0 * pi, 3600.0
"""rad; within two turns a number may well be in rad; far beyond ten turns in degrees it counts something else."""
ROUNDING = 1e-3
"""Relative tolerance for two turns rounded in a file."""


def angles_meant_in_degrees(model: Model) -> Iterator[Finding]:
    """Yield a finding for each field with an angle implausible in rad."""
    for collection, element in [*model.elements(), ("world", model.world)]:
        for owners, which in nested_with_owners(element):
            for field, number in _angle_numbers(model, owners, which):
                yield Finding(
                    "hint",
                    f"{number:g} is read in radians, as {degrees(number):.0f}°: it is likely meant in degrees.",
                    f'Write "{number:g} deg" if so.',
                    collection,
                    getattr(element, "name", ""),
                    field,
                )


def _angle_numbers(model: Model, owners: tuple[Element, ...], which: int | None) -> Iterator[tuple[str, float]]:
    for field in fields_of(type(owners[-1])):
        if not isinstance(field.kind, ScalarKind | VectorKind):
            continue
        value = getattr(owners[-1], field.name)
        several = isinstance(field.kind, VectorKind)
        for index, item in enumerate(value if several else (value,)):
            number = _plain_number(item)
            if FEWEST * (1.0 + ROUNDING) < abs(number) <= MOST:
                index_in = index if several else which
                if dimension_of(model, owners, field, index_in) == "angle":
                    yield field.name, number
                    break


def _plain_number(value: object) -> float:
    """Return a number given without a unit; 0 for anything else."""
    if isinstance(value, str):
        match parse(value):
            case Number(number, ""):
                return number
            case Negative(Number(number, "")):
                return -number
        return 0.0
    return value if isinstance(value, float) else 0.0

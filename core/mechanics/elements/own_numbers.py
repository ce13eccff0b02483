"""User-defined numbers of an element, as passed to the functions of its kind."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

from core.mechanics.multibody.number_reader import Numbers
from core.model import Constraint, Force
from core.model.declared_numbers import value_of


@cache
def named(*names: str) -> type[Any]:
    """Return a named-tuple class with the given field names."""
    return namedtuple("Numbers", names)


def numbers_of(element: Force | Constraint, where: str, numbers: Numbers) -> Any:
    """Return an element's values of its kind's `numbers`, as a named tuple in SI. Raises ModelError."""
    declared = element.info.numbers
    values = (numbers.scalar(value_of(each, element.settings), f"{where}, settings {each.name}") for each in declared)
    return named(*(each.name for each in declared))(*values)

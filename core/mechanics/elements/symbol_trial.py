"""User-defined element kinds: their numbers, and checks before registration that their functions work with symbols and
return the right number of scalars.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from functools import cache
from typing import Any

import casadi as ca

from core.kinds import KindError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Constraint, Force, Quantity
from core.model.declared_numbers import value_of
from core.model.units import is_si


@cache
def named(*names: str) -> type[Any]:
    """Return a named-tuple class with the given field names."""
    return namedtuple("Numbers", names)


def numbers_of(element: Force | Constraint, where: str, numbers: Numbers) -> Any:
    """Return an element's values of its kind's `numbers`, as a named tuple in SI. Raises ModelError."""
    declared = element.info.numbers
    values = (numbers.scalar(value_of(each, element.settings), f"{where}, settings {each.name}") for each in declared)
    return named(*(each.name for each in declared))(*values)


def symbols(*names: str) -> Any:
    """Return a named tuple of symbols."""
    return named(*names)(*map(ca.SX.sym, names))


def check_document_facts(kind: type[Any]) -> None:
    """Raise KindError unless the kind describes itself for documents under its own name."""
    try:
        facts = kind.in_document()
    except KeyError:
        raise KindError(f"The kind '{kind.name}' is refused: it does not define 'in_document'.") from None
    if facts.name != kind.name:
        raise KindError(f"The kind '{kind.name}' is refused: its 'in_document' returns the name '{facts.name}'.")


def check_field_names(kind: type[Any], member: str, names: Iterable[str]) -> None:
    """Raise KindError unless names can be fields of a named tuple."""
    try:
        named(*names)
    except ValueError as error:
        raise KindError(f"The kind '{kind.name}' is refused: its '{member}': {error}.") from None


def check_si_units(kind: type[Any], numbers: Iterable[Quantity]) -> None:
    """Raise KindError unless each number's unit is an SI unit or empty."""
    for number in numbers:
        if not is_si(number.unit):
            raise KindError(
                f"The kind '{kind.name}' is refused: its 'numbers': '{number.unit}' of '{number.name}' is "
                "not an SI unit.",
                remedy="Use an SI unit such as m, N/m, N·m·s/rad or 1/m; leave it empty for a dimensionless number.",
            )


def tried(kind: type[Any], member: str, count: int, *arguments: Any) -> None:
    """Raise KindError, which names kind and member, unless a static function of symbols returns `count` scalars."""
    refused = f"The kind '{kind.name}' is refused: its '{member}'"
    try:
        found = getattr(kind, member)(*arguments)
    except Exception as error:
        raise KindError(f"{refused} fails ({type(error).__name__}: {error}).") from error
    given = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(given) != count or not all(map(_is_scalar, given)):
        raise KindError(f"{refused} returns {found!r} instead of {count} scalar{'s' if count != 1 else ''}.")


def _is_scalar(x: Any) -> bool:
    return isinstance(x, int | float) or (isinstance(x, ca.SX) and bool(x.is_scalar()))

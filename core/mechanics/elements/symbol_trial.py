"""User-defined element kinds: their numbers, and checks before registration that their functions work with symbols and
return the right number of scalars.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

from core.kinds import KindError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Constraint, Force
from core.model.declared_numbers import quantity_value


@cache
def named_tuple_type(*names: str) -> type[Any]:
    """Return a named-tuple class with the given field names."""
    return namedtuple("Numbers", names)


def read_numbers(element: Force | Constraint, where: str, numbers: Numbers) -> Any:
    """Return an element's values of its kind's `numbers`, as a named tuple in SI. Raises ModelError."""
    declared = element.info.numbers
    values = (
        numbers.scalar(quantity_value(each, element.settings), f"{where}, settings {each.name}") for each in declared
    )
    return named_tuple_type(*(each.name for each in declared))(*values)


def named_symbols(*names: str) -> Any:
    """Return a named tuple of symbols."""
    import casadi as ca  # documents know the kinds, and are read without it

    return named_tuple_type(*names)(*map(ca.SX.sym, names))


def check_member(kind: type[Any], member: str, count: int, *arguments: Any) -> None:
    """Check that a static function of a user-defined kind, called with symbols, returns `count` scalars. Raises
    KindError with kind and member."""
    refused = f"The kind '{kind.name}' is refused: its '{member}'"
    try:
        found = getattr(kind, member)(*arguments)
    except Exception as error:
        raise KindError(f"{refused} fails ({type(error).__name__}: {error}).") from error
    given = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(given) != count or not all(map(_is_scalar, given)):
        raise KindError(f"{refused} returns {found!r} instead of {count} scalar{'s' if count != 1 else ''}.")


def _is_scalar(x: Any) -> bool:
    import casadi as ca

    return isinstance(x, int | float) or (isinstance(x, ca.SX) and bool(x.is_scalar()))

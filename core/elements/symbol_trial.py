"""Kinds from outside are tried before they are taken in: their functions must run over symbols and give what is due."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca

from core.elements.own_numbers import named
from core.kinds import KindError
from core.model import Quantity
from core.model.units.compound_units import is_si


def symbols(*names: str) -> Any:
    """A named tuple of symbols."""
    return named(*names)(*map(ca.SX.sym, names))


def told_to_document(kind: type[Any]) -> None:
    """Raises KindError unless the document is told of a kind under its name."""
    try:
        facts = kind.in_document()
    except KeyError:
        raise KindError(f"The kind '{kind.name}' is refused: it lacks 'in_document'.") from None
    if facts.name != kind.name:
        raise KindError(f"The kind '{kind.name}' is refused: its 'in_document' calls it '{facts.name}'.")


def usable_names(kind: type[Any], member: str, names: Iterable[str]) -> None:
    """Raises KindError unless these can be names of a named tuple."""
    try:
        named(*names)
    except ValueError as error:
        raise KindError(f"The kind '{kind.name}' is refused: its '{member}': {error}.") from None


def usable_units(kind: type[Any], numbers: Iterable[Quantity]) -> None:
    """Raises KindError unless each number has a unit of SI, or none."""
    for number in numbers:
        if not is_si(number.unit):
            raise KindError(
                f"The kind '{kind.name}' is refused: its 'numbers': '{number.unit}' of '{number.name}' is no SI unit.",
                remedy="Give it in SI, such as m, N/m, N·m·s/rad, 1/m; leave it empty for a pure number.",
            )


def tried(kind: type[Any], member: str, count: int, *arguments: Any) -> None:
    """Raises KindError, which names kind and member, unless a static function gives so many scalars of symbols."""
    refused = f"The kind '{kind.name}' is refused: its '{member}'"
    try:
        found = getattr(kind, member)(*arguments)
    except Exception as error:
        raise KindError(f"{refused} fails ({type(error).__name__}: {error}).") from error
    given = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(given) != count or not all(map(_is_scalar, given)):
        raise KindError(f"{refused} gives {found!r}, not {count} scalar{'s' if count != 1 else ''}.")


def _is_scalar(x: Any) -> bool:
    return isinstance(x, int | float) or (isinstance(x, ca.SX) and bool(x.is_scalar()))

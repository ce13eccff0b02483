"""Checks of user-defined element kinds before registration: their functions must work with symbols and return the right
number of scalars."""

from __future__ import annotations

from typing import Any

from core.kinds import KindError
from core.mechanics.elements.own_numbers import named


def symbols(*names: str) -> Any:
    """Return a named tuple of symbols."""
    import casadi as ca  # documents know the kinds, and are read without it

    return named(*names)(*map(ca.SX.sym, names))


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
    import casadi as ca

    return isinstance(x, int | float) or (isinstance(x, ca.SX) and bool(x.is_scalar()))

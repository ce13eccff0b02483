"""Cache of compiled code derived from a program's functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from core.codegen.flat_code import FlatCode
from core.programs.program import Program

_known: WeakKeyDictionary[Program, dict[Hashable, FlatCode]] = WeakKeyDictionary()


def known_code(program: Program, key: Hashable, make: Callable[[], FlatCode]) -> FlatCode:
    """Return code of a program from the cache, made on first use."""
    known = _known.setdefault(program, {})
    if key not in known:
        known[key] = make()
    return known[key]

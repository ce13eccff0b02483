"""Qt's Python side is loaded without what it compiles for others: patterns that find signatures and write stubs, which
take half of its import, are compiled when they are first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HELPERS = "shibokensupport."
"""Modules of PySide that are written in Python."""


METHODS = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}


class LaterPattern:
    """A pattern that is compiled when one of its methods is called, or something else of it looked up."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # e.g. whether a member of a class is abstract
            raise AttributeError(name)
        return LaterMethod(self, name) if name in METHODS else getattr(self.compiled(), name)

    def compiled(self) -> re.Pattern[str]:
        """The pattern itself, which `re` remembers."""
        return re.compile(self._pattern, self._flags)


class LaterMethod:
    """A method of a later pattern."""

    def __init__(self, pattern: LaterPattern, name: str) -> None:
        self._pattern, self._name = pattern, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return getattr(self._pattern.compiled(), self._name)(*arguments, **options)


@contextmanager
def later_patterns() -> Iterator[None]:
    """Meanwhile the patterns of these modules are later ones."""
    compiled = re.compile

    def compile_later(pattern: Any, flags: Any = 0) -> Any:
        if str(sys._getframe(1).f_globals.get("__name__", "")).startswith(HELPERS):
            return LaterPattern(pattern, flags)
        return compiled(pattern, flags)

    re.compile = compile_later  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile = compiled

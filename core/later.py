"""What is imported when it is first needed: a program that starts loads what it uses and no more.

Functions import inside themselves what only they need. Tables and packages, which name more than anybody uses at a
time, say here where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def function(package: str, place: str) -> Callable[..., Any]:
    """A function of a package, whose module is imported at the first call; place : "module.function"."""
    module, _, name = place.rpartition(".")

    def found() -> Callable[..., Any]:
        """The function itself."""
        named: Callable[..., Any] = getattr(import_module(f"{package}.{module}"), name)
        return named

    def call(*arguments: Any, **options: Any) -> Any:
        return found()(*arguments, **options)

    call.found = found  # type: ignore[attr-defined]
    return call


def names(package: str, places: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that offers names of its modules.

    places : module in the package → the names that are looked up there when they are first asked for
    """
    place = {name: f"{package}.{module}" for module, offered in places.items() for name in offered}

    def look_up(name: str) -> Any:
        if name not in place:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(place[name]), name)
        setattr(import_module(package), name, value)
        return value

    return look_up

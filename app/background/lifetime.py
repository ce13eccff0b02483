"""Objects that work and listen to signals until they are closed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

Owned = TypeVar("Owned", bound="Closable")


class Closable(Protocol):
    """An object that works, or listens to signals, until it is closed."""

    def close(self) -> object:
        """Stop working and listening."""
        ...


class Lifetime(ExitStack):
    """Closes owned objects and disconnects signals at the end of its owner, the newest first."""

    def own(self, thing: Owned) -> Owned:
        """Close an object at the end; returns the object."""
        self.callback(thing.close)
        return thing

    def listen(self, *pairs: tuple[Any, Callable[..., object]]) -> None:
        """Connect signals to slots until the end."""
        for signal, slot in pairs:
            signal.connect(slot)
            self.callback(signal.disconnect, slot)

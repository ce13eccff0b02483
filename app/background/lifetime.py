"""Things with a life: they work and listen until they are closed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

Owned = TypeVar("Owned", bound="Closable")


class Closable(Protocol):
    """Something that works, or listens, until it is closed."""

    def close(self) -> object:
        """Work and listen no more."""
        ...


class Lifetime(ExitStack):
    """What ends together with its owner, the newest first."""

    def own(self, thing: Owned) -> Owned:
        """Close a thing at the end."""
        self.callback(thing.close)
        return thing

    def listen(self, *pairs: tuple[Any, Callable[..., object]]) -> None:
        """Connect signals to slots until the end."""
        for signal, slot in pairs:
            signal.connect(slot)
            self.callback(signal.disconnect, slot)

"""Signals of objects that are not Qt objects, whose listeners are called immediately, one after another; and the
lifetime of objects that listen."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from types import MethodType
from typing import Any, Protocol, TypeVar, overload

Slot = Callable[..., object]


class Signal:
    """Signal declared in a class with the types of its arguments; each object of the class has its own listeners."""

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> Signal: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Listeners: ...

    def __get__(self, owner: object | None, kind: type) -> Signal | Listeners:
        """The listeners of an object; kept in it, so that they are found without asking here again."""
        if owner is None:
            return self
        listeners: Listeners = vars(owner).setdefault(self._name, Listeners())
        return listeners


class Listeners:
    """Listeners of one object's signal. A bound method is dropped when its object is deleted."""

    def __init__(self) -> None:
        self._slots: list[_Listener] = []

    def __len__(self) -> int:
        return len(self._slots)

    def connect(self, slot: Slot) -> None:
        """Call `slot` with the emitted values, or with as many of them as it accepts."""
        self._slots.append(_Listener(slot))

    def disconnect(self, slot: Slot) -> None:
        """Stop calling a slot; does nothing if it is not connected."""
        for listener in self._slots:
            if listener.slot() == slot:
                listener.wanted = False
                self._slots.remove(listener)
                return

    def emit(self, *values: Any) -> None:
        """Call all listeners. An error in one of them is raised to the caller; the remaining ones are not called."""
        for listener in tuple(self._slots):
            slot = listener.slot()
            if slot is None:
                self._slots = [each for each in self._slots if each is not listener]
            elif listener.wanted:
                slot(*values[: listener.takes])


class _Listener:
    def __init__(self, slot: Slot) -> None:
        self.slot: Callable[[], Slot | None] = (
            weakref.WeakMethod(slot) if isinstance(slot, MethodType) else lambda: slot
        )
        self.takes = _most_arguments(slot)
        self.wanted = True


def _most_arguments(slot: Slot) -> int | None:
    """Return the largest number of arguments that a function accepts; None for any number, or if unknown."""
    function, bound = (slot.__func__, 1) if isinstance(slot, MethodType) else (slot, 0)
    code = getattr(function, "__code__", None)
    if code is not None:
        return None if code.co_flags & inspect.CO_VARARGS else code.co_argcount - bound
    try:
        parameters = inspect.signature(slot).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    return sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters)


Owned = TypeVar("Owned", bound="Closable")


class Closable(Protocol):
    """Protocol of an object that works, or listens to signals, until it is closed."""

    def close(self) -> object:
        """Stop working and listening."""
        ...


class Lifetime(ExitStack):
    """Closes owned objects and disconnects signals when its owner is closed, newest first."""

    def own(self, closable: Owned) -> Owned:
        """Register an object to be closed at the end, and return it."""
        self.callback(closable.close)
        return closable

    def listen(self, *pairs: tuple[Any, Callable[..., object]]) -> None:
        """Connect signals to slots until the end of the lifetime."""
        for signal, slot in pairs:
            signal.connect(slot)
            self.callback(signal.disconnect, slot)

"""Entry points: compiled functions with an address, callable from machine code and from Python.

Callers that know the address only are neither linked with a function nor compiled anew when its text changes: a method
is compiled once for all machines, and each is loaded alone, when it is first called for.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.codegen.object_code import LoadedLibrary

NUMBERS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double}
"""Allowed argument types: integers, addresses and floats."""
_once = threading.Lock()
"""Lock that lets one thread at a time load an entry point. Without it, of two threads that load it at once, one would
keep an address that the other has discarded."""
_FOLDER = __package__.rpartition(".")[0]
_provisional: dict[str, Entry] = {}
"""Loaded entry points whose code was made in a hurry, by name."""
_replaced: list[str] = []
"""Names of those whose code gave way to better code."""


def code_generation() -> int:
    """Return a number that grows whenever an entry point has got better code at another address."""
    for each in list(_provisional.values()):
        _ = each.address  # looks for better code
    return len(_replaced)


class Entry:
    """A compiled function with `int` and `float` arguments that returns an `int`, callable by its address."""

    def __init__(self, function: Callable[..., int]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.name = f"{function.__module__.removeprefix(f'{_FOLDER}.')}.{function.__name__}"
        *self.arguments, result = (str(getattr(each, "__name__", each)) for each in function.__annotations__.values())
        assert result == "int", self.name
        self._loaded: list[LoadedLibrary] = []
        self._is_final = False
        self._address = 0
        self._call: Any = None

    def __repr__(self) -> str:
        return f"<Entry {self.name}>"

    @property
    def address(self) -> int:
        """Return its address, loading or compiling the machine code on first use.

        Code that was made in a hurry gives way to better code as soon as that is there; it stays loaded, for who holds
        its address.
        """
        if not self._is_final:
            self._load_code()
        return self._address

    @property
    def is_final(self) -> bool:
        """Return True if the address will not change: the machine code is fully optimised."""
        return self._is_final

    def _load_code(self) -> None:
        from core.machine_code import supply

        with _once:
            if self._is_final or (self._address and not supply.AHEAD.has_compiled(self.name)):
                return
            library, is_final = supply.load_code(self.name)
            self._loaded.append(library)
            address = library.address("entry")
            kinds = [NUMBERS[each] for each in self.arguments]
            if self._address:
                _replaced.append(self.name)
            self._address, self._call = address, ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)
            if is_final:
                _provisional.pop(self.name, None)
            else:
                _provisional[self.name] = self
            self._is_final = is_final  # last: from now on other threads take both without waiting

    @property
    def is_loaded(self) -> bool:
        """Return True if machine code is there, perhaps not yet the best."""
        return self._address != 0

    @property
    def call(self) -> Any:
        """Return the C function itself, without Python overhead, for callers that call it often."""
        if not self._is_final:
            self._load_code()
        return self._call

    def __call__(self, *arguments: float) -> int:
        """Call the function, with the interpreter lock released."""
        given: int = self.call(*arguments)
        return given


def entry(function: Callable[..., int]) -> Entry:
    """Decorator that makes a function an entry point."""
    return Entry(function)

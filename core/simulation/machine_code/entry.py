"""Functions that are called by their addresses, by machine code and by Python alike.

Callers that know the address only are neither linked with a function nor compiled anew when its text changes: a method
is compiled once for all machines, and each is loaded alone, when it is first called for.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.codegen.object_code import Library

NUMBERS: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double}
"""What arguments may be: whole numbers, addresses, and numbers."""
_once = threading.Lock()
"""An entry is loaded by one thread at a time: of two that load it at once, one would have an address in what the other
throws away."""
_FOLDER = __package__.rpartition(".")[0]


class Entry:
    """A function in machine code with arguments `int` and `float`, by its address; it gives an `int`."""

    def __init__(self, function: Callable[..., int]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.name = f"{function.__module__.removeprefix(f'{_FOLDER}.')}.{function.__name__}"
        *self.arguments, result = (str(getattr(each, "__name__", each)) for each in function.__annotations__.values())
        assert result == "int", self.name
        self._loaded: list[Library] = []
        self._is_final = False
        self._address = 0
        self._call: Any = None

    def __repr__(self) -> str:
        return f"<Entry {self.name}>"

    @property
    def address(self) -> int:
        """Its address; the machine code is loaded, or made of the intermediate code, when this is first asked for.

        Code that was made in a hurry gives way to better code as soon as that is there; it stays loaded, for who holds
        its address.
        """
        if not self._is_final:
            self._load()
        return self._address

    def _load(self) -> None:
        from core.simulation.machine_code import supply

        with _once:
            if self._is_final or (self._address and not supply.AHEAD.has_made(self.name)):
                return
            library, is_final = supply.loaded(self.name)
            self._loaded.append(library)
            address = library.address("entry")
            kinds = [NUMBERS[each] for each in self.arguments]
            self._address, self._call = address, ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)
            self._is_final = is_final  # last: from now on other threads take both without waiting

    @property
    def call(self) -> Any:
        """The same for those who call it often: nothing of Python comes before it."""
        if not self._is_final:
            self._load()
        return self._call

    def __call__(self, *arguments: float) -> int:
        """Call it; the interpreter's lock is released meanwhile."""
        given: int = self.call(*arguments)
        return given


def entry(function: Callable[..., int]) -> Entry:
    """The mark of such a function."""
    return Entry(function)

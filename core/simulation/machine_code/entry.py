"""Functions that are called by their addresses, by machine code and by Python alike.

Callers that know the address only are neither linked with a function nor compiled anew when its text changes: a method
is compiled once for all machines, and each is loaded alone, when it is first called for.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cached_property
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
        self._library: Library | None = None

    def __repr__(self) -> str:
        return f"<Entry {self.name}>"

    @cached_property
    def address(self) -> int:
        """Where it is; its machine code is loaded, or made of the intermediate code, when this is first asked."""
        from core.simulation.machine_code.supply import library_of

        with _once:
            self._library = self._library or library_of(self.name)
            return self._library.address("entry")

    @cached_property
    def call(self) -> Any:
        """The same for who calls it often: no more of Python stands before it."""
        return ctypes.CFUNCTYPE(ctypes.c_int64, *(NUMBERS[each] for each in self.arguments))(self.address)

    def __call__(self, *arguments: float) -> int:
        """Call it; the interpreter's lock is released meanwhile."""
        given: int = self.call(*arguments)
        return given


def entry(function: Callable[..., int]) -> Entry:
    """The mark of such a function."""
    return Entry(function)

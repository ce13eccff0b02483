"""Functions of a machine (`core.programs.function_builder`) as machine code calls them: on memory of their own."""

from __future__ import annotations

from typing import Any

from core.machine_code.language import address_of, call_single, call_table, inserted, loader, merged, view
from core.machine_code.records import Fixed, Floats, Record


class Function(Record):
    """Function of the mechanism in machine code, see `core.programs.native_entry.Entry`."""

    address: Fixed
    table: Fixed
    rows: Fixed
    places: Fixed
    count: Fixed
    result: Fixed
    states: Fixed
    """Index of x and ẋ in its memory; −1: it does not take them."""
    time: Fixed
    """Index of the time argument; −1: it does not take it."""
    memory: Floats


load_function = loader(Function)


@merged
def evaluate_function(function: int) -> Any:
    """Call a function on its memory; returns false if a result that must be finite is not."""
    f = load_function(function)
    base = address_of(f.memory)
    if f.table == 0:
        return call_single(f.address, base) == 0
    return call_table(f.address, base, f.table, f.rows, f.places, f.count, base + 8 * f.result) == 0


@merged
def put_argument(function: int, offset: int, x: Any) -> None:
    """Copy x to an offset in the arguments of a function."""
    f = load_function(function)
    for i in range(len(x)):
        f.memory[offset + i] = x[i]


@merged
def result_address(function: int) -> Any:
    """Return the address of a function's result."""
    f = load_function(function)
    return address_of(f.memory) + 8 * f.result


@inserted
def result_view(function: int, count: int) -> Any:
    """Return a view of the first `count` numbers of a function's result."""
    return view(result_address(function), count)

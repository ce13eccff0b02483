"""Numbers and arrays that Python and machine code share: declared once, by the annotations of a class.

    class StepState(Record):
        accepted: int
        step: float
        y: Floats

In Python `state.step` is the number itself, in machine code too; there `load = loader(StepState)` finds the record by
its address. A name that is not declared fails when a function is compiled, and before that in the types.
"""

from __future__ import annotations

import ctypes
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
AnyRecord = TypeVar("AnyRecord", bound="Record")

Fixed = Annotated[int, "fixed"]
"""A whole number that never changes while machine code runs: read once where a function begins."""
Floats = Annotated[NDArray[np.float64], 1]
FloatRows = Annotated[NDArray[np.float64], 2]
Ints = Annotated[NDArray[np.int64], 1]
IntRows = Annotated[NDArray[np.int64], 2]
ComplexRows = Annotated[NDArray[np.complex128], 2]
"""Arrays row by row, of so many dimensions. A record holds their addresses and shapes; they stay what they are."""
_NUMBERS = {int: np.int64, float: np.float64}


class Field(NamedTuple):
    """One declaration of a record."""

    name: str
    number: type[Any]
    """int64, float64 or complex128 of NumPy."""
    dimensions: int
    """Of an array; 0: a number."""
    fixed: bool
    """True: read once; of an array address and shape."""
    offset: int
    """In words of eight bytes: of a number, or of an address, which the shape follows."""


def array_at(address: int, shape: tuple[int, ...], number: type[Any]) -> NDArray[Any]:
    """The array at an address, row by row; who owns it keeps it alive."""
    size = int(np.prod(shape)) * np.dtype(number).itemsize
    return np.ndarray(shape, number, memoryview((ctypes.c_char * size).from_address(int(address))))


def _declared(kind: type[Any]) -> tuple[Field, ...]:
    made: list[Field] = []
    offset = 0
    for name, hint in get_type_hints(kind, include_extras=True).items():
        declared, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if get_origin(declared) is ClassVar:
            continue
        if declared in _NUMBERS:
            made.append(Field(name, _NUMBERS[declared], 0, more == ["fixed"], offset))
            offset += 1
        else:
            number = get_args(get_args(declared)[1])[0]
            made.append(Field(name, number, more[0], True, offset))
            offset += 1 + more[0]
    return tuple(made)


def _property(field: Field) -> property:
    whole = field.number is np.int64

    def read(record: Record) -> Any:
        return int(record.words[field.offset]) if whole else float(record.words.view(np.float64)[field.offset])

    def write(record: Record, value: Any) -> None:
        (record.words if whole else record.words.view(np.float64))[field.offset] = value

    return property(read, write)


@dataclass_transform(kw_only_default=True)
class Record:
    """Words of memory with names. Give a value to every name when one is made; arrays are kept alive by it."""

    fields: ClassVar[tuple[Field, ...]]

    def __init__(self, **values: Any) -> None:
        if unknown := values.keys() ^ {field.name for field in self.fields}:
            raise TypeError(f"{type(self).__name__} declares otherwise: {', '.join(sorted(unknown))}.")
        self._bind(np.zeros(self._size(), dtype=np.int64))
        for field in self.fields:
            value = values[field.name]
            if field.dimensions:
                value = np.ascontiguousarray(value, field.number)
                assert value.ndim == field.dimensions, field.name
                self.words[field.offset : field.offset + 1 + value.ndim] = value.ctypes.data, *value.shape
            setattr(self, field.name, value)

    def __init_subclass__(cls) -> None:
        """Numbers are read and written where machine code does so."""
        cls.fields = _declared(cls)
        for field in cls.fields:
            if not field.dimensions:
                setattr(cls, field.name, _property(field))

    @classmethod
    def _size(cls) -> int:
        return sum(1 + field.dimensions for field in cls.fields)

    def _bind(self, words: NDArray[np.int64]) -> None:
        self.words = words
        self.place = int(words.ctypes.data)
        """Where machine code finds the record."""

    @classmethod
    def at(cls: type[AnyRecord], place: int) -> AnyRecord:
        """The record at an address."""
        record = cls.__new__(cls)
        record._bind(array_at(place, (cls._size(),), np.int64))
        for field in cls.fields:
            if field.dimensions:
                address, *shape = record.words[field.offset : field.offset + 1 + field.dimensions].tolist()
                setattr(record, field.name, array_at(address, tuple(shape), field.number))
        return record

"""Records of numbers and arrays shared by Python and machine code, declared once by class annotations.

    class StepState(Record):
        accepted: int
        step: float
        y: Floats

In Python `state.step` is the number itself, in machine code too; there `load = loader(StepState)` finds the record by
its address. A name that is not declared fails when a function is compiled, and before that in the types.
"""

from __future__ import annotations

import ctypes
import struct
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


class MemoryLayout(NamedTuple):
    """Memory layout given by a field's annotation; independent of NumPy's own array type hints, which vary by
    version."""

    number: type[Any]
    """NumPy type int64, float64 or complex128."""
    dimensions: int = 0
    """Number of dimensions of an array stored row by row; 0: a single number."""


Fixed = Annotated[int, MemoryLayout(np.int64)]
"""An integer that is constant while machine code runs."""
Floats = Annotated[NDArray[np.float64], MemoryLayout(np.float64, 1)]
FloatRows = Annotated[NDArray[np.float64], MemoryLayout(np.float64, 2)]
Ints = Annotated[NDArray[np.int64], MemoryLayout(np.int64, 1)]
IntRows = Annotated[NDArray[np.int64], MemoryLayout(np.int64, 2)]
ComplexRows = Annotated[NDArray[np.complex128], MemoryLayout(np.complex128, 2)]
"""Arrays stored row by row. A record holds their addresses and shapes, which are constant."""
_NUMBERS = {int: np.int64, float: np.float64}


def array_address(array: NDArray[Any]) -> int:
    """Return the address of a contiguous array (0: it is empty), valid as long as the caller keeps the array alive;
    faster than NumPy's own attribute."""
    if not array.size:
        return 0
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data)) if array.flags.writeable else int(array.ctypes.data)


class Field(NamedTuple):
    """One declared field of a record."""

    name: str
    number: type[Any]
    """NumPy type int64, float64 or complex128."""
    dimensions: int
    """Number of dimensions; 0: a single number."""
    fixed: bool
    """True: constant while machine code runs; for arrays this concerns address and shape."""
    offset: int
    """Offset in 8-byte words of a number, or of an array's address, followed by its shape."""
    default: Any
    """Default value; None: a value is required."""


def array_at(address: int, shape: tuple[int, ...], number: type[Any]) -> NDArray[Any]:
    """Return the array at an address, stored row by row; its owner must keep it alive."""
    size = int(np.prod(shape)) * np.dtype(number).itemsize
    return np.ndarray(shape, number, memoryview((ctypes.c_char * size).from_address(int(address))))


def _read_declared_fields(kind: type[Any]) -> tuple[Field, ...]:
    made: list[Field] = []
    offset, before = 0, {field.name: field.default for field in getattr(kind, "fields", ())}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is ClassVar:
            continue
        fixed = get_origin(hint) is Annotated
        form = get_args(hint)[1] if fixed else MemoryLayout(_NUMBERS[hint])
        default = before[name] if name in before else vars(kind).get(name)
        made.append(Field(name, form.number, form.dimensions, fixed, offset, default))
        offset += 1 + form.dimensions
    return tuple(made)


def _struct_format(field: Field) -> str:
    """Return the `struct` format of a field."""
    return "q" * (1 + field.dimensions) if field.dimensions or field.number is np.int64 else "d"


def _memory_property(field: Field) -> property:
    at = field.offset
    if field.number is np.int64:
        return property(lambda record: record._whole[at], lambda record, value: record._whole.__setitem__(at, value))
    return property(lambda record: record._floats[at], lambda record, value: record._floats.__setitem__(at, value))


@dataclass_transform(kw_only_default=True)
class Record:
    """Named words of memory. Declared fields without a default need a value at construction; the record keeps its
    arrays alive."""

    fields: ClassVar[tuple[Field, ...]]
    _names: ClassVar[frozenset[str]]
    _defaults: ClassVar[dict[str, Any]]
    _words: ClassVar[int]
    _offsets: ClassVar[dict[str, int]]
    _packed: ClassVar[struct.Struct]

    def __init__(self, **values: Any) -> None:
        values = self._defaults | values
        if len(values) != len(self.fields) or values.keys() != self._names:
            unknown = ", ".join(sorted(values.keys() ^ self._names))
            raise TypeError(f"{type(self).__name__} does not match its declaration: {unknown}.")
        words: list[Any] = []
        for name, number, dimensions, *_ in self.fields:
            value = values[name]
            if dimensions:
                value = self.__dict__[name] = np.ascontiguousarray(value, number)
                assert value.ndim == dimensions, name
                words += array_address(value), *value.shape
            else:
                words.append(value)
        self._bind_arrays(np.frombuffer(bytearray(self._packed.pack(*words)), dtype=np.int64))

    def copy_with_own_arrays(self: AnyRecord, *names: str) -> AnyRecord:
        """Return a copy of the record with copies of the named arrays; other arrays are shared."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        words = self.words.copy()
        for name in names:
            array = getattr(self, name)
            if array.size:
                own = other.__dict__[name] = array.copy()
                words[self._offsets[name]] = array_address(own)
        other._bind_arrays(words)
        return other

    def __init_subclass__(cls) -> None:
        """Create properties that access the same memory as machine code."""
        cls.fields = _read_declared_fields(cls)
        cls._names = frozenset(field.name for field in cls.fields)
        cls._defaults = {field.name: field.default for field in cls.fields if field.default is not None}
        cls._words = sum(1 + field.dimensions for field in cls.fields)
        cls._offsets = {field.name: field.offset for field in cls.fields}
        cls._packed = struct.Struct("=" + "".join(map(_struct_format, cls.fields)))
        for field in cls.fields:
            if not field.dimensions:
                setattr(cls, field.name, _memory_property(field))

    @classmethod
    def _size_in_words(cls) -> int:
        return cls._words

    def _bind_arrays(self, words: NDArray[np.int64]) -> None:
        self.words, self._whole, self._floats = words, words.data, words.view(np.float64).data
        self.place = int(words.ctypes.data)
        """Address of the record for machine code."""

    @classmethod
    def at(cls: type[AnyRecord], place: int) -> AnyRecord:
        """Return the record at an address."""
        record = cls.__new__(cls)
        record._bind_arrays(array_at(place, (cls._size_in_words(),), np.int64))
        for field in cls.fields:
            if field.dimensions:
                address, *shape = record.words[field.offset : field.offset + 1 + field.dimensions].tolist()
                setattr(record, field.name, array_at(address, tuple(shape), field.number))
        return record

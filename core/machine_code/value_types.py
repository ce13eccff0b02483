"""Types of values in machine code and their spelling in LLVM IR."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from core.machine_code.records import Record


@dataclass(frozen=True)
class Scalar:
    """Number or truth value; operands of lower rank are converted to the higher rank."""

    name: str
    llvm: str
    rank: int

    def __str__(self) -> str:
        return self.name


BOOL, INT, FLOAT = Scalar("bool", "i1", 0), Scalar("int", "i64", 1), Scalar("float", "double", 2)
COMPLEX = Scalar("complex", "{double, double}", 3)
NOTHING = Scalar("None", "void", -1)
"""Result type of a function that returns nothing."""
POINTER = Scalar("address", "ptr", -2)
"""LLVM pointer type, used within IR only; the language itself handles addresses as integers."""
SCALARS: dict[Any, Scalar] = {
    kind: scalar
    for scalar, kinds in {
        BOOL: (bool, "bool", np.bool_),
        INT: (int, "int", np.int64),
        FLOAT: (float, "float", np.float64),
        COMPLEX: (complex, "complex", np.complex128),
        NOTHING: (None, "None"),
    }.items()
    for kind in kinds
}
"""Scalar types by Python type, by annotation name, and by NumPy type."""


@dataclass(frozen=True)
class ArrayType:
    """View of memory stored row by row: the address of its first number, then its lengths."""

    number: Scalar
    dimensions: int

    @property
    def llvm(self) -> str:
        """Return the LLVM type: a structure of the address and the lengths."""
        return f"{{{', '.join(['ptr'] + ['i64'] * self.dimensions)}}}"

    def __str__(self) -> str:
        return f"{self.number}[{','.join(':' * self.dimensions)}]"


@dataclass(frozen=True)
class RecordType:
    """A record, passed by its address."""

    kind: type[Record]
    llvm = "ptr"

    def __str__(self) -> str:
        return self.kind.__name__


@dataclass(frozen=True)
class TupleType:
    """Several values returned together."""

    parts: tuple[Type, ...]

    @property
    def llvm(self) -> str:
        """Return the LLVM type: a structure of its components."""
        return f"{{{', '.join(part.llvm for part in self.parts)}}}"

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


Type = Scalar | ArrayType | RecordType | TupleType


class Value(NamedTuple):
    """A typed value: a constant, or the name of an intermediate result in LLVM IR."""

    type: Type
    text: str

    def __str__(self) -> str:
        """Return the value as an LLVM operand, type first."""
        return f"{self.type.llvm} {self.text}"


def common_type(first: Type | None, second: Type) -> Type:
    """Return the common type of a variable that is assigned values of two types. Raises TypeError if there is none."""
    if first is None or first == second:
        return second
    if isinstance(first, Scalar) and isinstance(second, Scalar) and min(first.rank, second.rank) >= 0:
        return max(first, second, key=lambda scalar: scalar.rank)
    if isinstance(first, TupleType) and isinstance(second, TupleType) and len(first.parts) == len(second.parts):
        return TupleType(tuple(common_type(a, b) for a, b in zip(first.parts, second.parts, strict=True)))
    raise TypeError(f"values of type {first} and {second} cannot be assigned to the same variable")


def constant_value(number: Any) -> Value:
    """Wrap a Python number as a constant. Raises TypeError for anything else."""
    if isinstance(number, bool | np.bool_):
        return Value(BOOL, str(bool(number)).lower())
    if isinstance(number, int | np.integer):
        return Value(INT, str(int(number)))
    if isinstance(number, float | np.floating):
        return Value(FLOAT, f"0x{struct.unpack('>Q', struct.pack('>d', float(number)))[0]:016X}")
    if isinstance(number, complex):
        real, imag = constant_value(number.real), constant_value(number.imag)
        return Value(COMPLEX, f"{{{real}, {imag}}}")
    raise TypeError(f"{number!r} is not a number")

"""Generates LLVM IR for memory views: record fields, array elements, rows, slices, and counted loops."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence

from core.machine_code.llvm_writer import IrWriter
from core.machine_code.records import Field
from core.machine_code.value_types import (
    INT,
    POINTER,
    SCALARS,
    ArrayType,
    RecordType,
    Scalar,
    Value,
    constant_value,
)


class ArrayWriter(IrWriter):
    """IR writer with support for arrays and records. Raises TypeError for unsupported operations."""

    # ---------------------------------------------------------------------------- records

    def assignable_field(self, record: Value, name: str) -> tuple[Scalar, str]:
        """Return type and address of an assignable record field."""
        field = _find_field(record, name)
        if field.fixed:
            raise TypeError(f"{field.name} of {record.type} is read-only")
        return SCALARS[field.number], self._record_word(record, field.offset)

    def field_value(self, record: Value, name: str) -> Value:
        """Return the value of a record field. Addresses and lengths of arrays are constant while machine code runs."""
        field = _find_field(record, name)
        number, place = SCALARS[field.number], self._record_word(record, field.offset)
        if not field.dimensions:
            return self.load(number, place, field.fixed)
        first = self.load(POINTER, place, constant=True)
        words = [self._record_word(record, field.offset + 1 + k) for k in range(field.dimensions)]
        return self.view(
            ArrayType(number, field.dimensions), first.text, [self.load(INT, word, True) for word in words]
        )

    def _record_word(self, record: Value, offset: int) -> str:
        return self.write_result(POINTER, f"getelementptr inbounds i64, {record}, i64 {offset}").text

    # ---------------------------------------------------------------------------- arrays

    def view(self, kind: ArrayType, address: str, lengths: Sequence[Value]) -> Value:
        """Return the array that begins at an address."""
        return self.build_structure(kind, [Value(POINTER, address), *lengths])

    def length(self, view: Value) -> Value:
        """Return the value of `len(view)`."""
        _array_type(view)
        return self.part(view, 1, INT)

    def element(self, view: Value, indices: Sequence[Value]) -> tuple[Scalar, str]:
        """Return type and address of an array element; of the first element of a row if fewer indices are given."""
        kind = _array_type(view)
        if not 0 < len(indices) <= kind.dimensions:
            raise TypeError(f"{kind} cannot be indexed with {len(indices)} indices")
        offset = indices[0]
        for k in range(1, kind.dimensions):
            offset = self.integer_operation("mul", offset, self.part(view, k + 1, INT))
            if k < len(indices):
                offset = self.integer_operation("add", offset, indices[k])
        first = self.part(view, 0, POINTER)
        return kind.number, self.write_result(
            POINTER, f"getelementptr inbounds {kind.number.llvm}, {first}, {offset}"
        ).text

    def element_or_row(self, view: Value, indices: Sequence[Value]) -> Value:
        """Return an element, or a row."""
        number, place = self.element(view, indices)
        left = _array_type(view).dimensions - len(indices)
        if left == 0:
            return self.load(number, place)
        lengths = [self.part(view, 1 + len(indices) + k, INT) for k in range(left)]
        return self.view(ArrayType(number, left), place, lengths)

    def slice(self, view: Value, first: Value | None, end: Value | None) -> Value:
        """Return `view[first:end]`, clipped to the array's end; neither bound may be negative."""
        kind, length = _array_type(view), self.length(view)

        def clip_bound(bound: Value) -> Value:
            return self.select_value(self.comparison(ast.Lt(), bound, length), bound, length)

        begin = constant_value(0) if first is None else clip_bound(first)
        count = self.integer_operation("sub", length if end is None else clip_bound(end), begin)
        count = self.select_value(self.comparison(ast.Gt(), count, constant_value(0)), count, constant_value(0))
        others = [self.part(view, k + 1, INT) for k in range(1, kind.dimensions)]
        return self.view(kind, self.element(view, [begin])[1], [count, *others])

    # ---------------------------------------------------------------------------- loops

    @contextlib.contextmanager
    def count(self, first: Value, end: Value, step: Value) -> Iterator[tuple[Value, tuple[str, str]]]:
        """Context in which the body of `for k in range(first, end, step)` is written.

        Gives k, which the body may change without effect on the next turn, and the labels that `continue` and `break`
        jump to.
        """
        place, again, inside = self.allocate_variable(INT, "k"), self.label("for"), self.label("body")
        following, behind = self.label("next"), self.label("endfor")
        self.store(first, place)
        self.begin(again)
        now = self.load(INT, place)
        goes_on = self.comparison(ast.Lt(), now, end)
        if not step.text.isdecimal():
            upwards = self.comparison(ast.Gt(), step, constant_value(0))
            goes_on = self.select_value(upwards, goes_on, self.comparison(ast.Gt(), now, end))
        self.branch(goes_on, inside, behind)
        self.begin(inside)
        yield now, (following, behind)
        self.begin(following)
        self.store(self.integer_operation("add", self.load(INT, place), step), place)
        self.jump(again)
        self.begin(behind)


def _find_field(record: Value, name: str) -> Field:
    if not isinstance(record.type, RecordType):
        raise TypeError(f"{record.type} has no fields")
    for field in record.type.kind.fields:
        if field.name == name:
            return field
    raise TypeError(f"{record.type} declares no '{name}'")


def _array_type(view: Value) -> ArrayType:
    if not isinstance(view.type, ArrayType):
        raise TypeError(f"{view.type} is not an array")
    return view.type

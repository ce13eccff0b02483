"""C99 code of a traced function: straight-line code in which each variable is assigned once.

Functions of many instructions are cut into pieces, since compilers need more than linear time for long ones; what one
piece leaves for a later one lies in an array `w`, whose places are used again once nobody reads them any more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from core.codegen.instructions import Instruction, list_instructions
from core.codegen.llvm_ir import LIBRARY

LONGEST = 4000
"""Maximum number of instructions of a function that is not split."""
PIECE = 1000
"""Number of instructions per part of a split function."""

_PLAIN = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "{one} / {0}",
    ca.OP_LT: "({0} < {1}) ? {one} : {zero}",
    ca.OP_LE: "({0} <= {1}) ? {one} : {zero}",
    ca.OP_EQ: "({0} == {1}) ? {one} : {zero}",
    ca.OP_NE: "({0} != {1}) ? {one} : {zero}",
    ca.OP_NOT: "({0} == {zero}) ? {one} : {zero}",
    ca.OP_AND: "(({0} != {zero}) && ({1} != {zero})) ? {one} : {zero}",
    ca.OP_OR: "(({0} != {zero}) || ({1} != {zero})) ? {one} : {zero}",
    ca.OP_IF_ELSE_ZERO: "({0} != {zero}) ? {1} : {zero}",
    ca.OP_SIGN: "({0} > {zero}) ? {one} : (({0} < {zero}) ? -{one} : {0})",
}
_CALLS = {
    ca.OP_SQRT: ("sqrt", 1),
    ca.OP_SIN: ("sin", 1),
    ca.OP_COS: ("cos", 1),
    ca.OP_FABS: ("fabs", 1),
    ca.OP_FLOOR: ("floor", 1),
    ca.OP_CEIL: ("ceil", 1),
    ca.OP_FMIN: ("fmin", 2),
    ca.OP_FMAX: ("fmax", 2),
    ca.OP_COPYSIGN: ("copysign", 2),
    **LIBRARY,
}
"""Operations that are functions of <math.h>: name and number of arguments."""

_SELECTING = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO, ca.OP_SIGN}
_EXACT = {ca.OP_FABS, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMIN, ca.OP_FMAX, ca.OP_COPYSIGN}
_KIND = {
    **dict.fromkeys((ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE), "additions"),
    **dict.fromkeys((ca.OP_MUL, ca.OP_SQ), "multiplications"),
    **dict.fromkeys((ca.OP_DIV, ca.OP_INV), "divisions"),
    ca.OP_SQRT: "square roots",
    **dict.fromkeys(_SELECTING | _EXACT, "selections"),
    **{operation: "transcendental" for operation in _CALLS if operation not in {ca.OP_SQRT, *_EXACT}},
}
COUNTED = ("additions", "multiplications", "divisions", "square roots", "transcendental", "selections")


class Precision(NamedTuple):
    """Floating-point format of the C code: type, suffix of function names, suffix of constants."""

    type: str
    suffix: str

    def format_number(self, value: float) -> str:
        """Write a constant exactly: short ones in decimal, others in hexadecimal with the decimal value as comment."""
        if math.isnan(value):
            return "NAN"
        if math.isinf(value):
            return "INFINITY" if value > 0.0 else "-INFINITY"
        if value == round(value, 3) and abs(value) < 1e6 and float(value * 1024.0).is_integer():
            return f"{value!r}{self.suffix}"
        return f"{float(value).hex()}{self.suffix} /* {value:.9g} */"


PRECISIONS = {"double": Precision("double", ""), "float": Precision("float", "f")}


class CFunction(NamedTuple):
    """Static C function `void name(const T a0[], …, T y[])`.

    text : of the function, those of its pieces before it
    used : which arguments it takes; the others do not stand in its head
    size : numbers of its result
    operations : (kind, number) as `COUNTED` names the kinds
    """

    name: str
    text: str
    used: tuple[int, ...]
    size: int
    operations: dict[str, int]

    def call(self, arguments: Sequence[str], result: str) -> str:
        """Return the C statement that calls the function; arguments : all arguments, used or not."""
        return f"{self.name}({', '.join([*(arguments[i] for i in self.used), result])});"


def write_c_function(name: str, function: ca.Function, precision: Precision, letters: Sequence[str]) -> CFunction:
    """Return the C code of a traced function with one result; letters : names of its arguments.

    Raises NotImplementedError for an operation that C has none for.
    """
    instructions = list_instructions(function)
    read = {source for ins in instructions for source in ins.sources}
    used = tuple(sorted({ins.place[0] for ins in instructions if ins.operation == ca.OP_INPUT and ins.target in read}))
    writer = _Writer(name, instructions, precision, [letters[i] for i in range(function.n_in())], used)
    counts = dict.fromkeys(COUNTED, 0)
    for ins in instructions:
        if ins.operation in _KIND:
            counts[_KIND[ins.operation]] += 1
    return CFunction(name, writer.function_text(), used, function.size1_out(0), counts)


class _Writer:
    """Writer of one C function, in one piece or split."""

    def __init__(
        self,
        name: str,
        instructions: Sequence[Instruction],
        precision: Precision,
        letters: Sequence[str],
        used: Sequence[int],
    ) -> None:
        self.name, self.precision, self.letters, self.used = name, precision, letters, used
        self.instructions = instructions
        self.one, self.zero = precision.format_number(1.0), precision.format_number(0.0)
        self.names: dict[int, str] = {}
        """C expression of each value where it is read."""

    @property
    def parameter_list(self) -> list[str]:
        """Return the parameters of the function."""
        real = self.precision.type
        return [*(f"const {real} {self.letters[i]}[]" for i in self.used)]

    def function_text(self) -> str:
        """Return the complete text of the function."""
        pieces = [self.instructions]
        if len(self.instructions) > LONGEST:
            pieces = [self.instructions[at : at + PIECE] for at in range(0, len(self.instructions), PIECE)]
        if len(pieces) == 1:
            return self._function_text(
                self.name, [*self.parameter_list, f"{self.precision.type} y[]"], self._statements(pieces[0], {})
            )
        return self._write_in_parts(pieces)

    def _function_text(self, name: str, head: Sequence[str], lines: Sequence[str]) -> str:
        return "\n".join([f"static void {name}({', '.join(head)})", "{", *(f"    {line}" for line in lines), "}", ""])

    def _write_in_parts(self, pieces: Sequence[Sequence[Instruction]]) -> str:
        places, size = self._shared_value_indices(pieces)
        real, texts, calls = self.precision.type, list[str](), list[str]()
        for k, piece in enumerate(pieces):
            name, lines = f"{self.name}_{k}", self._statements(piece, places)
            body = "\n".join(lines)
            taken = [self.letters[i] for i in self.used if f"{self.letters[i]}[" in body]
            heads = [f"const {real} {letter}[]" for letter in taken]
            passed = list(taken)
            for letter in ("w", "y"):
                if f"{letter}[" in body:
                    heads.append(f"{real} {letter}[]" if f"\n{letter}[" in f"\n{body}" else f"const {real} {letter}[]")
                    passed.append(letter)
            texts.append(self._function_text(name, heads, lines))
            calls.append(f"{name}({', '.join(passed)});")
        outer = self._function_text(
            self.name, [*self.parameter_list, f"{real} y[]"], [f"{real} w[{max(size, 1)}];", "", *calls]
        )
        return "\n".join([*texts, outer])

    def _shared_value_indices(self, pieces: Sequence[Sequence[Instruction]]) -> tuple[dict[int, int], int]:
        """Return the index in `w` of each value that a later part reads, {value: index}, and the length of `w`."""
        made, last = dict[int, int](), dict[int, int]()
        for k, piece in enumerate(pieces):
            for ins in piece:
                for source in ins.sources:
                    last[source] = k
                if ins.target >= 0 and ins.operation not in (ca.OP_INPUT, ca.OP_CONST):
                    made[ins.target] = k
        places, free, size = dict[int, int](), list[int](), 0
        for k in range(len(pieces)):
            free += [places[value] for value, at in last.items() if at == k - 1 and value in places]
            for value in [value for value, at in made.items() if at == k and last.get(value, k) > k]:
                if not free:
                    free.append(size)
                    size += 1
                places[value] = free.pop()
        return places, size

    def _statements(self, piece: Sequence[Instruction], indices: dict[int, int]) -> list[str]:
        lines, kept = list[str](), list[str]()
        for value, place in indices.items():
            if self.names.get(value, "").startswith("t"):  # made by an earlier piece
                self.names[value] = f"w[{place}]"
        read = {source for ins in piece for source in ins.sources} | set(indices)
        for ins in piece:
            if ins.operation == ca.OP_OUTPUT:
                lines.append(f"y[{ins.place[1]}] = {self.names[ins.sources[0]]};")
            elif ins.operation == ca.OP_CONST:
                self.names[ins.target] = self.precision.format_number(ins.constant)
            elif ins.operation == ca.OP_INPUT:
                self.names[ins.target] = f"{self.letters[ins.place[0]]}[{ins.place[1]}]"
            elif ins.target in read:
                self.names[ins.target] = f"t{ins.target}"
                lines.append(f"const {self.precision.type} t{ins.target} = {self._format_expression(ins)};")
                if ins.target in indices:
                    kept.append(f"w[{indices[ins.target]}] = t{ins.target};")
        return lines + kept

    def _format_expression(self, ins: Instruction) -> str:
        arguments = [self.names[source] for source in ins.sources]
        if ins.operation in _CALLS:
            called, count = _CALLS[ins.operation]
            return f"{called}{self.precision.suffix}({', '.join(arguments[:count])})"
        if ins.operation not in _PLAIN:
            raise NotImplementedError(f"operation {ins.operation} has no C equivalent")
        safe = [f"({x})" if x.startswith("-") else x for x in arguments]
        return _PLAIN[ins.operation].format(*safe, one=self.one, zero=self.zero)

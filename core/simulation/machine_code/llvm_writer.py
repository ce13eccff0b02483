"""Generates LLVM IR: basic blocks, memory access, and the arithmetic of Python's operators.

Numbers behave as in Python, but for what Python refuses: a float divided by zero is infinite or not a number, indices
are not checked.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from core.simulation.machine_code.value_types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Scalar,
    TupleType,
    Type,
    Value,
    constant,
)

NUMBERS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "fadd"),
    ast.Sub: ("sub", "fsub"),
    ast.Mult: ("mul", "fmul"),
}
"""LLVM instructions for integers and for floats."""
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}
INTRINSICS = {
    "sqrt": 1,
    "exp": 1,
    "ceil": 1,
    "rint": 1,
    "fabs": 1,
    "pow": 2,
    "copysign": 2,
}
"""LLVM intrinsics on floats and their number of arguments."""
LIBRARY = ("cbrt",)
"""C library functions of one float."""
DECLARATIONS = "\n".join(
    [f"declare double @llvm.{name}.f64({', '.join(['double'] * count)})" for name, count in INTRINSICS.items()]
    + [f"declare double @{name}(double)" for name in LIBRARY]
    + ["!0 = !{}"]
)
"""Declarations in every module; `!0` marks loads of constant memory."""
LARGEST_UNROLLED_POWER = 8


class Writer:
    """Builder of the LLVM IR of one function body."""

    def __init__(self) -> None:
        self.allocations: list[str] = []
        self.lines: list[str] = []
        self.ended = False
        """True behind a jump: what follows could never run."""
        self._count = 0

    # ---------------------------------------------------------------------------- text

    def new(self, name: str = "v") -> str:
        """Return an unused name."""
        self._count += 1
        return f"%{name}.{self._count}"

    def result(self, kind: Type, instruction: str) -> Value:
        """Write an instruction and name its result."""
        name = self.new()
        self.lines.append(f"  {name} = {instruction}")
        return Value(kind, name)

    def write(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> str:
        """Return the name of a block to be begun later."""
        return self.new(name)[1:]

    def begin(self, label: str) -> None:
        """Begin a basic block; an unfinished previous block continues into it."""
        self.jump(label)
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        if not self.ended:
            self.write(f"br label %{label}")
            self.ended = True

    def branch(self, condition: Value, then: str, other: str) -> None:
        """End the block with a conditional branch."""
        self.write(f"br {condition}, label %{then}, label %{other}")
        self.ended = True

    def variable(self, kind: Type, name: str = "t", count: int = 1) -> str:
        """Allocate stack memory for `count` values, for the whole function."""
        place = self.new(name)
        self.allocations.append(f"  {place} = alloca {kind.llvm}, i64 {count}")
        return place

    def load(self, kind: Type, place: str, fixed: bool = False) -> Value:
        """Load a value from memory; fixed: the value is constant while machine code runs."""
        return self.result(kind, f"load {kind.llvm}, ptr {place}{', !invariant.load !0' * fixed}")

    def store(self, value: Value, place: str) -> None:
        """Store a value in memory."""
        self.write(f"store {value}, ptr {place}")

    def part(self, value: Value, k: int, kind: Type) -> Value:
        """Extract a component of an array descriptor, a tuple or a complex number."""
        return self.result(kind, f"extractvalue {value}, {k}")

    def structure(self, kind: Type, parts: Sequence[Value]) -> Value:
        """Build a value from its components."""
        made = Value(kind, "undef")
        for k, part in enumerate(parts):
            made = self.result(kind, f"insertvalue {made}, {part}, {k}")
        return made

    # ---------------------------------------------------------------------------- conversions

    def converted(self, value: Value, kind: Type) -> Value:
        """Convert a value to another type. Raises TypeError if the conversion loses information."""
        if value.type == kind:
            return value
        if (
            isinstance(kind, TupleType)
            and isinstance(value.type, TupleType)
            and len(kind.parts) == len(value.type.parts)
        ):
            parts = [self.part(value, k, part) for k, part in enumerate(value.type.parts)]
            return self.structure(
                kind, [self.converted(part, wanted) for part, wanted in zip(parts, kind.parts, strict=True)]
            )
        given = value.type
        if not (isinstance(kind, Scalar) and isinstance(given, Scalar) and min(kind.rank, given.rank) >= 0):
            raise TypeError(f"a value of type {given} is given where {kind} is required")
        if kind is INT and given is BOOL:
            return self.result(INT, f"zext {value} to i64")
        if kind is FLOAT and given in (BOOL, INT):
            return self.result(FLOAT, f"{'uitofp' if given is BOOL else 'sitofp'} {value} to double")
        if kind is COMPLEX and given.rank < COMPLEX.rank:
            return self.structure(COMPLEX, [self.converted(value, FLOAT), constant(0.0)])
        if kind is BOOL:
            return self.truth(value)
        raise TypeError(f"a value of type {given} is given where {kind} is required")

    def truncated(self, value: Value) -> Value:
        """Return the value of `int(value)`."""
        if value.type is FLOAT:
            return self.result(INT, f"fptosi {value} to i64")
        return self.converted(value, INT)

    def truth(self, value: Value) -> Value:
        """Return the value of `bool(value)`."""
        if value.type is BOOL:
            return value
        if value.type is INT:
            return self.result(BOOL, f"icmp ne {value}, 0")
        if value.type is FLOAT:
            return self.result(BOOL, f"fcmp une {value}, 0.0")
        raise TypeError(f"a value of type {value.type} cannot be a condition")

    # ---------------------------------------------------------------------------- arithmetic

    def whole(self, instruction: str, a: Value, b: Value) -> Value:
        """Write an integer instruction."""
        return self.result(INT, f"{instruction} {a}, {b.text}")

    def real(self, instruction: str, a: Value, b: Value) -> Value:
        """Write a floating-point instruction."""
        return self.result(FLOAT, f"{instruction} {a}, {b.text}")

    def function(self, name: str, *arguments: Value) -> Value:
        """Call a function of floats, an LLVM intrinsic or one of the C library."""
        full = name if name in LIBRARY else f"llvm.{name}.f64"
        given = ", ".join(str(self.converted(each, FLOAT)) for each in arguments)
        return self.result(FLOAT, f"call double @{full}({given})")

    def choice(self, condition: Value, then: Value, other: Value) -> Value:
        """Select one of two evaluated values of the same type."""
        return self.result(then.type, f"select {condition}, {then}, {other}")

    def operation(self, operator: ast.operator, a: Value, b: Value) -> Value:
        """Return `a operator b`. Raises TypeError."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)):
            raise TypeError(f"values of type {a.type} and {b.type} cannot be combined")
        common = max(a.type, b.type, INT, key=lambda scalar: scalar.rank)
        if isinstance(operator, ast.Pow):
            return self._power(a, b)
        if isinstance(operator, ast.Div) and common is INT:
            common = FLOAT
        x, y = self.converted(a, common), self.converted(b, common)
        if common is COMPLEX:
            return self._complex_operation(operator, x, y)
        if common is FLOAT and isinstance(operator, ast.Div):
            return self.real("fdiv", x, y)
        if type(operator) in NUMBERS:
            on_whole, on_real = NUMBERS[type(operator)]
            return self.whole(on_whole, x, y) if common is INT else self.real(on_real, x, y)
        if common is INT and isinstance(operator, ast.FloorDiv | ast.Mod):
            return self._floor_division(x, y, isinstance(operator, ast.Mod))
        raise TypeError(f"{type(operator).__name__} of {common} is not supported in compiled functions")

    def _floor_division(self, x: Value, y: Value, remainder: bool) -> Value:
        """Divide with rounding down; the remainder has the sign of the divisor, as in Python."""
        rest = self.whole("srem", x, y)
        differs = self.result(BOOL, f"icmp ne {rest}, 0")
        opposite = self.result(BOOL, f"icmp slt {self.whole('xor', rest, y)}, 0")
        below = self.result(BOOL, f"and {differs}, {opposite.text}")
        if remainder:
            return self.whole("add", rest, self.choice(below, y, constant(0)))
        return self.whole("sub", self.whole("sdiv", x, y), self.converted(below, INT))

    def _power(self, a: Value, b: Value) -> Value:
        """Raise to a power; small constant integer exponents become products."""
        if b.type is INT and b.text.isdecimal() and 0 < int(b.text) <= LARGEST_UNROLLED_POWER:
            base, exponent, made = a, int(b.text), None
            while True:
                if exponent % 2:
                    made = base if made is None else self.operation(ast.Mult(), made, base)
                exponent //= 2
                if not exponent:
                    assert made is not None
                    return made
                base = self.operation(ast.Mult(), base, base)
        if COMPLEX in (a.type, b.type):
            raise TypeError("powers of complex numbers are not supported")
        return self.function("pow", a, b)

    def _complex_operation(self, operator: ast.operator, x: Value, y: Value) -> Value:
        a, b = self.part(x, 0, FLOAT), self.part(x, 1, FLOAT)
        c, d = self.part(y, 0, FLOAT), self.part(y, 1, FLOAT)
        if isinstance(operator, ast.Add | ast.Sub):
            instruction = NUMBERS[type(operator)][1]
            parts = [self.real(instruction, a, c), self.real(instruction, b, d)]
        elif isinstance(operator, ast.Mult):
            parts = [
                self.real("fsub", self.real("fmul", a, c), self.real("fmul", b, d)),
                self.real("fadd", self.real("fmul", a, d), self.real("fmul", b, c)),
            ]
        elif isinstance(operator, ast.Div):
            parts = self._complex_quotient(a, b, c, d)
        else:
            raise TypeError(f"{type(operator).__name__} of complex numbers is not supported")
        return self.structure(COMPLEX, parts)

    def _complex_quotient(self, a: Value, b: Value, c: Value, d: Value) -> list[Value]:
        """Return (a + b i)/(c + d i) without overflow, scaled by the larger part of the divisor (Smith, Algorithm 116,
        1962)."""
        real_leads = self.result(BOOL, f"fcmp oge {self.function('fabs', c)}, {self.function('fabs', d).text}")
        large, small = self.choice(real_leads, c, d), self.choice(real_leads, d, c)
        ratio = self.real("fdiv", small, large)
        divisor = self.real("fadd", large, self.real("fmul", small, ratio))
        first, second = self.choice(real_leads, a, b), self.choice(real_leads, b, a)
        real = self.real("fadd", first, self.real("fmul", second, ratio))
        imag = self.choice(
            real_leads,
            self.real("fsub", b, self.real("fmul", a, ratio)),
            self.real("fsub", self.real("fmul", b, ratio), a),
        )
        return [self.real("fdiv", real, divisor), self.real("fdiv", imag, divisor)]

    def negative(self, value: Value) -> Value:
        """Return `-value`."""
        if value.type is FLOAT:
            return self.result(FLOAT, f"fneg {value}")
        if value.type is COMPLEX:
            return self.structure(COMPLEX, [self.negative(self.part(value, k, FLOAT)) for k in range(2)])
        return self.whole("sub", constant(0), self.converted(value, INT))

    def absolute(self, value: Value) -> Value:
        """Return `abs(value)`."""
        if value.type is FLOAT:
            return self.function("fabs", value)
        number = self.converted(value, INT)
        return self.choice(self.comparison(ast.Lt(), number, constant(0)), self.negative(number), number)

    def comparison(self, operator: ast.cmpop, a: Value, b: Value) -> Value:
        """Return the truth value of `a operator b`. Raises TypeError."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)) or type(operator) not in COMPARISONS:
            raise TypeError(f"values of type {a.type} and {b.type} cannot be compared with this operator")
        common = max(a.type, b.type, INT, key=lambda scalar: scalar.rank)
        if common is COMPLEX:
            raise TypeError("complex numbers cannot be ordered")
        x, y = self.converted(a, common), self.converted(b, common)
        on_whole, on_real = COMPARISONS[type(operator)]
        instruction = f"icmp {on_whole}" if common is INT else f"fcmp {on_real}"
        return self.result(BOOL, f"{instruction} {x}, {y.text}")

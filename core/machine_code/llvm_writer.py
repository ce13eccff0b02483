"""Generates LLVM IR: basic blocks, memory access, and the arithmetic of Python's operators.

Numbers behave as in Python, but for what Python refuses: a float divided by zero is infinite or not a number, indices
are not checked.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from core.machine_code.value_types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Scalar,
    TupleType,
    Type,
    Value,
    constant_value,
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
LIBRARY = {"cbrt": 1, "sin": 1, "cos": 1, "atan2": 2}
"""C library functions of floats and their number of arguments."""
DECLARATIONS = "\n".join(
    [f"declare double @llvm.{name}.f64({', '.join(['double'] * count)})" for name, count in INTRINSICS.items()]
    + [f"declare double @{name}({', '.join(['double'] * count)})" for name, count in LIBRARY.items()]
    + ["!0 = !{}"]
)
"""Declarations in every module; `!0` marks loads of constant memory."""
LARGEST_UNROLLED_POWER = 8


class IrWriter:
    """Builder of the LLVM IR of one function body."""

    def __init__(self) -> None:
        self.allocations: list[str] = []
        self.lines: list[str] = []
        self.ended = False
        """True behind a jump: what follows could never run."""
        self._count = 0

    # ---------------------------------------------------------------------------- text

    def new_name(self, name: str = "v") -> str:
        """Return an unused name."""
        self._count += 1
        return f"%{name}.{self._count}"

    def write_result(self, kind: Type, instruction: str) -> Value:
        """Write an instruction and name its result."""
        name = self.new_name()
        self.lines.append(f"  {name} = {instruction}")
        return Value(kind, name)

    def write(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> str:
        """Return the name of a block to be begun later."""
        return self.new_name(name)[1:]

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

    def branch(self, condition: Value, then: str, otherwise: str) -> None:
        """End the block with a conditional branch."""
        self.write(f"br {condition}, label %{then}, label %{otherwise}")
        self.ended = True

    def allocate_variable(self, kind: Type, name: str = "t", count: int = 1) -> str:
        """Allocate stack memory for `count` values, for the whole function."""
        place = self.new_name(name)
        self.allocations.append(f"  {place} = alloca {kind.llvm}, i64 {count}")
        return place

    def load(self, kind: Type, address: str, constant: bool = False) -> Value:
        """Load a value from memory; fixed: the value is constant while machine code runs."""
        return self.write_result(kind, f"load {kind.llvm}, ptr {address}{', !invariant.load !0' * constant}")

    def store(self, value: Value, address: str) -> None:
        """Store a value in memory."""
        self.write(f"store {value}, ptr {address}")

    def part(self, value: Value, k: int, kind: Type) -> Value:
        """Extract a component of an array descriptor, a tuple or a complex number."""
        return self.write_result(kind, f"extractvalue {value}, {k}")

    def build_structure(self, kind: Type, parts: Sequence[Value]) -> Value:
        """Build a value from its components."""
        made = Value(kind, "undef")
        for k, part in enumerate(parts):
            made = self.write_result(kind, f"insertvalue {made}, {part}, {k}")
        return made

    # ---------------------------------------------------------------------------- conversions

    def convert(self, value: Value, kind: Type) -> Value:
        """Convert a value to another type. Raises TypeError if information would be lost."""
        if value.type == kind:
            return value
        if (
            isinstance(kind, TupleType)
            and isinstance(value.type, TupleType)
            and len(kind.parts) == len(value.type.parts)
        ):
            parts = [self.part(value, k, part) for k, part in enumerate(value.type.parts)]
            return self.build_structure(
                kind, [self.convert(part, wanted) for part, wanted in zip(parts, kind.parts, strict=True)]
            )
        given = value.type
        if not (isinstance(kind, Scalar) and isinstance(given, Scalar) and min(kind.rank, given.rank) >= 0):
            raise TypeError(f"a value of type {given} is given where {kind} is required")
        if kind is INT and given is BOOL:
            return self.write_result(INT, f"zext {value} to i64")
        if kind is FLOAT and given in (BOOL, INT):
            return self.write_result(FLOAT, f"{'uitofp' if given is BOOL else 'sitofp'} {value} to double")
        if kind is COMPLEX and given.rank < COMPLEX.rank:
            return self.build_structure(COMPLEX, [self.convert(value, FLOAT), constant_value(0.0)])
        if kind is BOOL:
            return self.truth_value(value)
        raise TypeError(f"a value of type {given} is given where {kind} is required")

    def truncate(self, value: Value) -> Value:
        """Return the value of `int(value)`."""
        if value.type is FLOAT:
            return self.write_result(INT, f"fptosi {value} to i64")
        return self.convert(value, INT)

    def truth_value(self, value: Value) -> Value:
        """Return the value of `bool(value)`."""
        if value.type is BOOL:
            return value
        if value.type is INT:
            return self.write_result(BOOL, f"icmp ne {value}, 0")
        if value.type is FLOAT:
            return self.write_result(BOOL, f"fcmp une {value}, 0.0")
        raise TypeError(f"a value of type {value.type} cannot be a condition")

    # ---------------------------------------------------------------------------- arithmetic

    def integer_operation(self, instruction: str, a: Value, b: Value) -> Value:
        """Write an integer instruction and return its result."""
        return self.write_result(INT, f"{instruction} {a}, {b.text}")

    def float_operation(self, instruction: str, a: Value, b: Value) -> Value:
        """Write a floating-point instruction and return its result."""
        return self.write_result(FLOAT, f"{instruction} {a}, {b.text}")

    def function(self, name: str, *arguments: Value) -> Value:
        """Call a function of floats, an LLVM intrinsic or one of the C library."""
        full = name if name in LIBRARY else f"llvm.{name}.f64"
        given = ", ".join(str(self.convert(each, FLOAT)) for each in arguments)
        return self.write_result(FLOAT, f"call double @{full}({given})")

    def select_value(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """Select one of two evaluated values of the same type."""
        return self.write_result(then.type, f"select {condition}, {then}, {otherwise}")

    def operation(self, operator: ast.operator, a: Value, b: Value) -> Value:
        """Return `a operator b`. Raises TypeError."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)):
            raise TypeError(f"values of type {a.type} and {b.type} cannot be combined")
        common = max(a.type, b.type, INT, key=lambda scalar: scalar.rank)
        if isinstance(operator, ast.Pow):
            return self._power(a, b)
        if isinstance(operator, ast.Div) and common is INT:
            common = FLOAT
        x, y = self.convert(a, common), self.convert(b, common)
        if common is COMPLEX:
            return self._complex_operation(operator, x, y)
        if common is FLOAT and isinstance(operator, ast.Div):
            return self.float_operation("fdiv", x, y)
        if type(operator) in NUMBERS:
            on_whole, on_real = NUMBERS[type(operator)]
            return self.integer_operation(on_whole, x, y) if common is INT else self.float_operation(on_real, x, y)
        if common is INT and isinstance(operator, ast.FloorDiv | ast.Mod):
            return self._floor_division(x, y, isinstance(operator, ast.Mod))
        raise TypeError(f"{type(operator).__name__} of {common} is not supported in compiled functions")

    def _floor_division(self, x: Value, y: Value, remainder: bool) -> Value:
        """Divide with rounding down; the remainder has the sign of the divisor, as in Python."""
        rest = self.integer_operation("srem", x, y)
        differs = self.write_result(BOOL, f"icmp ne {rest}, 0")
        opposite = self.write_result(BOOL, f"icmp slt {self.integer_operation('xor', rest, y)}, 0")
        below = self.write_result(BOOL, f"and {differs}, {opposite.text}")
        if remainder:
            return self.integer_operation("add", rest, self.select_value(below, y, constant_value(0)))
        return self.integer_operation("sub", self.integer_operation("sdiv", x, y), self.convert(below, INT))

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
            parts = [self.float_operation(instruction, a, c), self.float_operation(instruction, b, d)]
        elif isinstance(operator, ast.Mult):
            parts = [
                self.float_operation("fsub", self.float_operation("fmul", a, c), self.float_operation("fmul", b, d)),
                self.float_operation("fadd", self.float_operation("fmul", a, d), self.float_operation("fmul", b, c)),
            ]
        elif isinstance(operator, ast.Div):
            parts = self._divide_complex(a, b, c, d)
        else:
            raise TypeError(f"{type(operator).__name__} of complex numbers is not supported")
        return self.build_structure(COMPLEX, parts)

    def _divide_complex(self, a: Value, b: Value, c: Value, d: Value) -> list[Value]:
        """Return (a + b i)/(c + d i) without overflow, scaled by the larger part of the divisor (Smith, Algorithm 116,
        1962)."""
        real_leads = self.write_result(BOOL, f"fcmp oge {self.function('fabs', c)}, {self.function('fabs', d).text}")
        large, small = self.select_value(real_leads, c, d), self.select_value(real_leads, d, c)
        ratio = self.float_operation("fdiv", small, large)
        divisor = self.float_operation("fadd", large, self.float_operation("fmul", small, ratio))
        first, second = self.select_value(real_leads, a, b), self.select_value(real_leads, b, a)
        real = self.float_operation("fadd", first, self.float_operation("fmul", second, ratio))
        imag = self.select_value(
            real_leads,
            self.float_operation("fsub", b, self.float_operation("fmul", a, ratio)),
            self.float_operation("fsub", self.float_operation("fmul", b, ratio), a),
        )
        return [self.float_operation("fdiv", real, divisor), self.float_operation("fdiv", imag, divisor)]

    def negate(self, value: Value) -> Value:
        """Return `-value`."""
        if value.type is FLOAT:
            return self.write_result(FLOAT, f"fneg {value}")
        if value.type is COMPLEX:
            return self.build_structure(COMPLEX, [self.negate(self.part(value, k, FLOAT)) for k in range(2)])
        return self.integer_operation("sub", constant_value(0), self.convert(value, INT))

    def absolute(self, value: Value) -> Value:
        """Return `abs(value)`."""
        if value.type is FLOAT:
            return self.function("fabs", value)
        number = self.convert(value, INT)
        return self.select_value(self.comparison(ast.Lt(), number, constant_value(0)), self.negate(number), number)

    def comparison(self, operator: ast.cmpop, a: Value, b: Value) -> Value:
        """Return the truth value of `a operator b`. Raises TypeError."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)) or type(operator) not in COMPARISONS:
            raise TypeError(f"values of type {a.type} and {b.type} cannot be compared with this operator")
        common = max(a.type, b.type, INT, key=lambda scalar: scalar.rank)
        if common is COMPLEX:
            raise TypeError("complex numbers cannot be ordered")
        x, y = self.convert(a, common), self.convert(b, common)
        on_whole, on_real = COMPARISONS[type(operator)]
        instruction = f"icmp {on_whole}" if common is INT else f"fcmp {on_real}"
        return self.write_result(BOOL, f"{instruction} {x}, {y.text}")

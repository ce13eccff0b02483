"""LLVM IR text of a trace.

Of each function three entries are made: `eval` (one state), `single` (all buffers in one block of memory, so that a
call from Python passes one pointer) and `batch` (a loop over states inside the machine code).

Floating point: contraction, reciprocals and unsigned zeros are free; NaN and infinity keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from core.codegen.instructions import Instruction
from core.codegen.sincos import SINCOS, number

FAST = "contract nsz arcp"
VERSION = 2
"""Part of the key of cached code: to be raised when the text below changes its meaning."""


def _binary(name: str) -> Callable[..., str]:
    return lambda a, b: f"f{name} {FAST} double {a}, {b}"


def _compare(predicate: str) -> Callable[..., str]:
    return lambda a, b: f"fcmp {predicate} double {a}, {b}"


def _intrinsic(name: str) -> Callable[..., str]:
    return lambda *a: f"call {FAST} double @llvm.{name}.f64({', '.join('double ' + x for x in a)})"


def _library(name: str) -> Callable[..., str]:
    return lambda *a: f"call double @{name}({', '.join('double ' + x for x in a)})"


_ONE = number(1.0)
_SIMPLE: dict[int, Callable[..., str]] = {
    ca.OP_ADD: _binary("add"),
    ca.OP_SUB: _binary("sub"),
    ca.OP_MUL: _binary("mul"),
    ca.OP_DIV: _binary("div"),
    ca.OP_NEG: lambda a: f"fneg {FAST} double {a}",
    ca.OP_SQ: lambda a: f"fmul {FAST} double {a}, {a}",
    ca.OP_TWICE: lambda a: f"fadd {FAST} double {a}, {a}",
    ca.OP_INV: lambda a: f"fdiv {FAST} double {_ONE}, {a}",
    ca.OP_SQRT: _intrinsic("sqrt"),
    ca.OP_FABS: _intrinsic("fabs"),
    ca.OP_FLOOR: _intrinsic("floor"),
    ca.OP_CEIL: _intrinsic("ceil"),
    ca.OP_FMIN: _intrinsic("minnum"),
    ca.OP_FMAX: _intrinsic("maxnum"),
    ca.OP_COPYSIGN: _intrinsic("copysign"),
}
LIBRARY = {
    ca.OP_EXP: ("exp", 1),
    ca.OP_LOG: ("log", 1),
    ca.OP_POW: ("pow", 2),
    ca.OP_CONSTPOW: ("pow", 2),
    ca.OP_TAN: ("tan", 1),
    ca.OP_ASIN: ("asin", 1),
    ca.OP_ACOS: ("acos", 1),
    ca.OP_ATAN: ("atan", 1),
    ca.OP_ATAN2: ("atan2", 2),
    ca.OP_SINH: ("sinh", 1),
    ca.OP_COSH: ("cosh", 1),
    ca.OP_TANH: ("tanh", 1),
    ca.OP_ASINH: ("asinh", 1),
    ca.OP_ACOSH: ("acosh", 1),
    ca.OP_ATANH: ("atanh", 1),
    ca.OP_ERF: ("erf", 1),
    ca.OP_FMOD: ("fmod", 2),
    ca.OP_REMAINDER: ("remainder", 2),
    ca.OP_LOG1P: ("log1p", 1),
    ca.OP_EXPM1: ("expm1", 1),
    ca.OP_HYPOT: ("hypot", 2),
}
"""Operations that are functions of the C library: name and number of arguments."""
_SIMPLE.update({operation: _library(name) for operation, (name, _) in LIBRARY.items()})
_CONDITIONS = {
    ca.OP_LT: _compare("olt"),
    ca.OP_LE: _compare("ole"),
    ca.OP_EQ: _compare("oeq"),
    ca.OP_NE: _compare("une"),
}

DECLARATIONS = (
    "\n".join(
        f"declare double @{name}({', '.join(['double'] * count)})" for name, count in sorted(set(LIBRARY.values()))
    )
    + """
declare double @sin(double)
declare double @cos(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.fma.f64(double, double, double)
"""
)

# ----------------------------------------------------------------------------------- one function


class _Writer:
    """Writes the straight line of one trace."""

    def __init__(self, load: Callable[[int, int, str], list[str]], store: Callable[[int, str, str], list[str]]) -> None:
        self.load, self.store = load, store
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.pairs: dict[str, str] = {}
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        return f"%t{self.fresh}"

    def emit(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def write(self, instruction: Instruction) -> None:
        operation = instruction.operation
        arguments = [self.values[source] for source in instruction.sources]
        if operation == ca.OP_OUTPUT:
            self.lines += self.store(instruction.place[1], arguments[0], self.name())
        elif operation == ca.OP_INPUT:
            name = self.name()
            self.lines += self.load(*instruction.place, name)
            self.values[instruction.target] = name
        else:
            self.values[instruction.target] = self.value(instruction, arguments)

    def value(self, instruction: Instruction, arguments: list[str]) -> str:
        operation = instruction.operation
        if operation == ca.OP_CONST:
            return number(instruction.constant)
        if operation == ca.OP_ASSIGN:
            return arguments[0]
        if operation in (ca.OP_SIN, ca.OP_COS):
            pair = self.pairs.get(arguments[0])
            if pair is None:
                pair = self.pairs[arguments[0]] = self.emit(f"call {{double, double}} @sincos(double {arguments[0]})")
            return self.emit(f"extractvalue {{double, double}} {pair}, {0 if operation == ca.OP_SIN else 1}")
        if operation in _SIMPLE:
            return self.emit(_SIMPLE[operation](*arguments))
        return self.logical(operation, arguments)

    def logical(self, operation: int, arguments: list[str]) -> str:
        """Truth values are 0.0 and 1.0."""
        if operation in _CONDITIONS:
            truth = self.emit(_CONDITIONS[operation](*arguments))
        elif operation in (ca.OP_AND, ca.OP_OR):
            a, b = (self.emit(f"fcmp une double {x}, 0.0") for x in arguments)
            truth = self.emit(f"{'and' if operation == ca.OP_AND else 'or'} i1 {a}, {b}")
        elif operation == ca.OP_NOT:
            truth = self.emit(f"fcmp oeq double {arguments[0]}, 0.0")
        elif operation == ca.OP_IF_ELSE_ZERO:
            truth = self.emit(f"fcmp une double {arguments[0]}, 0.0")
            return self.emit(f"select i1 {truth}, double {arguments[1]}, double 0.0")
        elif operation == ca.OP_SIGN:
            up = self.emit(f"fcmp ogt double {arguments[0]}, 0.0")
            down = self.emit(f"fcmp olt double {arguments[0]}, 0.0")
            inner = self.emit(f"select i1 {down}, double -1.0, double {arguments[0]}")
            return self.emit(f"select i1 {up}, double 1.0, double {inner}")
        else:
            raise NotImplementedError(f"operation {operation} has no machine code")
        return self.emit(f"uitofp i1 {truth} to double")


def straight(
    instructions: Sequence[Instruction],
    load: Callable[[int, int, str], list[str]],
    store: Callable[[int, str, str], list[str]],
) -> list[str]:
    """Lines for the instructions; `load(argument, entry, name)` and `store(entry, value, fresh)` give memory access."""
    writer = _Writer(load, store)
    for instruction in instructions:
        writer.write(instruction)
    return writer.lines


def module(instructions: Sequence[Instruction], sizes: Sequence[int], size: int, *, checked: bool) -> str:
    """IR of a traced function.

    sizes : lengths of the arguments, the parameters last; size : length of the result
    checked : `single` returns 1, and `batch` the number of states, for which a result is not finite
    """
    letters = [f"%a{i}" for i in range(len(sizes))]
    parameters = ", ".join(f"ptr noalias readonly {letter}" for letter in letters)

    def load(argument: int, entry: int, name: str) -> list[str]:
        return [
            f"  {name}p = getelementptr double, ptr %a{argument}, i64 {entry}",
            f"  {name} = load double, ptr {name}p",
        ]

    def store(entry: int, value: str, name: str) -> list[str]:
        return [f"  {name}p = getelementptr double, ptr %y, i64 {entry}", f"  store double {value}, ptr {name}p"]

    lines = [
        f"define internal i64 @eval({parameters}, ptr noalias %y) nounwind {{",
        *straight(instructions, load, store),
        *finite_check(size if checked else 0),
        "}",
    ]
    return "\n".join([DECLARATIONS, SINCOS, *lines, single_entry(sizes), batch_entry(sizes, size)])


def finite_check(size: int) -> list[str]:
    """Return 1 if an entry of y is not finite: then y·0 is not 0."""
    if not size:
        return ["  ret i64 0"]
    lines = []
    total = "0.0"
    for k in range(size):
        lines += [
            f"  %f{k}p = getelementptr double, ptr %y, i64 {k}",
            f"  %f{k} = load double, ptr %f{k}p",
            f"  %z{k} = fmul double %f{k}, 0.0",
            f"  %s{k} = fadd double {total}, %z{k}",
        ]
        total = f"%s{k}"
    return [*lines, f"  %bad = fcmp une double {total}, 0.0", "  %flag = zext i1 %bad to i64", "  ret i64 %flag"]


def single_entry(sizes: Sequence[int]) -> str:
    """i64 single(base): arguments and result one behind the other."""
    lines = ["define i64 @single(ptr %base) nounwind {"]
    offset = 0
    for i, size in enumerate(sizes):
        lines.append(f"  %a{i} = getelementptr double, ptr %base, i64 {offset}")
        offset += size
    arguments = ", ".join(f"ptr %a{i}" for i in range(len(sizes)))
    lines += [
        f"  %y = getelementptr double, ptr %base, i64 {offset}",
        f"  %bad = call i64 @eval({arguments}, ptr %y)",
        "  ret i64 %bad",
        "}",
    ]
    return "\n".join(lines)


def batch_entry(sizes: Sequence[int], size: int) -> str:
    """i64 batch(n, stride of p, arguments…, p, y): the loop over n states."""
    count = len(sizes)
    pointers = ", ".join(f"ptr %b{i}" for i in range(count))
    lines = [
        f"define i64 @batch(i64 %n, i64 %pstride, {pointers}, ptr %by) nounwind {{",
        "  %some = icmp sgt i64 %n, 0",
        "  br i1 %some, label %loop, label %empty",
        "empty:",
        "  ret i64 0",
        "loop:",
        "  %k = phi i64 [0, %0], [%next, %loop]",
        "  %sum = phi i64 [0, %0], [%more, %loop]",
    ]
    for i, length in enumerate([*sizes[:-1], None]):
        stride = "%pstride" if length is None else str(length)
        lines += [f"  %o{i} = mul i64 %k, {stride}", f"  %a{i} = getelementptr double, ptr %b{i}, i64 %o{i}"]
    arguments = ", ".join(f"ptr %a{i}" for i in range(count))
    lines += [
        f"  %oy = mul i64 %k, {size}",
        "  %y = getelementptr double, ptr %by, i64 %oy",
        f"  %bad = call i64 @eval({arguments}, ptr %y)",
        "  %more = add i64 %sum, %bad",
        "  %next = add i64 %k, 1",
        "  %again = icmp slt i64 %next, %n",
        "  br i1 %again, label %loop, label %done",
        "done:",
        "  ret i64 %more",
        "}",
    ]
    return "\n".join(lines)

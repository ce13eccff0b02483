"""LLVM IR of a symbolic function.

Of each function three entries are made: `eval` (one state), `single` (all buffers in one block of memory, so that a
call from Python passes one pointer) and `batch` (a loop over states inside the machine code). For long arrays,
`build_wide_module` makes `batch` alone, which takes several states at a time through the same operations on vectors.

Floating point: LLVM may change no rounding, so that all its optimisation levels give the same bits; multiplications and
additions are fused, and reciprocals taken, before (`core.codegen.fused_operations`). Sine and cosine of one angle are
computed together in a few nanoseconds, as accurate as the C library: reduction to |r| ≤ π/4 by multiples of π/2 in
three parts (Cody and Waite 1980), then Taylor polynomials.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca

from core.codegen.fused_operations import FUSED, fuse_operations
from core.codegen.instructions import Instruction


def format_number(x: float) -> str:
    """Return the exact IR text of a double."""
    return "0x" + struct.pack(">d", x).hex().upper()


_HALF_PI = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"), -1.4973849048591833e-33)
"""π/2 as a sum of three doubles."""
_SIN = (-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000,
        1.0 / 355687428096000)  # fmt: skip
_COS = (-0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
        1.0 / 20922789888000)  # fmt: skip
"""Taylor coefficients of (sin r − r)/r³ and (cos r − 1)/r²; the first omitted terms are below 1e-17."""
_FAR = 2.0**20
"""Argument (rad) above which the C library is called, which reduces it exactly."""


VERSION = 3
"""Version in the key of cached code, to be raised when the meaning of generated code changes."""


class VectorLanes(NamedTuple):
    """Vector width of operations: types of numbers, truth values and integers, and the suffix of intrinsics."""

    states: int
    type: str
    truths: str
    integers: str
    suffix: str

    def format_constant(self, x: float) -> str:
        """Return the text of a constant."""
        one = format_number(x)
        return one if self.states == 1 else f"<{', '.join([f'double {one}'] * self.states)}>"

    def format_integer(self, n: int) -> str:
        """Return the text of a constant integer."""
        kind = self.integers.rpartition(" ")[2].rstrip(">")
        return str(n) if self.states == 1 else f"<{', '.join([f'{kind} {n}'] * self.states)}>"


ONE = VectorLanes(1, "double", "i1", "i64", "f64")


def vector_lanes(states: int) -> VectorLanes:
    """Return the lanes of vectors of so many states."""
    return VectorLanes(states, f"<{states} x double>", f"<{states} x i1>", f"<{states} x i32>", f"v{states}f64")


_TEXT = """
define internal {@T, @T} @@NAME(@T %x) noinline nounwind {
  %size = call @T @llvm.fabs.@SUFFIX(@T %x)
@NEAR
  br i1 %near, label %inside, label %outside
inside:
  %turns = fmul @T %x, @TWO_OVER_PI
  %k = call @T @llvm.rint.@SUFFIX(@T %turns)
  %minus = fneg @T %k
  %r1 = call @T @llvm.fma.@SUFFIX(@T %minus, @T @PART0, @T %x)
  %r2 = call @T @llvm.fma.@SUFFIX(@T %minus, @T @PART1, @T %r1)
  %r = call @T @llvm.fma.@SUFFIX(@T %minus, @T @PART2, @T %r2)
  %rr = fmul @T %r, %r
  %rrr = fmul @T %rr, %r
@SINE
@COSINE
  %sine = call @T @llvm.fma.@SUFFIX(@T %rrr, @T %s, @T %r)
  %cosine = call @T @llvm.fma.@SUFFIX(@T %rr, @T %c, @T @UNIT)
  %whole = fptosi @T %k to @I
  %odd = trunc @I %whole to @B
  %p = select @B %odd, @T %cosine, @T %sine
  %q = select @B %odd, @T %sine, @T %cosine
  %np = fneg @T %p
  %nq = fneg @T %q
  %two = and @I %whole, @TWO
  %sneg = icmp ne @I %two, @ZERO
  %next = add @I %whole, @ONE
  %two2 = and @I %next, @TWO
  %cneg = icmp ne @I %two2, @ZERO
  %sin = select @B %sneg, @T %np, @T %p
  %cos = select @B %cneg, @T %nq, @T %q
  br label %done
outside:
@OUTSIDE
  br label %done
done:
  %as = phi @T [%sin, %inside], [%fs, %outside]
  %ac = phi @T [%cos, %inside], [%fc, %outside]
  %pair = insertvalue {@T, @T} undef, @T %as, 0
  %both = insertvalue {@T, @T} %pair, @T %ac, 1
  ret {@T, @T} %both
}
"""

_ONE_OUTSIDE = """\
  %fs = call double @sin(double %x)
  %fc = call double @cos(double %x)"""


def _horner_lines(lanes: VectorLanes, name: str, coefficients: Sequence[float]) -> str:
    """Return lines that evaluate a polynomial in %rr as %name."""
    lines, last = [], len(coefficients) - 2
    type_, value = lanes.type, lanes.format_constant(coefficients[-1])
    for k, coefficient in enumerate(reversed(coefficients[:-1])):
        target, constant = f"%{name}" if k == last else f"%{name}{k}", lanes.format_constant(coefficient)
        lines.append(
            f"  {target} = call {type_} @llvm.fma.{lanes.suffix}({type_} {value}, {type_} %rr, {type_} {constant})"
        )
        value = target
    return "\n".join(lines)


def _distant_lanes(lanes: VectorLanes) -> str:
    """Return lines that ask the scalar function for each state of a vector."""
    lines, sines, cosines = [], "undef", "undef"
    for k in range(lanes.states):
        last = k == lanes.states - 1
        lines += [
            f"  %x{k} = extractelement {lanes.type} %x, i32 {k}",
            f"  %pair{k} = call {{double, double}} @sincos(double %x{k})",
            f"  %sin{k} = extractvalue {{double, double}} %pair{k}, 0",
            f"  %cos{k} = extractvalue {{double, double}} %pair{k}, 1",
            f"  {'%fs' if last else f'%fs{k}'} = insertelement {lanes.type} {sines}, double %sin{k}, i32 {k}",
            f"  {'%fc' if last else f'%fc{k}'} = insertelement {lanes.type} {cosines}, double %cos{k}, i32 {k}",
        ]
        sines, cosines = f"%fs{k}", f"%fc{k}"
    return "\n".join(lines)


def sincos_ir(lanes: VectorLanes) -> str:
    """Return the definition of {sin x, cos x} @sincos(x), or @sincos_wide(x) for vectors."""
    one = lanes.states == 1
    far = f"fcmp olt {lanes.type} %size, {lanes.format_constant(_FAR)}"
    all_near = f"""\
  %within = {far}
  %bits = bitcast {lanes.truths} %within to i{lanes.states}
  %near = icmp eq i{lanes.states} %bits, -1"""
    words = {
        "SINE": _horner_lines(lanes, "s", _SIN),
        "COSINE": _horner_lines(lanes, "c", _COS),
        "NEAR": f"  %near = {far}" if one else all_near,
        "OUTSIDE": _ONE_OUTSIDE if one else _distant_lanes(lanes),
        "SUFFIX": lanes.suffix,
        "TWO_OVER_PI": lanes.format_constant(0.6366197723675814),
        "UNIT": lanes.format_constant(1.0),
        "@NAME": "@sincos" if one else "@sincos_wide",
        "T": lanes.type,
        "I": lanes.integers,
        "B": lanes.truths,
        **{name: lanes.format_integer(k) for k, name in enumerate(("ZERO", "ONE", "TWO"))},
        **{f"PART{k}": lanes.format_constant(part) for k, part in enumerate(_HALF_PI)},
    }
    return re.sub("@(@NAME|[A-Z_]+[0-9]?)", lambda match: words[match[1]], _TEXT)


SINCOS = sincos_ir(ONE)
"""LLVM IR of {sin x, cos x} @sincos(double)."""


def _binary_operation(name: str) -> Callable[..., str]:
    return lambda t, a, b: f"f{name} {t.type} {a}, {b}"


def _comparison(predicate: str) -> Callable[..., str]:
    return lambda t, a, b: f"fcmp {predicate} {t.type} {a}, {b}"


def _intrinsic_call(name: str) -> Callable[..., str]:
    return lambda t, *a: f"call {t.type} @llvm.{name}.{t.suffix}({', '.join(f'{t.type} {x}' for x in a)})"


def _library_call(name: str) -> Callable[..., str]:
    return lambda t, *a: f"call double @{name}({', '.join('double ' + x for x in a)}) nobuiltin"


_SIMPLE: dict[int, Callable[..., str]] = {
    ca.OP_ADD: _binary_operation("add"),
    ca.OP_SUB: _binary_operation("sub"),
    ca.OP_MUL: _binary_operation("mul"),
    ca.OP_DIV: _binary_operation("div"),
    ca.OP_NEG: lambda t, a: f"fneg {t.type} {a}",
    ca.OP_SQ: lambda t, a: f"fmul {t.type} {a}, {a}",
    ca.OP_TWICE: lambda t, a: f"fadd {t.type} {a}, {a}",
    ca.OP_INV: lambda t, a: f"fdiv {t.type} {t.format_constant(1.0)}, {a}",
    ca.OP_SQRT: _intrinsic_call("sqrt"),
    ca.OP_FABS: _intrinsic_call("fabs"),
    ca.OP_FLOOR: _intrinsic_call("floor"),
    ca.OP_CEIL: _intrinsic_call("ceil"),
    ca.OP_FMIN: _intrinsic_call("minnum"),
    ca.OP_FMAX: _intrinsic_call("maxnum"),
    ca.OP_COPYSIGN: _intrinsic_call("copysign"),
}
_FUSED_CALL = _intrinsic_call("fma")
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
_SIMPLE.update({operation: _library_call(name) for operation, (name, _) in LIBRARY.items()})
_CONDITIONS = {
    ca.OP_LT: _comparison("olt"),
    ca.OP_LE: _comparison("ole"),
    ca.OP_EQ: _comparison("oeq"),
    ca.OP_NE: _comparison("une"),
}

DECLARATIONS = (
    "\n".join(
        f"declare double @{name}({', '.join(['double'] * count)}) memory(none) nounwind willreturn"
        for name, count in sorted(set(LIBRARY.values()))
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

BLOCK_LENGTH = 100
"""Number of instructions after which straight-line code begins a new basic block. The time of LLVM's quick code
generation grows faster than linearly with the length of a block; its optimisation joins the blocks first."""

# ----------------------------------------------------------------------------------- one function


class _Writer:
    """Writer of the straight-line code of one trace."""

    def __init__(
        self,
        load: Callable[[int, int, str], list[str]],
        store: Callable[[int, str, str], list[str]],
        lanes: VectorLanes = ONE,
    ) -> None:
        self.load, self.store, self.lanes = load, store, lanes
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.pairs: dict[str, tuple[str, str]] = {}
        self.fresh = 0

    def new_name(self) -> str:
        self.fresh += 1
        return f"%t{self.fresh}"

    def emit_value(self, text: str) -> str:
        name = self.new_name()
        self.lines.append(f"  {name} = {text}")
        return name

    def write(self, instruction: Instruction) -> None:
        operation = instruction.operation
        arguments = [self.values[source] for source in instruction.sources]
        if operation == ca.OP_OUTPUT:
            self.lines += self.store(instruction.place[1], arguments[0], self.new_name())
        elif operation == ca.OP_INPUT:
            name = self.new_name()
            self.lines += self.load(*instruction.place, name)
            self.values[instruction.target] = name
        else:
            self.values[instruction.target] = self.write_operation(instruction, arguments)

    def write_operation(self, instruction: Instruction, arguments: list[str]) -> str:
        operation, lanes = instruction.operation, self.lanes
        if operation == ca.OP_CONST:
            return lanes.format_constant(instruction.constant)
        if operation == ca.OP_ASSIGN:
            return arguments[0]
        if operation in (ca.OP_SIN, ca.OP_COS):
            if arguments[0] not in self.pairs:
                self.pairs[arguments[0]] = self.sine_and_cosine(arguments[0])
            return self.pairs[arguments[0]][0 if operation == ca.OP_SIN else 1]
        if operation in LIBRARY:
            return self.lane_by_lane(lambda *own: self.emit_value(_SIMPLE[operation](ONE, *own)), arguments)
        if operation in FUSED:
            return self.emit_value(self.fused_operation(*FUSED[operation], *arguments))
        if operation in _SIMPLE:
            return self.emit_value(_SIMPLE[operation](lanes, *arguments))
        return self.write_logical_operation(operation, arguments)

    def fused_operation(self, product_sign: int, sign: int, a: str, b: str, c: str) -> str:
        """Return the text of ±a·b ± c with a single rounding."""
        first = a if product_sign > 0 else self.emit_value(_SIMPLE[ca.OP_NEG](self.lanes, a))
        last = c if sign > 0 else self.emit_value(_SIMPLE[ca.OP_NEG](self.lanes, c))
        return _FUSED_CALL(self.lanes, first, b, last)

    def lane_by_lane(self, call: Callable[..., str], arguments: list[str]) -> str:
        """Apply a scalar function to each state separately."""
        if self.lanes.states == 1:
            return call(*arguments)
        own = [[self.extract_lane(each, k) for each in arguments] for k in range(self.lanes.states)]
        return self.join_lanes([call(*each) for each in own])

    def extract_lane(self, value: str, k: int) -> str:
        """Extract the number of one state."""
        return self.emit_value(f"extractelement {self.lanes.type} {value}, i32 {k}")

    def join_lanes(self, numbers: Sequence[str]) -> str:
        """Combine the numbers of all states into a vector."""
        whole = "undef"
        for k, each in enumerate(numbers):
            whole = self.emit_value(f"insertelement {self.lanes.type} {whole}, double {each}, i32 {k}")
        return whole

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        """Emit the sine and cosine of an angle."""
        type_, name = self.lanes.type, "sincos" if self.lanes.states == 1 else "sincos_wide"
        pair = self.emit_value(f"call {{{type_}, {type_}}} @{name}({type_} {x})")
        sine, cosine = (self.emit_value(f"extractvalue {{{type_}, {type_}}} {pair}, {k}") for k in (0, 1))
        return sine, cosine

    def write_logical_operation(self, operation: int, arguments: list[str]) -> str:
        """Emit a comparison or logical operation; truth values are 0.0 and 1.0."""
        type_, truths, number_ = self.lanes.type, self.lanes.truths, self.lanes.format_constant
        zero = number_(0.0)
        if operation in _CONDITIONS:
            truth = self.emit_value(_CONDITIONS[operation](self.lanes, *arguments))
        elif operation in (ca.OP_AND, ca.OP_OR):
            a, b = (self.emit_value(f"fcmp une {type_} {x}, {zero}") for x in arguments)
            truth = self.emit_value(f"{'and' if operation == ca.OP_AND else 'or'} {truths} {a}, {b}")
        elif operation == ca.OP_NOT:
            truth = self.emit_value(f"fcmp oeq {type_} {arguments[0]}, {zero}")
        elif operation == ca.OP_IF_ELSE_ZERO:
            truth = self.emit_value(f"fcmp une {type_} {arguments[0]}, {zero}")
            return self.emit_value(f"select {truths} {truth}, {type_} {arguments[1]}, {type_} {zero}")
        elif operation == ca.OP_SIGN:
            up = self.emit_value(f"fcmp ogt {type_} {arguments[0]}, {zero}")
            down = self.emit_value(f"fcmp olt {type_} {arguments[0]}, {zero}")
            inner = self.emit_value(f"select {truths} {down}, {type_} {number_(-1.0)}, {type_} {arguments[0]}")
            return self.emit_value(f"select {truths} {up}, {type_} {number_(1.0)}, {type_} {inner}")
        else:
            raise NotImplementedError(f"operation {operation} cannot be compiled to machine code")
        return self.emit_value(f"uitofp {truths} {truth} to {type_}")


def straight_line_code(
    instructions: Sequence[Instruction],
    load: Callable[[int, int, str], list[str]],
    store: Callable[[int, str, str], list[str]],
    lanes: VectorLanes = ONE,
) -> list[str]:
    """Return the lines of the instructions; `load(argument, entry, name)` and `store(entry, value, fresh)` give memory
    access."""
    writer = _Writer(load, store, lanes)
    for k, instruction in enumerate(fuse_operations(instructions)):
        if k and k % BLOCK_LENGTH == 0:
            writer.lines += [f"  br label %part{k // BLOCK_LENGTH}", f"part{k // BLOCK_LENGTH}:"]
        writer.write(instruction)
    return writer.lines


def build_module(instructions: Sequence[Instruction], sizes: Sequence[int], size: int, *, checked: bool) -> str:
    """Return the IR of a traced function.

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
        *straight_line_code(instructions, load, store),
        *finite_check_ir(size if checked else 0),
        "}",
    ]
    return "\n".join([DECLARATIONS, SINCOS, *lines, single_entry_ir(sizes), batch_entry_ir(sizes, size)])


def finite_check_ir(size: int) -> list[str]:
    """Return lines that return 1 if an entry of y is not finite (y·0 is then not 0)."""
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


def single_entry_ir(sizes: Sequence[int]) -> str:
    """Return the function i64 single(base), whose arguments and result are consecutive in memory."""
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


def batch_entry_ir(sizes: Sequence[int], size: int) -> str:
    """Return the function i64 batch(n, stride of p, arguments…, p, y), a loop over n states."""
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

"""LLVM IR that evaluates a symbolic function at several consecutive states of an array at a time.

`eval_wide` has the operations of `eval` (`core.codegen.llvm_ir`) on vectors with a number for each state, so that a
result has the same bits as that of a state by itself. Functions of the C library are called for each state.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.codegen.instructions import Instruction
from core.codegen.llvm_ir import DECLARATIONS, SINCOS, VectorLanes, sincos_ir, straight_line_code

_INTRINSICS = {
    "sqrt": 1,
    "fabs": 1,
    "floor": 1,
    "ceil": 1,
    "rint": 1,
    "minnum": 2,
    "maxnum": 2,
    "copysign": 2,
    "fma": 3,
}
"""Name → number of arguments."""


def build_wide_module(
    instructions: Sequence[Instruction], sizes: Sequence[int], size: int, lanes: VectorLanes, *, checked: bool
) -> str:
    """Return the IR of `batch` for arrays of at least `lanes.states` states that share their parameters.

    sizes : lengths of the arguments, the parameters last; size : length of the result
    checked : `batch` returns the number of states for which a result is not finite, otherwise 0
    """
    declarations = [
        f"declare {lanes.type} @llvm.{name}.{lanes.suffix}({', '.join([lanes.type] * count)})"
        for name, count in _INTRINSICS.items()
    ]
    parts = [DECLARATIONS, *declarations, SINCOS, sincos_ir(lanes), *_wide_function(instructions, sizes, size, lanes)]
    return "\n".join([*parts, _COUNT_FAILURES, _wide_batch_entry(sizes, size, lanes, checked)])


def _wide_function(
    instructions: Sequence[Instruction], sizes: Sequence[int], size: int, lanes: VectorLanes
) -> list[str]:
    """Return the lines of `eval_wide`, which evaluates consecutive states; they share the parameters."""
    last, type_, width = len(sizes) - 1, lanes.type, lanes.states

    def load(argument: int, entry: int, name: str) -> list[str]:
        lines, whole = [], "undef"
        for k in range(1 if argument == last else width):
            place, target = entry + k * sizes[argument], f"{name}v{k}"
            lines += [
                f"  {name}p{k} = getelementptr double, ptr %a{argument}, i64 {place}",
                f"  {name}s{k} = load double, ptr {name}p{k}",
                f"  {target} = insertelement {type_} {whole}, double {name}s{k}, i32 {k}",
            ]
            whole = target
        places = "zeroinitializer" if argument == last else f"<{', '.join(f'i32 {k}' for k in range(width))}>"
        return [*lines, f"  {name} = shufflevector {type_} {whole}, {type_} undef, <{width} x i32> {places}"]

    def store(entry: int, value: str, name: str) -> list[str]:
        lines = []
        for k in range(width):
            lines += [
                f"  {name}s{k} = extractelement {type_} {value}, i32 {k}",
                f"  {name}p{k} = getelementptr double, ptr %y, i64 {entry + k * size}",
                f"  store double {name}s{k}, ptr {name}p{k}",
            ]
        return lines

    parameters = ", ".join(f"ptr noalias readonly %a{i}" for i in range(len(sizes)))
    return [
        f"define internal void @eval_wide({parameters}, ptr noalias %y) nounwind {{",
        *straight_line_code(instructions, load, store, lanes),
        "  ret void",
        "}",
    ]


_COUNT_FAILURES = """
define internal i64 @failures(i64 %n, i64 %size, ptr %y) noinline nounwind {
  %some = icmp sgt i64 %size, 0
  br i1 %some, label %state, label %empty
empty:
  ret i64 0
state:
  %k = phi i64 [0, %0], [%next, %end]
  %sum = phi i64 [0, %0], [%more, %end]
  %first = mul i64 %k, %size
  %row = getelementptr double, ptr %y, i64 %first
  br label %entry
entry:
  %i = phi i64 [0, %state], [%following, %entry]
  %total = phi double [0.0, %state], [%added, %entry]
  %place = getelementptr double, ptr %row, i64 %i
  %number = load double, ptr %place
  %zero = fmul double %number, 0.0
  %added = fadd double %total, %zero
  %following = add i64 %i, 1
  %inside = icmp slt i64 %following, %size
  br i1 %inside, label %entry, label %end
end:
  %bad = fcmp une double %added, 0.0
  %flag = zext i1 %bad to i64
  %more = add i64 %sum, %flag
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %state, label %done
done:
  ret i64 %more
}
"""
"""i64 failures(n, size, y): the number of states with an entry that is not finite (times 0, it is not 0)."""


def _wide_batch_entry(sizes: Sequence[int], size: int, lanes: VectorLanes, checked: bool) -> str:
    """Return the function i64 batch(n, stride of p, arguments…, p, y). The last group of states overlaps the previous
    one."""
    count, width = len(sizes), lanes.states
    pointers = ", ".join(f"ptr %b{i}" for i in range(count))
    lines = [
        f"define i64 @batch(i64 %n, i64 %pstride, {pointers}, ptr %by) nounwind {{",
        f"  %last = sub i64 %n, {width}",
        "  br label %loop",
        "loop:",
        "  %at = phi i64 [0, %0], [%next, %loop]",
        "  %beyond = icmp sgt i64 %at, %last",
        "  %k = select i1 %beyond, i64 %last, i64 %at",
    ]
    for i, length in enumerate([*sizes[:-1], 0]):
        lines += [f"  %o{i} = mul i64 %k, {length}", f"  %a{i} = getelementptr double, ptr %b{i}, i64 %o{i}"]
    arguments = ", ".join(f"ptr %a{i}" for i in range(count))
    lines += [
        f"  %oy = mul i64 %k, {size}",
        "  %y = getelementptr double, ptr %by, i64 %oy",
        f"  call void @eval_wide({arguments}, ptr %y)",
        f"  %next = add i64 %at, {width}",
        "  %again = icmp slt i64 %next, %n",
        "  br i1 %again, label %loop, label %done",
        "done:",
        f"  %bad = call i64 @failures(i64 %n, i64 {size if checked else 0}, ptr %by)",
        "  ret i64 %bad",
        "}",
    ]
    return "\n".join(lines)

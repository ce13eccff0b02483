"""LLVM IR of a block table: the blocks, and the loop over its rows.

i64 run(ws, table, rows, places, count, y) executes the rows on the workspace and collects the result;
i64 block_batch(n, pstride, ws, table, rows, places, count, inputs…, y) does so for n states.
The text does not depend on the number of links, so its object code serves every machine of like joints.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.codegen.blocks import Block
from core.codegen.instructions import list_instructions
from core.codegen.llvm_ir import DECLARATIONS, SINCOS, straight_line_code

import casadi as ca  # isort: skip

_COPY = """
define internal void @copy(ptr noalias %to, ptr noalias %from, i64 %n) alwaysinline nounwind {
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %k = phi i64 [0, %0], [%next, %loop]
  %fp = getelementptr double, ptr %from, i64 %k
  %x = load double, ptr %fp
  %tp = getelementptr double, ptr %to, i64 %k
  store double %x, ptr %tp
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
"""

_GATHER = """
define internal void @gather(ptr %ws, ptr %places, i64 %count, ptr %y) nounwind {
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %k = phi i64 [0, %0], [%next, %loop]
  %pp = getelementptr i32, ptr %places, i64 %k
  %place = load i32, ptr %pp
  %at = getelementptr double, ptr %ws, i32 %place
  %x = load double, ptr %at
  %yp = getelementptr double, ptr %y, i64 %k
  store double %x, ptr %yp
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}
"""

_COLLECT = """
define internal double @collect(ptr %ws, ptr %places, i64 %count, ptr %y) nounwind {
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %empty
empty:
  ret double 0.0
loop:
  %k = phi i64 [0, %0], [%next, %loop]
  %sum = phi double [0.0, %0], [%more, %loop]
  %pp = getelementptr i32, ptr %places, i64 %k
  %place = load i32, ptr %pp
  %at = getelementptr double, ptr %ws, i32 %place
  %x = load double, ptr %at
  %yp = getelementptr double, ptr %y, i64 %k
  store double %x, ptr %yp
  %zero = fmul double %x, 0.0
  %more = fadd double %sum, %zero
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %loop, label %done
done:
  ret double %more
}
"""


def _block_ir(number: int, block: Block) -> str:
    instructions = list_instructions(block.function)
    inputs = [i for i in instructions if i.operation == ca.OP_INPUT]
    outputs = [i for i in instructions if i.operation == ca.OP_OUTPUT]
    between = [i for i in instructions if i.operation not in (ca.OP_INPUT, ca.OP_OUTPUT)]
    owner: list[tuple[int, int]] = [(r, k) for r, length in enumerate(block.runs) for k in range(length)]

    def load(_: int, entry: int, name: str) -> list[str]:
        run, k = owner[entry]
        return [
            f"  {name}p = getelementptr double, ptr %run{run}, i64 {k}",
            f"  {name} = load double, ptr {name}p",
        ]

    def store(entry: int, value: str, name: str) -> list[str]:
        return [f"  {name}p = getelementptr double, ptr %out, i64 {entry}", f"  store double {value}, ptr {name}p"]

    lines = [f"define internal void @block{number}(ptr %ws, ptr %row) noinline nounwind {{"]
    for r, target in enumerate([*(f"run{r}" for r in range(len(block.runs))), "out"]):
        lines += [
            f"  %w{r}p = getelementptr i32, ptr %row, i64 {r}",
            f"  %w{r} = load i32, ptr %w{r}p",
            f"  %{target} = getelementptr double, ptr %ws, i32 %w{r}",
        ]
    return "\n".join([*lines, *straight_line_code([*inputs, *between, *outputs], load, store), "  ret void", "}"])


def _run_ir(blocks: Sequence[Block], *, checked: bool) -> str:
    cases = " ".join(f"i32 {k}, label %case{k}" for k in range(len(blocks)))
    lines = [
        "define i64 @run(ptr %ws, ptr %table, i64 %rows, ptr %places, i64 %count, ptr %y) nounwind {",
        "  br label %head",
        "head:",
        "  %k = phi i64 [0, %0], [%next, %tail]",
        "  %row = phi ptr [%table, %0], [%after, %tail]",
        "  %more = icmp slt i64 %k, %rows",
        "  br i1 %more, label %body, label %done",
        "body:",
        "  %number = load i32, ptr %row",
        "  %operands = getelementptr i32, ptr %row, i64 1",
        f"  switch i32 %number, label %done [ {cases} ]",
    ]
    joined = []
    for k, block in enumerate(blocks):
        length = len(block.runs) + 2
        lines += [
            f"case{k}:",
            f"  call void @block{k}(ptr %ws, ptr %operands)",
            f"  %after{k} = getelementptr i32, ptr %row, i64 {length}",
            "  br label %tail",
        ]
        joined.append(f"[%after{k}, %case{k}]")
    gathered = [
        "  %sum = call double @collect(ptr %ws, ptr %places, i64 %count, ptr %y)",
        "  %bad = fcmp une double %sum, 0.0",
        "  %flag = zext i1 %bad to i64",
    ]
    lines += [
        "tail:",
        f"  %after = phi ptr {', '.join(joined)}",
        "  %next = add i64 %k, 1",
        "  br label %head",
        "done:",
        *(gathered if checked else ["  call void @gather(ptr %ws, ptr %places, i64 %count, ptr %y)"]),
        f"  ret i64 {'%flag' if checked else '0'}",
        "}",
    ]
    return "\n".join(lines)


def _batch_ir(lengths: Sequence[int]) -> str:
    count = len(lengths)
    pointers = ", ".join(f"ptr %b{i}" for i in range(count))
    lines = [
        "define i64 @block_batch(i64 %n, i64 %pstride, ptr %ws, ptr %table, i64 %rows, ptr %places, i64 %count, "
        f"{pointers}, ptr %by) nounwind {{",
        "  %some = icmp sgt i64 %n, 0",
        "  br i1 %some, label %loop, label %empty",
        "empty:",
        "  ret i64 0",
        "loop:",
        "  %k = phi i64 [0, %0], [%next, %loop]",
        "  %sum = phi i64 [0, %0], [%more, %loop]",
    ]
    place = 0
    for i, length in enumerate(lengths):
        stride = "%pstride" if i == count - 1 else str(length)
        lines += [
            f"  %o{i} = mul i64 %k, {stride}",
            f"  %a{i} = getelementptr double, ptr %b{i}, i64 %o{i}",
            f"  %w{i} = getelementptr double, ptr %ws, i64 {place}",
            f"  call void @copy(ptr %w{i}, ptr %a{i}, i64 {length})",
        ]
        place += length
    lines += [
        "  %oy = mul i64 %k, %count",
        "  %y = getelementptr double, ptr %by, i64 %oy",
        "  %bad = call i64 @run(ptr %ws, ptr %table, i64 %rows, ptr %places, i64 %count, ptr %y)",
        "  %more = add i64 %sum, %bad",
        "  %next = add i64 %k, 1",
        "  %again = icmp slt i64 %next, %n",
        "  br i1 %again, label %loop, label %done",
        "done:",
        "  ret i64 %more",
        "}",
    ]
    return "\n".join(lines)


def build_module(blocks: Sequence[Block], lengths: Sequence[int], *, checked: bool) -> str:
    """Return the IR of a table's blocks and of the loops that run them; `checked` as in
    `core.codegen.llvm_ir.module`."""
    bodies = [_block_ir(number, block) for number, block in enumerate(blocks)]
    return "\n".join(
        [
            DECLARATIONS,
            SINCOS,
            _COPY,
            _COLLECT if checked else _GATHER,
            *bodies,
            _run_ir(blocks, checked=checked),
            _batch_ir(lengths),
        ]
    )

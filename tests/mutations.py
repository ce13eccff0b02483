"""Random mutations of `core`, each of which some test should notice: a measure of what the tests see.

    python -m tests.mutations --count 40 --seed 1                  those of `make test`
    python -m tests.mutations --count 40 --seed 1 --slow           all tests
    python -m tests.mutations --seed 1 --only 7                    one mutation again

Each is made in a copy of what git tracks. The tests that name the module, or its room, run until one fails. A mutation
that survives is printed with its line: it needs an assertion, or changes nothing that anybody could see.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COMPILED = ("core/simulation/", "core/numerics/")
"""Rooms whose texts become machine code, which takes minutes to make again."""
PATIENCE = 1800.0
"""s; a mutation that keeps tests from ending is noticed."""
OTHERS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">",
    ast.Eq: "!=", ast.NotEq: "==", ast.And: "or", ast.Or: "and", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not",
    ast.IsNot: "is",
}  # fmt: skip
"""Operator → the one that takes its place."""


class Mutation(NamedTuple):
    """A text in the place of another one; begin, end : bytes of the file."""

    file: str
    line: int
    begin: int
    end: int
    text: str

    def __str__(self) -> str:
        source = (ROOT / self.file).read_bytes()
        line = source.splitlines()[self.line - 1].decode().strip()
        return f"{self.file}:{self.line}: {source[self.begin : self.end].decode()!r} → {self.text!r} in `{line}`"


def mutations_of(file: str) -> Iterator[Mutation]:
    """All that may be done to a file: operators, numbers and conditions of functions change."""
    source = (ROOT / file).read_bytes()
    begins = [0, *(match.end() for match in re.finditer(b"\n", source))]

    def place(node: ast.expr, end: bool = False) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)
        return begins[line - 1] + column

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Mutation]:
        begin, end = place(left, end=True), place(right)
        words = re.search(rb"not in|is not|and|or|in|is|[<>=!]=|[-+*/<>]", source[begin:end])
        if words and type(operator) in OTHERS and b"**" not in source[begin:end] and b"//" not in source[begin:end]:
            text = OTHERS[type(operator)]
            yield Mutation(file, left.end_lineno, begin + words.start(), begin + words.end(), text)

    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    for node in (node for function in functions for part in function.body for node in ast.walk(part)):
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                yield from between(left, right, operator)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                yield from between(left, right, operator)
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                yield from between(left, right, operator)
            case ast.Constant(value=bool(value)):
                yield Mutation(file, node.lineno, place(node), place(node, end=True), str(not value))
            case ast.Constant(value=int(value) | float(value)):
                text = str(value + 1) if isinstance(value, int) else repr(2.0 * value + (value == 0.0))
                yield Mutation(file, node.lineno, place(node), place(node, end=True), text)
            case ast.If(test=test) | ast.IfExp(test=test):
                begin, end = place(test), place(test, end=True)
                yield Mutation(file, test.lineno, begin, end, f"(not ({source[begin:end].decode()}))")


def drawn(count: int, seed: int) -> list[Mutation]:
    """So many mutations, each as likely as any other."""
    files = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "core").rglob("*.py")))
    found = {mutation for file in files if not file.startswith(COMPILED) for mutation in mutations_of(file)}
    return random.Random(seed).sample(sorted(found), count)


def related(file: str) -> list[str]:
    """Tests that name a module, then those of rooms of its name, then those that name its room."""
    module, room = file.removesuffix(".py").replace("/", "."), file.split("/")[1].removesuffix(".py")
    name = module.rpartition(".")[2]
    ranks: dict[str, int] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text, parts = path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts
        own = module in text or re.search(rf"from {re.escape(module.rpartition('.')[0])} import .*\b{name}\b", text)
        rank = 0 if own else 1 if room in parts[:-1] or name in path.stem else 2 if f"core.{room}" in text else None
        if rank is not None and parts[1] not in ("app", "project"):
            ranks["/".join(parts)] = rank
    return sorted(ranks, key=lambda test: (ranks[test], test))


def survives(mutation: Mutation, copy: Path, options: list[str]) -> bool:
    """Whether all related tests pass with it."""
    place = copy / mutation.file
    source = place.read_bytes()
    place.write_bytes(source[: mutation.begin] + mutation.text.encode() + source[mutation.end :])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *related(mutation.file)]
    try:
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=PATIENCE).returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        place.write_bytes(source)


def main() -> None:
    """Make them one after the other, and say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one mutation")
    parser.add_argument("--slow", action="store_true", help="with the tests that are marked slow")
    given = parser.parse_args()
    options, survivors = ["-m", ""] if given.slow else [], 0
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(None, tracked):
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, Path(folder) / name)
        kept = "core/machine_code/intermediate_code"
        shutil.copytree(ROOT / kept, Path(folder) / kept, dirs_exist_ok=True)
        for number, mutation in enumerate(drawn(given.count, given.seed)):
            if given.only in (None, number):
                lives = survives(mutation, Path(folder), options)
                survivors += lives
                print(f"{number:3d} {'SURVIVES' if lives else 'dies'}  {mutation}", flush=True)
    print(f"{survivors} survive")


if __name__ == "__main__":
    main()

"""One idea a file: no file or function is long without a reason, none so short that it is no idea of its own."""

import ast
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.sources import parsed

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "viz", "benchmarks", "resources")
LONG_FILE, LONGEST_FILE = 600, 900
"""Lines from which a file is looked at, and beyond which it needs a reason."""
SHORT_FILE = 40
"""Lines below which a file must be wanted by two others, by another room, or be a kind."""
LONGEST_FUNCTION, LONGEST_OF_NUMERICS = 50, 80
"""Lines of a function's body; loops of numerics in machine code cost a call for each cut."""
NUMERICS = (
    "core/numerics/",
    "core/constraints/closed_forms/",
    "core/simulation/equations/",
    "core/simulation/methods/",
    "core/simulation/stepping.py",
    "core/simulation/events/",
)
KINDS = (
    "app/cli/",
    "app/commands/",
    "core/mechanics/elements/forces/",
    "core/mechanics/elements/constraints/",
    "core/joints/",
    "core/mechanics/",
    "core/simulation/methods/",
    "viz/drawlist/elements/",
    "viz/drawlist/joints/",
)
"""Rooms in which each file is one of a kind: a command's verb, an element, a joint, a recursion, a method, a look."""

EXCEPTIONS: dict[str, str] = {
    "benchmarks/problems.py:flyball_governor": "the equations of one machine, as its source lists them",
}
"""File, or file:function, with the reason why it may be longer or shorter."""


@cache
def sources() -> dict[str, Path]:
    return {path.relative_to(ROOT).as_posix(): path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))}


def statements(block: ast.AST) -> Iterator[ast.stmt]:
    """All statements of a module, at any depth; imports and functions are among them, which is all that is sought."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(block, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


class Facts(NamedTuple):
    """What is asked of a file: the modules and names it imports, its functions with their lines, its docstring."""

    imports: frozenset[str]
    functions: tuple[tuple[str, int], ...]
    idea: str | None


@cache
def facts(path: Path) -> Facts:
    """They are read once; the tree itself would take too much memory."""
    tree = parsed(path)
    imports, functions = set[str](), list[tuple[str, int]]()
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.name, body_lines(node)))
    return Facts(frozenset(imports), tuple(functions), ast.get_docstring(tree))


@cache
def importers() -> dict[str, set[str]]:
    """Module → the files that import it or from it, tests included."""
    found: dict[str, set[str]] = {}
    for path in (*sources().values(), *(ROOT / "tests").rglob("*.py"), ROOT / "kinetostat.py"):
        for name in facts(path).imports:
            found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without the docstring."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def test_files_and_their_functions_are_of_bearable_size():
    too_long = []
    for name, path in sources().items():
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LONG_FILE:
            warnings.warn(f"{name} has {lines} lines: is it still one idea?", stacklevel=1)
        if lines > LONGEST_FILE and name not in EXCEPTIONS:
            too_long.append(f"{name}: {lines} lines")
        most = LONGEST_OF_NUMERICS if name.startswith(NUMERICS) else LONGEST_FUNCTION
        for function, length in facts(path).functions:
            if length > most and f"{name}:{function}" not in EXCEPTIONS:
                too_long.append(f"{name}:{function}: {length} lines")
    assert not too_long, "Split these, or give the reason in EXCEPTIONS:\n" + "\n".join(too_long)


def test_no_short_file_is_a_piece_of_another():
    pieces = []
    for name, path in sources().items():
        own = name in EXCEPTIONS or name.startswith(KINDS) or path.stem.startswith("__")
        if own or path.read_text(encoding="utf-8").count("\n") >= SHORT_FILE:
            continue
        users = importers().get(name.removesuffix(".py").replace("/", "."), set())
        rooms = {user.rpartition("/")[0] for user in users}
        runs = "__main__" in path.read_text(encoding="utf-8")
        if not runs and len(users) < 2 and rooms <= {name.rpartition("/")[0]}:
            pieces.append(f"{name} is imported by {', '.join(users) or 'nobody'}")
    assert not pieces, "Join these to what imports them:\n" + "\n".join(pieces)


def test_every_file_says_its_idea():
    silent = [name for name, path in sources().items() if not facts(path).idea]
    assert not silent


def test_exceptions_exist():
    for exception in EXCEPTIONS:
        file, _, function = exception.partition(":")
        assert not function or f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), exception

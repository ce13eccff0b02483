"""Files stay under 600 lines and functions under 40, so that each can be read at one sitting."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "viz", "benchmarks", "resources")
MAX_FILE = 600
MAX_FUNCTION = 40

EXCEPTIONS: dict[str, str] = {}
"""File, or file:function, with the reason why it may be longer."""


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without the docstring."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file_and_its_functions_are_short(path):
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    too_long = []
    if text.count("\n") > MAX_FILE and name not in EXCEPTIONS:
        too_long.append(f"{name}: {text.count(chr(10))} lines")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = body_lines(node)
            if lines > MAX_FUNCTION and f"{name}:{node.name}" not in EXCEPTIONS:
                too_long.append(f"{name}:{node.name}: {lines} lines")
    assert not too_long, "Split these, or give the reason in EXCEPTIONS:\n" + "\n".join(too_long)


def test_exceptions_exist():
    for exception in EXCEPTIONS:
        file, _, function = exception.partition(":")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"def {function}(" in text if function else text.count("\n") > MAX_FILE, (
            f"{exception} is no longer needed"
        )

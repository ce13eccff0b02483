"""One meaning a word: names in the code are those of docs/notation.md, not the ones they replaced."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "viz", "benchmarks", "resources")

OLD_NAMES = {
    "holding", "holdings", "Holding", "holding_forces", "loop_jacobian", "closure_jacobian", "closure_rows", "Closing",
    "least_forces", "Chord", "CHORDS", "chord", "chords", "Instant", "instant", "Situation", "situation", "latch",
    "latches", "Latches", "LATCH", "TORN", "torn", "COLLAPSED", "Stops", "wishes", "Wishes", "wish",
    "spoken", "told", "way", "ways", "Way", "SURE", "DUST", "NEAR", "HAIR", "LEAP", "STEEP", "RANK", "OPEN",
    "CLOSED", "SLIP", "slip", "counted_angles", "Assembly", "broken_formulas", "contradictions",
    "open_loops", "conflicts", "dead_ends", "voids", "plausibility", "doubtful_forces", "doubtful_formulas",
}  # fmt: skip
"""Names that meant several things, or were our own where the field has a word."""
OLD_ATTRIBUTES = {"held", "gaps", "told", "spoken", "wishes", "closure_rows"}
"""Members that a `Mechanism`, a session or the settings had by these names."""


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def names_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """What a file defines or binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).rpartition(".")[2], node.lineno


def test_no_old_word_is_a_name():
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sources()
        for name, line in names_of(ast.parse(path.read_text(encoding="utf-8")))
        if name in OLD_NAMES
    ]
    assert not found, "docs/notation.md has a word for each of these:\n" + "\n".join(found)


def test_no_old_member_is_asked_for():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} .{node.attr}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in OLD_ATTRIBUTES
    ]
    assert not found


@pytest.mark.parametrize(
    "page", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"], ids=lambda page: page.name
)
def test_pages_quote_no_old_name(page):
    quoted = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    words = {word for text in quoted for word in re.findall(r"\w+", text)}
    assert not words & (OLD_NAMES - {"way", "trace"})

"""One meaning a word: names in the code are those of docs/notation.md, not the ones they replaced."""

import ast
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.sources import parsed

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


@cache
def names() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(place, name) of what files define or bind, and of the members they ask for."""
    bound, asked = [], []
    for path in sources():
        file = path.relative_to(ROOT)
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bound.append((f"{file}:{node.lineno}", node.name))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.append((f"{file}:{node.lineno}", node.id))
            elif isinstance(node, ast.arg):
                bound.append((f"{file}:{node.lineno}", node.arg))
            elif isinstance(node, ast.alias):
                bound.append((f"{file}:{node.lineno}", (node.asname or node.name).rpartition(".")[2]))
            elif isinstance(node, ast.Attribute):
                asked.append((f"{file}:{node.lineno}", node.attr))
    return bound, asked


def test_no_old_word_is_a_name():
    found = [f"{place} {name}" for place, name in names()[0] if name in OLD_NAMES]
    assert not found, "docs/notation.md has a word for each of these:\n" + "\n".join(found)


def test_no_old_member_is_asked_for():
    assert not [f"{place} .{name}" for place, name in names()[1] if name in OLD_ATTRIBUTES]


QUESTIONS = re.compile(r"(What|Where|Whether|How|Who|Whose|Which|When|Why)\b")


def described(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of docstrings, and of texts below constants and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
        block = getattr(node, "body", None)
        for before, after in itertools.pairwise(block if isinstance(block, list) else ()):
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(text, str):
                yield after.lineno, text


def test_descriptions_begin_with_a_verb_or_a_noun():
    places = ((path.relative_to(ROOT), line, text) for path in sources() for line, text in described(parsed(path)))
    found = [f"{path}:{line}: {text[:60]}" for path, line, text in places if QUESTIONS.match(text)]
    assert not found, "Say what it is or does:\n" + "\n".join(found)


def test_pages_quote_no_old_name():
    found = []
    for page in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"):
        quoted = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
        words = {word for text in quoted for word in re.findall(r"\w+", text)}
        found += [f"{page.name}: {word}" for word in sorted(words & (OLD_NAMES - {"way", "trace"}))]
    assert not found

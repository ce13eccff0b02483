"""What the pages name exists; the table of rooms is the import contract, docs/rooms.md has a section for each row."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.sources import parsed

ROOT = Path(__file__).parents[2]
PARTS = ("core", "viz", "app")
PAGE, ROOMS = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("architecture", "rooms"))
QUALIFIED = re.compile(r"(?:app|benchmarks|core|resources|tests|viz)(?:[./]\w+)+")
CODE = re.compile(r"`([^`]+)`")
FENCE = re.compile(r"^```.*$", re.MULTILINE)
ROWS = re.findall(r"^\| (`.*?) \|", PAGE.split("\n## Rooms\n")[1].split("\n## ")[0], re.MULTILINE)
"""First cells of the table of rooms."""
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", ROOMS, re.MULTILINE | re.DOTALL))
"""Headings of docs/rooms.md and what stands below them."""


def named():
    """Files, modules and what they define, as the pages name them in full."""
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    texts = (FENCE.sub("`", page.read_text(encoding="utf-8")) for page in pages)
    code = [found for text in texts for found in CODE.findall(text)]
    return sorted({match for text in code for match in QUALIFIED.findall(text)})


def statements_of(body):
    """Statements of a module and of its classes, not of functions."""
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from statements_of(getattr(statement, part, ()))


@cache
def names_in(path):
    """(what a module makes: functions, parameters, classes, constants, attributes; what it imports)."""
    tree = parsed(path)
    made, imported = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                made.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()):
                made.add(name)
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                imported |= set.union(*names_in(ROOT / f"{module.replace('.', '/')}.py"))
            case ast.ImportFrom() | ast.Import():
                imported.update(alias.asname or alias.name for alias in node.names)
    for statement in statements_of(tree.body):
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            made.update(name.id for name in names if isinstance(name.ctx, ast.Store))
    return made, imported


def rooms_of(*cells):
    """The folders and single files that rows or headings name, in their order."""
    return [room for cell in cells for name in CODE.findall(cell) for room in sorted(ROOT.glob(name))]


def names_of(cell):
    """Every name that stands for something in these rooms: of folders, of files, in files, in the face of a room."""
    names = set()
    for path in (file for room in rooms_of(cell) for file in (room.rglob("*.py") if room.is_dir() else [room])):
        made, imported = names_in(path)
        names |= made | {path.stem, *path.relative_to(ROOT).parts} | (imported if path.stem == "__init__" else set())
    return names


def unknown(cell, text):
    """Back-quoted names of a section that nothing in its rooms bears, in full or as they stand."""
    code = [code for code in CODE.findall(text) if " " in code or not (ROOT / code).exists()]
    bare = [QUALIFIED.sub("", re.sub(r'"[^"]*"', "", each)) for each in code]
    words = {word for each in bare for word in re.findall(r"[^\W\d]\w*", each)}
    return sorted(words - names_of(cell))


def missing(name):
    """What of a name in full does not exist: "" if all does."""
    if (ROOT / name).exists():
        return ""
    parts = re.split(r"[./]", name.removesuffix(".py"))
    folder = ROOT
    while parts and (folder / parts[0]).is_dir():
        folder = folder / parts.pop(0)
    module = folder / f"{parts[0]}.py" if parts else folder
    if parts and module.exists():
        parts.pop(0)
    else:
        module = folder / "__init__.py"
    if not parts or set(parts) <= set.union(*names_in(module)):
        return ""
    return f"{name}: {parts} is not in {module.relative_to(ROOT)}"


def test_what_the_pages_name_exists():
    assert not [text for name in named() if (text := missing(name))]


def test_every_room_has_its_row_and_section():
    rooms = {path.parent for part in PARTS for path in (ROOT / part).glob("*/__init__.py")}
    modules = {path for part in PARTS for path in (ROOT / part).glob("*.py") if not path.stem.startswith("__")}
    assert not (rooms | modules) - set(rooms_of(*ROWS))
    assert list(SECTIONS) == ROWS


def test_sections_name_what_their_rooms_hold():
    assert not {cell: words for cell, section in SECTIONS.items() if (words := unknown(cell, section))}


def test_names_of_other_rooms_and_old_ones_are_found():
    cell = "`core/numerics`"
    assert unknown(cell, "`solve_with_restarts` of `position_solver`, `core.mechanics.rnea`") == []
    assert unknown(cell, "`rnea`, `position_solver.closing`, `PositionProblem`") == ["closing", "rnea"]


@pytest.mark.parametrize("part", PARTS)
def test_the_order_of_the_table_is_the_contract(part):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == [part])
    rows = [room.stem for room in rooms_of(*ROWS) if room.parent == ROOT / part and room.stem != "__init__"]
    for layer in reversed(layers):
        floor = set(re.split(r" [|:] ", layer)) - {"__main__"}
        assert set(rows[: len(floor)]) == floor
        del rows[: len(floor)]
    assert not rows


def test_decisions_are_linked_and_links_lead_somewhere():
    linked = set(re.findall(r"\]\(([\w/]+\.md)\)", PAGE))
    assert all((ROOT / "docs" / link).exists() for link in linked)
    assert {f"decisions/{path.name}" for path in (ROOT / "docs" / "decisions").glob("*.md")} <= linked

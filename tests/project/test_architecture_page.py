"""What docs/architecture.md and docs/rooms.md name exists, and every room is named."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE, ROOMS = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("architecture", "rooms"))
QUALIFIED = re.compile(r"(?:app|benchmarks|core|resources|tests|viz)(?:[./]\w+)+")


def named():
    """Files, modules and what they define, as the pages name them in full."""
    code = re.findall(r"`([^`]+)`", f"{PAGE} {ROOMS}")
    return sorted({match for text in code for match in QUALIFIED.findall(text)})


def defined_in(path):
    """Names that a module or package offers, and the members of its classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@pytest.mark.parametrize("name", named())
def test_what_the_page_names_exists(name):
    if (ROOT / name).exists():
        return
    parts = re.split(r"[./]", name.removesuffix(".py"))
    folder = ROOT
    while parts and (folder / parts[0]).is_dir():
        folder = folder / parts.pop(0)
    module = folder / f"{parts[0]}.py" if parts else folder
    if parts and module.exists():
        parts.pop(0)
    else:
        module = folder / "__init__.py"
    if parts:
        assert set(parts) <= defined_in(module), f"{name}: {parts} is not in {module.relative_to(ROOT)}"


def test_every_room_has_its_row_and_section():
    rooms = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "core").glob("*/__init__.py")}
    rows = set(re.findall(r"^\| `([\w/]+)` \|", PAGE, re.MULTILINE))
    assert rooms <= rows
    assert {"app", "viz", "resources"} <= rows
    assert not [room for room in rooms if f"`{room}" not in ROOMS]


def test_decisions_are_linked_and_links_lead_somewhere():
    linked = set(re.findall(r"\]\(([\w/]+\.md)\)", PAGE))
    assert all((ROOT / "docs" / link).exists() for link in linked)
    assert {f"decisions/{path.name}" for path in (ROOT / "docs" / "decisions").glob("*.md")} <= linked

"""The page on friction and stops leads through each file that works with contact rows, and names functions in it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "friction_and_stops.md").read_text(encoding="utf-8")
OF_FORMULAS = {"event_indicators", "event_location", "sampled_signals", "sign_changes", "sliding_modes"}
"""Files about formulas that switch and sampled signals, with or without contact rows."""
OF_ALL = {"__init__", "compiled_equations", "system"}
LINK_OR_FUNCTION = re.compile(r"\]\(\.\./([\w/]+\.py)\)|\(`(\w+)`\)")


def test_each_file_is_linked_once():
    folders = [ROOT / "core" / "simulation" / name for name in ("equations", "events")]
    files = [path for folder in folders for path in folder.glob("*.py") if path.stem not in OF_FORMULAS | OF_ALL]
    about = {
        str(path.relative_to(ROOT))
        for path in files
        if path.parent.name == "events" or "contact_rows" in path.read_text(encoding="utf-8")
    }
    linked = [link for link, _ in LINK_OR_FUNCTION.findall(TEXT) if link]
    assert about <= set(linked)
    assert len(linked) == len(set(linked))


def test_functions_are_those_of_the_file_before():
    functions, file = 0, ""
    for link, name in LINK_OR_FUNCTION.findall(TEXT):
        file = link or file
        if name:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.alias)}, name
            functions += 1
    assert functions > 5


def test_a_reader_gets_through_it():
    assert len(TEXT.splitlines()) <= 150

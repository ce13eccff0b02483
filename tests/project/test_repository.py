"""What lies in the tree: no places of one machine, no broken links, verbs and versions that exist."""

import functools
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import kinetostat
from resources import ICONS

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".toml", ".kst", ".rob", ".urdf", ".xml", ".json", ".yml", ".cfg", ".txt", ".svg", ".csv", ""}
SKIP = {"build", "dist", "__pycache__"}
# written in pieces so that this file does not find itself
PLACES = (
    "/wo" + "rk/",
    "/ro" + "ot/",
    "/ho" + "me/",
    "/opt" + "/py",
    "C:\\Us" + "ers",
    "127.0" + ".0.1",
    "pypi" + ".org",
)


def is_made_by_tools(part: str) -> bool:
    """Whether a folder or file name is one of those that git does not keep."""
    return part in SKIP or part.endswith(".egg-info") or (part.startswith(".") and part not in (".ci", ".gitignore"))


@functools.cache
def texts() -> list[Path]:
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not is_made_by_tools(name)]
        found += [Path(folder, name) for name in files if Path(name).suffix in TEXT and not is_made_by_tools(name)]
    return found


def documents() -> list[Path]:
    return [path for path in texts() if path.suffix == ".md"]


def test_no_places_of_one_machine():
    found = []
    for path in texts():
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {place}" for place in PLACES if place in text]
    assert not found


def test_links_lead_somewhere():
    missing = []
    for path in documents():
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
        broken = [link for link in links if "://" not in link and not (path.parent / link).exists()]
        missing += [f"{path.relative_to(ROOT)}: {link}" for link in broken]
    assert not missing


def test_verbs_named_in_documents_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = set(re.findall(r"^\s*make ([a-z-]+)|`make ([a-z-]+)`", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert {a or b for a, b in named} <= targets


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    shown = subprocess.run(
        [sys.executable, "-m", "app", "--version"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout.split()[-1] == kinetostat.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(kinetostat.__version__)}\b", changes, re.MULTILINE)


def test_icons_are_drawings_on_the_common_grid():
    drawn = {path.stem: ElementTree.parse(path).getroot() for path in ICONS.glob("*.svg")}
    assert drawn.pop("kinetostat").get("viewBox") == "0 0 256 256"
    own_grid = {name: root.get("viewBox") for name, root in drawn.items() if root.get("viewBox") != "0 0 24 24"}
    assert not own_grid
    assert not [name for name, root in drawn.items() if root.get("stroke") != "currentColor"]


def test_icons_named_in_code_exist():
    names = set()
    for path in (ROOT / "app").rglob("*.py"):
        names |= set(re.findall(r'icon\s*=\s*"([a-z_]+)"', path.read_text(encoding="utf-8")))
        names |= set(re.findall(r'\bicon\("([a-z_]+)"', path.read_text(encoding="utf-8")))
    assert names <= {path.stem for path in ICONS.glob("*.svg")}


def test_reference_of_fields_is_up_to_date():
    from docs.make_fields import page

    written = (ROOT / "docs" / "fields.md").read_text(encoding="utf-8")
    assert written == page(), "run: make docs"


def test_function_reference_is_up_to_date():
    from docs.make_functions import page

    written = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    assert written == page(), "run: make docs"


LARGE = {"belt_oscillator.gif", "bouncing_pendulum.gif", "drawing.gif"}
"""Films on the pages."""


def test_no_large_file_is_kept():
    """Every version of a file stays in the repository for good. Meshes of the example arm are as they were made."""
    folders = (
        path for name in ("app", "core", "docs", "resources", "tests", "viz") for path in (ROOT / name).rglob("*")
    )
    kept = (path for path in folders if path.suffix in {".gif", ".png", ".webp", ".h5", ".npz", ".bin", ".pdf", ".mp4"})
    assert {path.name for path in kept if path.stat().st_size > 100_000} <= LARGE


def test_no_group_of_a_pattern_is_possessive():
    """Python before 3.11.5 matches them wrongly where something inside could be given back (gh-106052)."""
    sources = (path for room in ("app", "core", "viz") for path in (ROOT / room).rglob("*.py"))
    pattern = re.compile(r"\)(?:\?|\*|\+|\{[\d,]+\})\+")
    assert not [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"r[bf]?[\"']", line) and pattern.search(line)
    ]

"""The names that imports, docstrings and strings have when the program is installed as one package."""

import ast
import re
from pathlib import Path

import pytest

from setup import HOME, ROOMS, installed

ROOT = Path(__file__).parents[2]
MODULES = [ROOT / "kinetostat.py", *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
MENTIONED = re.compile(rf"(?<![\w./-])(?:{HOME}\.)?(?:{'|'.join(ROOMS)})(?:\.[a-zA-Z_]\w*)+")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from core.files import load, save", "from kinetostat.core.files import load, save"),
        ("from core import errors as errors", "from kinetostat.core import errors as errors"),
        ("from app.cli import (\n    main,\n)", "from kinetostat.app.cli import (\n    main,\n)"),
        ("if x:\n    from viz.look import Look", "if x:\n    from kinetostat.viz.look import Look"),
        ("import core.files as files, os", "import kinetostat.core.files as files, os"),
        ("import resources", "from kinetostat import resources"),
        ("place = 'core.errors'", "place = 'kinetostat.core.errors'"),
        ("f\"{find('viz.look')} Δ\"", "f\"{find('kinetostat.viz.look')} Δ\""),
        (
            '"""Δ: see `core.files`,\nor python -m app.cli."""',
            '"""Δ: see `kinetostat.core.files`,\nor python -m kinetostat.app.cli."""',
        ),
    ],
)
def test_our_names_stand_in_the_package(text, expected):
    assert installed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "from coreutils.files import load",
        "from .core import files",
        "import os.path, sys",
        "import appdirs",
        "core.files = app.exec()",
        "title = 'the core.files of a machine'",
        "path = 'core/files.py'",
        '"""The core. Files in docs/core.md and my.core.files; score.points."""',
        "# from core.files import load",
    ],
)
def test_what_is_not_ours_stays(text):
    assert installed(text) == text


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("\nimport core.files", "Line 2: write `from core.files import"),
        ("import core, os", "a line of its own"),
        ("f'core.files.{name}'", "begin 'core.files.' with __package__"),
        ("from  core import errors", "one space"),
        ("x = 'core.' 'files'", "in one string"),
    ],
)
def test_a_form_that_could_not_be_kept_is_refused(text, remedy):
    with pytest.raises(ValueError, match=re.escape(remedy)):
        installed(text)


def exists(name: str) -> bool:
    """Whether a dotted name leads to a module of ours, or into one."""
    parts = name.removeprefix(f"{HOME}.").split(".")
    return (ROOT.joinpath(*parts[:2])).is_dir() or ROOT.joinpath(*parts[:2]).with_suffix(".py").is_file()


def last_name(function: ast.expr) -> str:
    """What is called, without what it belongs to."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def foreign_to_the_package(tree: ast.AST) -> list[str]:
    """What an installed module calls by a name of the checkout, or by a name that leads nowhere."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found += [node.module] if node.module.partition(".")[0] in ROOMS else []
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in ROOMS]
        elif isinstance(node, ast.Call) and last_name(node.func).endswith("import_module"):
            found += [each.value for each in node.args if isinstance(each, ast.Constant) and each.value in ROOMS]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = MENTIONED.findall(node.value)
            found += [name for name in names if not name.startswith(f"{HOME}.") or not exists(name)]
    return found


def test_no_module_keeps_a_name_of_the_checkout():
    foreign, changed = {}, []
    for path in MODULES:
        file, old = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        new = installed(old)
        if names := foreign_to_the_package(ast.parse(new)):
            foreign[file] = names
        if new.replace(f"{HOME}.", "") != old.replace(f"{HOME}.", ""):
            changed.append(file)
    assert not foreign, "Import as others do; begin a name put together with __package__"
    assert not changed, "More than names of packages differs in these when installed"

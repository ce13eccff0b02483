"""Modules are called after what they hold."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "tools_misc"}


def modules() -> list[Path]:
    return [path for room in ("app", "core", "viz", "benchmarks", "resources") for path in (ROOT / room).rglob("*.py")]


def test_no_module_is_called_like_one_of_the_standard_library():
    taken = {path for path in modules() if path.stem in sys.stdlib_module_names and not path.stem.startswith("__")}
    assert not taken


def test_no_empty_words():
    assert not [path for path in modules() if path.stem in EMPTY_WORDS]


def test_test_files_have_names_of_their_own():
    count = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, number in count.items() if number > 1]


def test_no_packages_under_tests():
    assert not list((ROOT / "tests").rglob("__init__.py"))

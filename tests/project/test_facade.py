"""The scripting interface: every name is there, and importing it costs nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kinetostat
from core.model import element_classes

ROOT = Path(__file__).parents[2]


def test_every_name_is_there():
    assert not [name for name in kinetostat.__all__ if getattr(kinetostat, name) is None]


def test_elements_of_documents_are_among_the_names_of_scripts():
    assert set(element_classes.__all__) <= set(kinetostat.__all__)
    assert set(dir(kinetostat)) == set(kinetostat.__all__)
    assert kinetostat.Body is element_classes.Body


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kinetostat.nothing  # noqa: B018


def test_importing_loads_no_library():
    heavy = ("numpy", "casadi", "vtkmodules", "PySide6", "core")
    code = f"import sys, kinetostat; print(*(m for m in {heavy!r} if m in sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.split() == []


def test_annotations_and_names_agree():
    text = (ROOT / "kinetostat.py").read_text(encoding="utf-8")
    checked = text.split("if TYPE_CHECKING:")[1].split("_MODULES")[0]
    assert "from core.model.element_classes import *" in checked
    for name in {*kinetostat.__all__[1:]} - {*element_classes.__all__}:
        assert f" {name}," in checked or f" {name}\n" in checked


@pytest.mark.parametrize("name", ["core.py", "app.py", "viz/__init__.py", "resources"])
def test_what_hides_a_package_of_the_checkout_is_named(tmp_path, name):
    """In the folder of a person's script; the checkout is found as by an editable installation, after all folders."""
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("") if mine.suffix else mine.mkdir()
    code = (
        "import sys; from importlib.machinery import PathFinder as finder\n"
        "class Checkout: find_spec = lambda name, *_: finder.find_spec(name, [sys.argv[1]])\n"
        "sys.meta_path.append(Checkout)\n"
        "from kinetostat import errors"
    )
    command = [sys.executable, "-S", "-c", code, str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    room = name.partition("/")[0].removesuffix(".py")
    assert f"ImportError: Kinetostat's own '{room}' is hidden by {mine}. Rename that" in done.stderr
    assert f"pip install {ROOT}" in done.stderr
    mine.rename(tmp_path / "mine") if mine.parent == tmp_path else mine.parent.rename(tmp_path / "mine")
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=60)

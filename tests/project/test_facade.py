"""The scripting interface: every name is there, and importing it costs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import kinetostat

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", kinetostat.__all__)
def test_every_name_is_there(name):
    assert getattr(kinetostat, name) is not None


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
    checked = text.split("if TYPE_CHECKING:")[1].split("_PLACES")[0]
    for name in kinetostat._PLACE:
        assert f" {name}," in checked or f" {name}\n" in checked

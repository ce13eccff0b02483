"""Additions as a newcomer makes them: a class alone is enough, and what is wrong with it is an error that says so."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from app.dialogs.help import window_topics
from app.document.session import ElementRef, Session
from app.panels.properties.panel import PropertyEditor
from core.kinds import KindError
from core.mechanics.elements import forces
from core.model import FORCE_KINDS
from core.programs import program
from viz.drawlist.draw_list import build_draw_list

MAGNET = """
from core.mechanics.elements.forces.line_law import LineLaw
from core.model import Quantity

class Magnets(LineLaw):
    name, title = "magnets", "Attracting magnets"
    help = "Two poles that attract each other, by the inverse square of their distance."
    numbers = (Quantity("strength", "N·m²", 0.02, "Force times the square of the distance"),)

    @staticmethod
    def force(length, rate, state, numbers):
        return numbers.strength / length**2
"""
MACHINE = """
kinetostat: 1
name: Magnets

bodies:
  block: {mass: 2}

joints:
  slide: {kind: prismatic, parent: world, child: block, axis: [1, 0, 0]}

forces:
  pull: {kind: magnets, b: block, settings: {strength: 0.04}}
"""
STRENGTH, MASS, START = 0.04, 2.0, 0.4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files are in the package of forces, too, as if they had just been written there."""
    known = set(sys.modules)
    monkeypatch.setattr(forces, "__path__", [*forces.__path__, str(tmp_path)])
    monkeypatch.setattr(FORCE_KINDS, "_kinds", {})
    monkeypatch.setattr(FORCE_KINDS, "_find", FORCE_KINDS._declared_kinds)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith(f"{forces.__name__}."):
            delattr(forces, name.rpartition(".")[2])
            del sys.modules[name]
    program.drop_programs()


def test_a_force_kind_with_its_class_alone_works(folder: Path, tmp_path: Path, qtbot, settings) -> None:
    (folder / "magnets.py").write_text(MAGNET, encoding="utf-8")
    model = ks.loads(MACHINE)
    assert ks.check(model) == ()
    assert ks.loads(ks.dumps(model)) == model

    run = ks.simulate(model, duration=0.5, q0=[START], rtol=1e-10, atol=1e-12, output=0.05)
    length, speed = run["pull.length"], run["slide.v"]
    assert run["pull.force"] == pytest.approx(STRENGTH / length**2, rel=1e-9)
    assert speed**2 == pytest.approx(2.0 * STRENGTH / MASS * (1.0 / length - 1.0 / START), abs=1e-8)
    assert np.ptp(length) > 0.01

    assert [item for item in build_draw_list(model) if item.ref == ("forces", "pull")]
    help_text = window_topics()["element.forces"][1]
    assert "Attracting magnets" in help_text
    assert "inverse square" in help_text

    panel = PropertyEditor(session := Session(model), settings)
    qtbot.addWidget(panel)
    panel.show()
    session.select(ElementRef("forces", "pull"))
    editors = panel.form.editors
    shown = {name for name, editor in editors.items() if not editor.isHidden()}
    assert shown == {"name", "kind", "a", "b", "settings", "description"}
    assert editors["kind"].combo.findData("magnets") >= 0
    assert editors["settings"].edits["strength"].text() == "0.04 N·m²"

    code = ks.generate_c(model, tmp_path / "code", q0=[START], trial=shutil.which("cc") is not None)
    assert code.trial is None or code.trial.passed


WRONG = {
    "an unknown unit": ("N·m²", "N·blurb²", r"'magnets'.*'numbers'.*'N·blurb²' of 'strength'"),
    "a unit not of the SI": ("N·m²", "N·mm²", r"'magnets'.*'numbers'.*'N·mm²' of 'strength'"),
    "a field that forces lack": (
        "name, title",
        "uses = ('a', 'b', 'ratoi'); name, title",
        r"'magnets'.*'uses'.*'ratoi'",
    ),
    "a need it does not use": ("name, title", "needs = ('joint',); name, title", r"'magnets'.*'needs'.*'joint'"),
    "no title": ('name, title = "magnets", "Attracting magnets"', 'name = "magnets"', "Magnets lacks title"),
    "no name": ('name, title = "magnets", "Attracting magnets"', 'title = "Magnets"', "Magnets lacks name"),
    "no law": ("def force(", "def pull(", "Magnets lacks force"),
    "a taken name": ('"magnets"', '"line"', "two kinds of force called 'line'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_it_is_an_error_with_kind_and_member(wrong: str, folder: Path) -> None:
    old, new, message = WRONG[wrong]
    (folder / "magnets.py").write_text(MAGNET.replace(old, new), encoding="utf-8")
    with pytest.raises(KindError, match=message):
        list(FORCE_KINDS)


@pytest.mark.parametrize(
    ("unit", "dimension"),
    [("m", "length"), ("N/m", "stiffness"), ("Nm", "torque"), ("N m", "none"), ("kg·m/s²", "force"), ("1/m", "none")],
)
def test_the_dimension_of_a_quantity_does_not_depend_on_how_its_unit_is_spelt(unit: str, dimension: str) -> None:
    assert ks.Quantity("x", unit).dimension == dimension

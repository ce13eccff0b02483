"""Forces and constraints of kinds that people make, in the window: offered, shown with the numbers of the kind, edited;
their channels among what can be plotted."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

import kinetostat as ks
from app.document.session import ElementRef, Session
from app.panels.properties.panel import PropertyEditor
from app.plotting import channels
from app.widgets.label import Label
from core.model import Setting
from core.programs import program
from tests.mechanism.elements import own_kinds_page as page


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch):
    page.register(monkeypatch)
    yield
    program.drop_programs()


def shown(qtbot, settings, heading: str, collection: str, name: str) -> tuple[Session, PropertyEditor]:
    session = Session(ks.loads(page.block(heading, "yaml")))
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.resize(340, 900)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    session.select(ElementRef(collection, name))
    return session, panel


def fields(panel: PropertyEditor) -> set[str]:
    return {name for name, editor in panel.form.editors.items() if not editor.isHidden()}


def retype(qtbot, line, text: str) -> None:
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def test_a_force_shows_the_numbers_of_its_kind_and_takes_others(qtbot, settings):
    session, panel = shown(qtbot, settings, page.FORCE, "forces", "pad")
    assert fields(panel) == {"name", "kind", "a", "b", "settings", "description"}
    assert panel.form.editors["kind"].combo.currentText() == "kelvin"
    editor = panel.form.editors["settings"]
    assert [label.text() for label in editor.section.content.findChildren(Label)] == [
        "Stiffness",
        "Rest",
        "Further stiffness",
        "Damping",
    ]
    assert {name: edit.text() for name, edit in editor.edits.items()} == {
        "stiffness": "k",
        "rest": "300 mm",
        "further_stiffness": "2*k",
        "damping": "500 N·s/m",
    }
    retype(qtbot, editor.edits["damping"], "k/4")
    assert session.model.forces[0].settings[3] == Setting(parameter="damping", value="k/4")
    retype(qtbot, editor.edits["rest"], " ")
    assert "rest" not in {setting.parameter for setting in session.model.forces[0].settings}
    assert editor.edits["rest"].placeholderText() == "0 m"
    session.undo()
    session.undo()
    assert session.model.forces[0].settings[3].value == 500.0


def test_a_name_that_the_kind_does_not_know_is_told_and_can_go(qtbot, settings):
    session, panel = shown(qtbot, settings, page.FORCE, "forces", "pad")
    pad = session.model.forces[0]
    wrong = dataclasses.replace(pad, settings=(*pad.settings, Setting(parameter="dampnig", value=1.0)))
    session.apply("Spoil", lambda model: dataclasses.replace(model, forces=(wrong,)))
    editor = panel.form.editors["settings"]
    qtbot.waitUntil(lambda: "dampnig" in editor.edits)
    retype(qtbot, editor.edits["dampnig"], " ")
    assert session.model.forces[0] == pad


def test_a_constraint_shows_the_numbers_of_its_kind(qtbot, settings):
    session, panel = shown(qtbot, settings, page.CONSTRAINT, "constraints", "wire")
    assert fields(panel) == {"name", "kind", "a", "b", "settings", "description"}
    editor = panel.form.editors["settings"]
    assert {name: edit.text() for name, edit in editor.edits.items()} == {"curvature": "2 1/m"}
    retype(qtbot, editor.edits["curvature"], "3")
    assert session.model.constraints[0].settings == (Setting(parameter="curvature", value=3.0),)


def test_what_a_force_of_such_a_kind_does_can_be_plotted(qtbot):
    run = ks.simulate(ks.loads(page.block(page.FORCE, "yaml")), duration=0.1)
    found = {leaf.channel for leaf in channels.iterate_channel_rows(channels.build_channel_tree(run))}
    assert {"pad.force", "pad.length", "pad.rate", "pad.power"} <= found
    assert [
        channels.physical_dimension(run, f"pad.{name}").dimension for name in ("force", "length", "rate", "power")
    ] == [
        "force",
        "length",
        "velocity",
        "power",
    ]


def test_it_is_seen_in_a_picture(tmp_path):
    """The line of the force, in a picture of the machine, and none where it is left out."""
    model = ks.loads(page.block(page.FORCE, "yaml"))
    box = ks.Body(name="block", mass=2.0, shapes=(ks.Box(size=(0.1, 0.1, 0.1)),))
    pictures = []
    for forces in (model.forces, ()):
        ks.render(dataclasses.replace(model, bodies=(box,), forces=forces), [0.4], tmp_path / "p.png", size=(200, 150))
        pictures.append(QImage(str(tmp_path / "p.png")))
    assert pictures[0] != pictures[1]


def test_what_a_kind_derives_is_said_in_place_of_a_default(qtbot, settings):
    session = Session(ks.load("ramp"))
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.show()
    session.select(ElementRef("forces", "ball_on_skittle"))
    edits = panel.form.editors["settings"].edits
    assert edits["stiffness"].placeholderText() == "from masses, sizes"
    assert edits["static_friction"].placeholderText() == "as while sliding"
    assert edits["friction"].placeholderText() == "0.5"

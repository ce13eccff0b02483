"""DH frames of a card in the scene: where they stand, linked with the rows, one set at a time, saved as a file."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QMouseEvent, Qt
from PySide6.QtWidgets import QApplication

from app.background.jobs import Jobs
from app.document.session import ElementRef, Session
from app.panels.output.panel import OutputPanel
from app.preferences.settings import Settings
from app.preferences.theme import Theme
from app.runs.answers import ResultUpdater
from app.tools import TOOLS
from app.viewport.frame_sets import SOURCE
from app.viewport.viewport import Viewport
from core.files import load
from core.functions import Context, call
from core.functions.results import FrameTable, leaf_results
from core.mechanism import Mechanism
from resources import EXAMPLES


def table_of(session, convention="standard"):
    context = Context(session.model, session.mech, session.q.copy(), dict(session.p))
    return call("fit_dh_table", context, convention=convention)


@pytest.fixture
def view(qtbot, tmp_path):
    settings = Settings(tmp_path / "look.ini")
    view = Viewport(Session(load(EXAMPLES / "puma560.kst")), settings, Theme(settings), TOOLS)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    yield view
    view.close()


@pytest.fixture
def output(qtbot, view, settings):
    panel = OutputPanel(view.session, ResultUpdater(view.session, Jobs()), settings)
    qtbot.addWidget(panel)
    panel.resize(700, 600)
    panel.show()
    yield panel
    panel.close()


def arrows(view):
    return view.scene.overlays._arrows._shown.get(SOURCE, [])


def names(view):
    return {name.text: name for name in view.annotations.names}


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("file", ["puma560.kst", "panda.kst", "stanford.rob", "scara.kst"])
def test_frames_move_with_their_bodies_and_follow_the_table(file, convention):
    """Frame i in frame i − 1 is the matrix of row i in every pose."""
    from core.analysis.dh_fit import fit, row_transform

    model = load(EXAMPLES / file)
    mech = Mechanism(model)
    found = fit(mech, "", convention)
    table = next(leaf_results(call("fit_dh_table", Context.of(model), convention=convention)))
    assert isinstance(table, FrameTable)
    q = mech.random(5)
    placed = [mech.frame(q, frame.body) @ np.array(frame.pose) for frame in table.frames]
    for i, row in enumerate(found.rows):
        expected = row_transform(row, float(mech.coordinate(q, row.joint)[0]), convention)
        np.testing.assert_allclose(np.linalg.inv(placed[i]) @ placed[i + 1], expected, atol=1e-9)
    for i, joint in enumerate(table.joints):
        pose = mech.joint_poses(q)[joint][0]
        axis = placed[i + 1 if table.uses_axis_of_own_frame else i][:3, 2]
        body = next(j for j in model.expanded.joints if j.name == joint)
        values = model.values()
        own = pose[:3, :3] @ np.array([values[c] if isinstance(c, str) else c for c in body.axis], dtype=float)
        assert abs(axis @ own) == pytest.approx(np.linalg.norm(own), abs=1e-9)


def test_a_card_shows_its_frames_and_takes_them_away(view, output):
    session = view.session
    session.produced.emit(table_of(session))
    assert {f"{{{i}}}" for i in range(7)} <= names(view).keys()
    assert len(arrows(view)) == 3 * (7 + 7)
    part = output.cards[0]._parts[0]
    before = names(view)["{6}"].point
    session.preview(q=session.q + 0.3)
    assert np.linalg.norm(np.subtract(before, names(view)["{6}"].point)) > 0.05
    part.frames.click()
    assert not arrows(view)
    assert not names(view)
    part.frames.click()
    assert arrows(view)
    output.cards[0].removed.emit()
    assert not arrows(view)


def hover(widget, place):
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        widget.mapToGlobal(QPointF(place)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, event)


def test_pointing_at_a_row_lights_its_frame_axis_and_joint(view, output):
    session = view.session
    session.produced.emit(table_of(session))
    table = output.cards[0]._parts[0].view
    hover(table.viewport(), table.visualRect(table.model().index(2, 0)).center())
    assert session.hover == ElementRef("joints", "joint3")
    assert len(arrows(view)) == 3 * (7 + 7) + 1
    assert [text for text, name in names(view).items() if text[0] == "{" and not name.quiet] == ["{2}", "{3}"]
    QApplication.sendEvent(table.viewport(), QEvent(QEvent.Type.Leave))
    assert session.hover is None
    assert len(arrows(view)) == 3 * (7 + 7)


def test_one_card_at_a_time(view, output):
    session = view.session
    session.produced.emit(table_of(session))
    session.produced.emit(table_of(session, "modified"))
    first, second = (card._parts[0] for card in output.cards)
    assert second.frames.isChecked()
    assert not first.frames.isChecked()
    first.frames.click()
    assert not second.frames.isChecked()
    assert arrows(view)


def test_another_machine_clears_the_frames(view, output):
    session = view.session
    session.produced.emit(table_of(session))
    session.start_document(load(EXAMPLES / "four_bar.kst"), None)
    assert not arrows(view)
    assert not output.cards[0]._parts[0].frames.isChecked()


@pytest.mark.parametrize("suffix", ["kst", "csv", "toml", "rob"])
def test_the_card_saves_a_file_that_is_the_same_arm(view, output, tmp_path, suffix):
    session = view.session
    session.produced.emit(table_of(session))
    path = tmp_path / f"table.{suffix}"
    output.cards[0]._parts[0].write_table(str(path))
    read = Mechanism(load(path))
    q = session.mech.random(2)
    last = read.frame_names[read.frame_names.index("link6")]
    frame = next(f for f in output.cards[0]._parts[0].table.frames if f.name == "6")
    expected = session.mech.frame(q, frame.body) @ np.array(frame.pose)
    first = next(f for f in output.cards[0]._parts[0].table.frames if f.name == "0")
    base = session.mech.frame(q, first.body) @ np.array(first.pose)
    ours = np.linalg.inv(read.frame(q, "base")) @ read.frame(q, last)
    np.testing.assert_allclose(ours, np.linalg.inv(base) @ expected, atol=1e-9)


def test_a_file_that_cannot_be_written_is_told(view, output, tmp_path):
    session = view.session
    session.produced.emit(table_of(session))
    told = []
    session.message.connect(lambda severity, text: told.append(severity))
    output.cards[0]._parts[0].write_table(str(tmp_path / "missing" / "table.kst"))
    assert told == ["error"]

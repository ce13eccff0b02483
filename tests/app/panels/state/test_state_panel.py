"""The State panel: the numbers of the kernel in display units, live while the machine moves and in a run."""

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from scipy.spatial.transform import Rotation

from app.document.element_state import StateOptions, element_state_of
from app.document.revision import ElementRef
from app.document.run_pose import RunPoseFollower
from app.document.session import Session
from app.panels.state.panel import StatePanel
from core.files import load
from core.simulation import simulate
from resources import examples
from tests.app.conftest import pump


def row(panel, title):
    """Numbers of the first row whose title begins like this, and its unit."""
    table = panel.table
    at = next(k for k in range(table.rowCount()) if table.item(k, 0).text().startswith(title))
    cells = [table.item(at, column) for column in range(1, 4)]
    return [float(each.text()) for each in cells if each is not None], table.item(at, 4).text()


@pytest.fixture
def shown(qtbot, settings):
    """Open an example with an element selected, and its panel."""
    opened = []

    def show(example, collection, name):
        session = Session(load(next(each.path for each in examples() if each.name == example)))
        panel = StatePanel(session, settings)
        qtbot.addWidget(panel)
        panel.resize(420, 600)
        panel.show()
        opened.append(panel)
        session.select(ElementRef(collection, name))
        assert pump(lambda: panel.state.values is not None and not panel.state.is_old)
        return session, panel

    yield show
    for panel in opened:
        panel.close()


def test_the_numbers_are_those_of_the_kernel_in_display_units(shown, settings):
    session, panel = shown("ur5", "joints", "joint2")
    settings.degrees = True
    q, zero = session.q, np.zeros(6)
    torques = session.mech.inverse_dynamics(q, zero, zero)
    wrench = session.mech.reactions(q, zero, torques)["joint2"]
    assert row(panel, "q ") == (pytest.approx([np.degrees(q[1])], rel=1e-4), "°")
    assert row(panel, "τ  joint torque") == (pytest.approx([torques[1]], rel=1e-4), "N·m")
    assert row(panel, "f ") == (pytest.approx(wrench[3:], abs=1e-3), "N")
    X = session.mech.joint_poses(q)["joint2"][1]
    settings.millimetres = True
    assert row(panel, "r ") == (pytest.approx(1000.0 * X[:3, 3], abs=1e-2), "mm")
    settings.millimetres = False


def test_the_numbers_follow_a_drag(shown):
    session, panel = shown("ur5", "bodies", "link6")
    before = row(panel, "r ")[0]
    session.preview(q=session.q + 0.2)
    assert pump(lambda: row(panel, "r ")[0] != before)
    assert row(panel, "r ")[0] == pytest.approx(session.mech.frame(session.q, "link6")[:3, 3], abs=1e-4)
    session.cancel_preview()
    assert pump(lambda: row(panel, "r ")[0] == before)


def test_axes_and_form_of_orientations_can_be_chosen(shown):
    session, panel = shown("ur5", "bodies", "link6")
    X = np.asarray(session.mech.frame(session.q, "link6"))
    force = np.array(row(panel, "f ")[0])
    panel.axes.setCurrentIndex(panel.axes.findData("own"))
    panel.axes.activated.emit(panel.axes.currentIndex())
    assert row(panel, "f ")[0] == pytest.approx(X[:3, :3].T @ force, abs=1e-3)
    assert row(panel, "R ")[0] == pytest.approx(X[0, :3], abs=1e-4)
    panel.orientation.setCurrentIndex(panel.orientation.findData("quaternion"))
    panel.orientation.activated.emit(panel.orientation.currentIndex())
    quaternion = [*row(panel, "quaternion x")[0], *row(panel, "quaternion w")[0]]
    assert Rotation.from_quat(quaternion).as_matrix() == pytest.approx(X[:3, :3], abs=1e-4)
    state = element_state_of(session)
    section = state.options_section()
    session.start_document(load(next(each.path for each in examples() if each.name == "scara")))
    assert state.options == StateOptions()
    state.restore_options(section)
    assert state.options == StateOptions("own", "quaternion")
    with pytest.raises(ValueError, match="form"):
        state.restore_options({**section, "orientation": "words"})


def test_copied_numbers_have_all_digits(shown):
    session, panel = shown("ur5", "bodies", "link6")
    panel.copy_button.click()
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    position = next(line for line in lines if line[0].startswith("r "))
    X = session.mech.frame(session.q, "link6")
    assert [float(text) for text in position[1:4]] == pytest.approx(list(X[:3, 3]), rel=1e-11)
    assert position[4] == "m"


def test_in_a_run_speeds_and_forces_are_those_of_the_playhead(shown):
    session, panel = shown("double_pendulum", "joints", "phi2")
    follower = RunPoseFollower(session)
    run = simulate(session.model, 0.5, output=0.05)
    session.runs.add(run, "swing")
    session.runs.seek(float(run.time[6]))
    assert pump(lambda: "swing, t = 0.3 s" in panel.moment.text() and not panel.state.is_old)
    assert row(panel, "v  speed")[0] == pytest.approx([np.degrees(run["phi2.v"][6])], rel=1e-3)
    assert row(panel, "f ")[0] == pytest.approx(run["phi2.reaction"][6][3:], abs=1e-2)
    session.preview(q=session.q + 0.1)
    assert pump(lambda: panel.moment.text().startswith("Held"))
    follower.close()


def test_nothing_is_computed_while_nothing_is_selected_or_seen(shown):
    session, panel = shown("ur5", "bodies", "link6")
    session.select(None)
    assert pump(lambda: panel.state.values is None)
    assert "Select a body" in panel.note.words
    assert panel.table.isHidden()
    session.select(ElementRef("bodies", "link6"))
    assert pump(lambda: panel.state.values is not None)
    panel.hide()
    assert pump(lambda: panel.state.values is None)

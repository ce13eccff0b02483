"""The function panel: search, options remembered, reasons, live, progress and cancel."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QComboBox

from app.panels.functions.panel import FunctionPanel
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater
from app.widgets.quantities.quantity import QuantityEdit
from core.files import load
from core.functions import FUNCTIONS
from core.functions.catalogue import validate_options
from core.functions.results import EllipsoidField
from core.robotica.commands import COMMANDS
from resources import EXAMPLES, examples
from tests.walks import walk


@pytest.fixture
def panel(qtbot, session, jobs, settings):
    panel = FunctionPanel(session, jobs, ResultUpdater(session, jobs), settings)
    qtbot.addWidget(panel)
    panel.resize(300, 800)
    with qtbot.waitActive(panel):  # keys are for this window, not for another one that is still open
        panel.show()
        panel.activateWindow()
    yield panel
    panel.close()


def shown(panel):
    return [key for key, row in panel._rows.items() if not row.isHidden()]


def test_search_finds_by_title_group_help_and_robotica_name(panel, qtbot):
    assert len(shown(panel)) == len(FUNCTIONS) + len(COMMANDS)
    qtbot.keyClicks(panel.search, "ellipsoid")
    assert "manipulability" in shown(panel)
    panel.search.setText("RElp")
    assert shown(panel) == ["manipulability", "robotica.RElp"]
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert panel.chosen_function.id == "manipulability"
    panel.search.setText("nothing is called blurb")
    assert shown(panel) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_opens_its_options(panel, function):
    panel.open_function(function)
    assert set(panel.form.editors) == {option.id for option in FUNCTIONS[function].options}
    options = panel.form.options()
    for option in FUNCTIONS[function].options:
        expected = option.coerce(option.default, panel.context())
        assert option.coerce(options[option.id], panel.context()) == expected


@pytest.mark.parametrize("example", walk(examples(), name=lambda example: example.name))
def test_forms_of_every_example_give_valid_options(panel, session, example):
    session.start_document(load(example.path))
    for function in FUNCTIONS.values():
        panel.open_function(function.id)
        context = panel.context()
        if not function.unavailability_reason(context):
            validate_options(function, context, panel.form.options())


def test_options_are_remembered(qtbot, panel, session, jobs, settings):
    panel.open_function("manipulability")
    chosen = {"kind": "force", "frame": "link3", "ranges": (("joint2", 0.1, 0.9, 7),), "scale": True}
    panel.form.show_options(chosen)
    panel.run()
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    settings.flush()
    again = FunctionPanel(session, jobs, ResultUpdater(session, jobs), Settings(settings._store.fileName()))
    qtbot.addWidget(again)
    again.open_function("manipulability")
    assert {key: again.form.options()[key] for key in chosen} == chosen
    again.form.reset()
    assert again.form.options()["kind"] == "velocity"
    again.close()


def test_wrong_options_are_told_in_the_form(panel):
    panel.open_function("show_robot")
    panel.form.show_options({"ranges": (("joint1", 0.0, 1.0, 4), ("joint1", 0.0, 1.0, 4))})
    assert panel.run() is None
    assert "has two ranges" in panel.form.note.words


def test_unequal_divisions_are_a_message(qtbot, panel, session, jobs):
    told = []
    session.message.connect(lambda severity, text: told.append((severity, text)))
    panel.open_function("show_robot")
    panel.form.show_options({"ranges": (("joint1", 0.0, 1.0, 4), ("joint2", 0.0, 1.0, 5))})
    panel.run()
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    assert told
    assert told[0][0] == "error"
    assert "equal numbers of divisions" in told[0][1]


def test_unavailable_functions_say_why(panel, session, qtbot):
    session.start_document(load(EXAMPLES / "four_bar.kst"))
    panel.open_function("dh_table")
    assert "no Denavit" in panel.form.note.words
    assert not panel.form.run_button.isEnabled()
    qtbot.waitUntil(lambda: "no Denavit" in panel._rows["dh_table"].toolTip(0))
    panel.open_function("jacobian")
    assert panel.form.run_button.isEnabled()


def test_forms_follow_another_machine(panel, session):
    panel.open_function("inverse_dynamics")
    assert list(panel.form.editors["speeds"]._edits) == [f"joint{i}" for i in range(1, 7)]
    session.start_document(load(EXAMPLES / "pendulum.kst"))
    assert list(panel.form.editors["speeds"]._edits) == list(session.mech.v_names)


def test_live_follows_previews(qtbot, panel, session):
    produced = []
    session.produced.connect(produced.append)
    panel.open_function("manipulability")
    panel.form.live_box.setChecked(True)
    qtbot.waitUntil(lambda: len(produced) == 1)
    q = session.q.copy()
    q[2] += 0.4
    session.preview(q=q)
    qtbot.waitUntil(lambda: len(produced) >= 2)
    last = produced[-1]
    assert isinstance(last, EllipsoidField)
    assert last.live
    np.testing.assert_allclose(last.ellipsoids[0].center, session.mech.frame(q, "tool")[:3, 3])
    panel.form.live_box.setChecked(False)
    count = len(produced)
    session.cancel_preview()
    qtbot.wait(100)
    qtbot.waitUntil(lambda: not panel._jobs.unfinished_jobs)
    assert len(produced) == count


def test_slow_live_functions_follow_beside_the_window(qtbot, panel, session, monkeypatch):
    produced = []
    session.produced.connect(produced.append)
    monkeypatch.setattr("app.runs.answers.QUICK", 0.0)  # every function counts as slow
    panel.open_function("forward_kinematics")
    panel.form.live_box.setChecked(True)
    for k in range(20):
        q = session.q.copy()
        q[0] = 0.05 * k
        session.preview(q=q)
        QCoreApplication.processEvents()
    qtbot.waitUntil(lambda: not panel._jobs.unfinished_jobs and not panel._answers._soon.isActive())
    pose = np.array(produced[-1].parts[0].entries)
    np.testing.assert_allclose(pose, session.mech.frame(session.q, "tool"), atol=1e-12)  # the last pose is not missed


def test_live_runs_write_no_files(qtbot, panel, session, tmp_path):
    path = tmp_path / "measures.txt"
    produced = []
    session.produced.connect(produced.append)
    panel.open_function("manipulability")
    panel.form.show_options({"file": str(path)})
    panel.form.live_box.setChecked(True)
    qtbot.waitUntil(lambda: len(produced) == 1)
    assert not path.exists()


def test_cancel_stops_and_tells(qtbot, panel, session, jobs):
    produced, told = [], []
    session.produced.connect(produced.append)
    session.message.connect(lambda severity, text: told.append(text))
    panel.open_function("manipulability")
    panel.form.show_options({"ranges": (("joint1", 0.0, 1.0, 10_000),)})
    job = panel.run()
    assert panel.run() is None, "one at a time"
    with qtbot.waitSignal(job.progressed):
        pass
    assert panel.form.stop_button.isVisible()
    qtbot.mouseClick(panel.form.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    assert not produced
    assert told == ["Manipulability ellipsoid: stopped."]
    assert panel.form.run_button.isVisible()


def test_help_and_keys(qtbot, panel):
    panel.open_function("jacobian")
    wanted = []
    panel.help_wanted.connect(wanted.append)
    qtbot.keyClick(panel.tree, Qt.Key.Key_F1)
    assert wanted == ["jacobian"]
    with qtbot.waitSignal(panel._jobs.changed):
        qtbot.keyClick(panel.tree, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not panel._jobs.unfinished_jobs)


def test_numbers_follow_the_units(panel, settings):
    panel.open_function("show_robot")
    panel.form.show_options({"ranges": (("joint1", 0.0, np.pi / 2, 4),)})
    row = panel.form.editors["ranges"]._rows[0]
    assert row._ends[1].text() == "90°"
    settings.degrees = False
    assert row._ends[1].text().startswith("1.570796")
    assert panel.form.options()["ranges"][0][2] == pytest.approx(np.pi / 2)


def test_adding_a_range_offers_a_sensible_one(qtbot, panel, session):
    panel.open_function("show_robot")
    editor = panel.form.editors["ranges"]
    qtbot.mouseClick(editor._add, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(editor._add, Qt.MouseButton.LeftButton)
    (name, start, stop, divisions), second = editor.value()
    assert (name, divisions) == ("joint1", 5)
    assert start == session.q[0]
    assert stop > start
    assert second[0] == "joint2"
    editor._rows[0].removed.emit()
    assert [item[0] for item in editor.value()] == ["joint2"]


def test_indices_are_asked_for_where_the_result_takes_them(panel):
    """A form holds rows that say something about what is chosen."""
    panel.open_function("derive")
    form = panel.form

    def indices():
        return [name for name in "ijk" if not form.editors[name].isHidden()]

    asked = {}
    for what in form.function.option("what").choices:
        form.show_options({"what": what})
        form._on_edited()
        asked[what] = "".join(indices())
    assert {what: names for what, names in asked.items() if names} == {
        "A": "i",
        "T": "ij",
        "c": "ijk",
        "Ki": "i",
        "Pi": "i",
        "Jvc": "i",
        "Jwc": "i",
    }


@pytest.mark.parametrize("name", ["workspace", "write_c_code", "optimise"])
def test_words_of_choices_are_not_cut_in_a_panel_of_its_first_width(panel, qtbot, name):
    """A combo box whose words need more than what is left beside its label stands below it."""
    panel.resize(280, 800)
    panel.open_function(name)
    qtbot.waitUntil(lambda: panel._place.isVisible())
    QCoreApplication.processEvents()
    combos = [combo for combo in panel.form.findChildren(QComboBox) if combo.isVisible() and not combo.isEditable()]
    assert combos
    for combo in combos:
        words = max(combo.fontMetrics().horizontalAdvance(combo.itemText(k)) for k in range(combo.count()))
        assert words + 24 <= combo.width(), combo.currentText()
        assert combo.width() < 280


def test_another_machine_gets_no_target_of_the_one_before(qtbot, panel, session, settings):
    """Places, names and ranges belong to a machine; habits stay."""

    panel.open_function("inverse_kinematics")
    asked = {"position": (0.1, 0.2, 0.3), "orientation": (0.0, 1.0, 0.0), "restarts": 7, "show": "all"}
    panel.form.show_options(asked)
    edit = panel.form.editors["position"].findChildren(QuantityEdit)[0]
    edit.setText("furlong")
    edit.setModified(True)
    edit.commit_text()
    session.apply("Change", lambda model: dataclasses.replace(model, description="The same machine."))
    assert edit.text() == "furlong"
    edit.discard_text()
    panel.form.show_options(asked)
    panel.form.remember()
    edit.setText("furlong")
    edit.setModified(True)
    edit.commit_text()
    session.start_document(load(EXAMPLES / "scara.kst"))
    left = {key: value for key, value in panel.form.options().items() if key in asked}
    assert left == {"position": None, "orientation": None, "restarts": 7, "show": "all"}
    assert not panel.form.editors["position"].problem()
    again = FunctionPanel(session, panel._jobs, panel._answers, settings)  # the next start, with this machine
    qtbot.addWidget(again)
    again.open_function("inverse_kinematics")
    assert {key: again.form.options()[key] for key in asked} == left
    again.close()

"""The list of runs by hand: names, colours, what is deleted."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.document.session import ElementRef
from app.panels.simulation.run_list import format_seconds
from core.simulation import simulate
from tests.app.conftest import settle


@pytest.fixture
def listed(bench):
    """Two runs of the pendulum in their list, the second one current."""
    bench.example("pendulum")
    for start in (0.3, 0.6):
        run = simulate(bench.session.mech, 0.5, output=0.05, q0={bench.session.mech.q_names[0]: start})
        bench.session.runs.add(run)
    bench.window.docks.show_panel("simulation")
    settle()
    return bench.window.simulation_panel.runs


def click(listed, record, keys=Qt.KeyboardModifier.NoModifier):
    tree = listed.tree
    place = tree.visualItemRect(listed._items[record.id]).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, keys, place)
    settle()


def typed(text):
    """Keys go wherever the focus is, as from a keyboard."""
    for letter in text:
        QTest.keyClick(QApplication.focusWidget(), letter)


@pytest.mark.parametrize("chosen", [False, True], ids=["no element selected", "a joint selected"])
def test_f2_renames_the_run_whatever_is_selected_in_the_scene(bench, listed, chosen):
    if chosen:
        bench.session.select(ElementRef("joints", bench.session.model.joints[0].name))
    first, second = bench.session.runs.items
    click(listed, second)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F2)
    settle()
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    display = bench.view.scene.display
    typed("faster reel")  # letters are shortcuts of the window, too
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    settle()
    assert (first.name, second.name) == ("Run 1", "faster reel")
    assert bench.view.scene.display == display


@pytest.mark.parametrize("chosen", [False, True], ids=["no element selected", "a joint selected"])
def test_delete_takes_the_run_and_no_element(bench, listed, chosen):
    if chosen:
        bench.session.select(ElementRef("joints", bench.session.model.joints[0].name))
    first, second = bench.session.runs.items
    model = bench.session.model
    click(listed, first)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Delete)
    settle()
    assert bench.session.runs.items == (second,)
    assert bench.session.model is model


def test_a_double_click_renames_and_escape_leaves_the_name(bench, listed):
    record = bench.session.runs.items[0]
    click(listed, record)
    place = listed.tree.visualItemRect(listed._items[record.id]).center()
    QTest.mouseDClick(listed.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    settle()
    typed("swing")
    assert QApplication.focusWidget().text() == "swing"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    settle()
    assert record.name == "Run 1"


@pytest.mark.parametrize(
    ("time", "words"),
    [(0.25, "0.25 s"), (12.3456, "12.35 s"), (9999.4, "9999 s"), (31255.0, "31,255 s"), (1e6, "1,000,000 s")],
)
def test_times_of_long_runs_are_legible(time, words):
    assert format_seconds(time) == words


def test_where_a_run_was_saved_the_next_one_is_looked_for(bench, listed, tmp_path, monkeypatch):
    asked = []

    def ask(parent, title, start, filters):
        asked.append(start)
        return "", ""

    monkeypatch.setattr("app.panels.simulation.run_list.QFileDialog.getOpenFileName", ask)
    monkeypatch.setattr("app.panels.simulation.run_list.QFileDialog.getSaveFileName", ask)
    listed.load()
    assert asked[-1] != str(tmp_path)
    record = bench.session.runs.current
    listed.save_to(record, tmp_path / "swing.csv")
    bench.wait(lambda: bench.messages("done"))
    listed.load()
    assert asked[-1] == str(tmp_path)
    listed.save()
    assert asked[-1] == str(tmp_path / f"{record.name}.h5")

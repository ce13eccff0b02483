"""Light and dark: a look that was switched to is, in every part of the window, the look that it starts in."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTableWidget

from app.background.slices import shared_slices
from app.document.session import ElementRef
from app.panels.simulation.start_rows import StartRows
from app.preferences.theme import SHEET
from app.widgets.label import Note, severity_color
from app.widgets.quantities.quantity import QuantityEdit

PANELS = ("tree", "functions", "simulation", "properties", "sliders", "findings", "output")


@pytest.fixture
def looks(bench):
    """Switches; the window is light again at the end."""
    bench.example("puma560")
    bench.window.run_command("view.look_light")

    def switch(look):
        bench.window.run_command(f"view.look_{look}")
        bench.wait(lambda: not shared_slices().has_work)

    yield switch
    switch("light")


def pictures(window):
    """Of bars, menus and panels."""
    window.setFocus()
    parts = {"menus": window.menuBar(), "timeline": window.timeline}
    parts |= {menu.title(): menu for menu in window.menuBar().findChildren(QMenu) if menu.title() in ("&File", "View")}
    for name in PANELS:
        window.docks.show(name)
        QApplication.processEvents()
        parts[name] = window.docks.panels[name]
    words = window.statusBar().grab(QRect(0, 0, 300, 24))  # numbers at its right end go where there is room
    return {"status": words.toImage()} | {name: part.grab().toImage() for name, part in parts.items()}


def test_what_is_switched_looks_like_what_is_dressed_anew(bench, looks):
    """Qt keeps the colours that a style sheet found for a widget; none may stay from the look before."""
    looks("dark")
    switched = pictures(bench.window)
    QApplication.instance().setStyleSheet(SHEET + "\n")
    QApplication.instance().setStyleSheet(SHEET)
    anew = pictures(bench.window)
    assert [name for name, picture in switched.items() if picture != anew[name]] == []
    assert min(picture.pixelColor(2, 2).lightness() for picture in switched.values()) < 60


def test_cells_and_notes_stay_readable(bench, looks):
    """Colours that were given one by one follow, too."""
    bench.session.select(ElementRef("chains", "arm"))
    panel = bench.window.properties
    table = next(each for each in panel.findChildren(QTableWidget) if each.item(0, 0) is not None)
    notes = [note for note in panel.findChildren(Note) if note.severity == "warning" and note.isVisible()]
    assert notes
    for look in ("dark", "light"):
        looks(look)
        color = severity_color("warning", QApplication.palette())
        bench.wait(lambda c=color: all(note.palette().color(QPalette.ColorRole.WindowText) == c for note in notes))
        given = [
            table.item(0, column).foreground().color()
            for column in range(table.columnCount())
            if table.item(0, column).foreground().style().value
        ]
        ground = QApplication.palette().color(QPalette.ColorRole.Base).lightness()
        assert all(abs(ink.lightness() - ground) > 70 for ink in given)


def test_words_over_a_plot_take_the_colours_of_the_look(bench, looks):
    plots = bench.window.plots
    plots.add_plot()
    bench.window.docks.show_panel("plots")
    hint = plots.findChild(QLabel, "chartHint")
    for look in ("dark", "light"):
        looks(look)
        color = QApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        bench.wait(lambda color=color: hint.palette().color(hint.foregroundRole()) == color)
    plots.remove_plot(0)


def test_a_refused_number_stays_readable(bench, looks):
    bench.session.select(ElementRef("parameters", "a2"))
    edit = next(edit for edit in bench.window.properties.findChildren(QuantityEdit) if edit.isVisible())
    edit.setText("1 +")
    edit.setModified(True)
    edit.finish()
    assert edit.problem
    for look in ("dark", "light"):
        looks(look)
        wanted = severity_color("error", QApplication.palette())
        bench.wait(lambda c=wanted: edit.palette().color(QPalette.ColorRole.Text) == c)
    edit.forget()


def test_a_refused_start_speed_stays_readable(bench, looks):
    bench.window.docks.show_panel("simulation")
    rows = bench.window.findChild(StartRows).rows["speeds"]
    bench.wait(lambda: bool(rows))
    row = next(iter(rows.values()))
    row.line.setText("1 +")
    row.finish()
    assert row.problem
    for look in ("dark", "light"):
        looks(look)
        wanted = severity_color("error", QApplication.palette())
        bench.wait(lambda c=wanted: row.line.palette().color(QPalette.ColorRole.Text) == c)
    row.line.setText("")
    row.finish()
    assert row.line.palette().color(QPalette.ColorRole.Text) == QApplication.palette().color(QPalette.ColorRole.Text)


def test_rows_of_a_machine_that_is_gone_hear_of_no_look(bench, looks):
    """They live on until they are collected, without the lines that were theirs."""
    bench.window.docks.show_panel("simulation")
    kept = [row for rows in bench.window.findChild(StartRows).rows.values() for row in rows.values()]
    assert kept
    bench.example("pendulum")
    looks("dark")
    assert not bench.messages("error")
    assert kept

"""A window full of text that looks like markup: nothing in it is followed, everything is shown letter by letter."""

import dataclasses
import itertools

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QAction, Qt, QTextDocumentFragment
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QListView,
    QTextEdit,
    QTreeView,
)

from core.files import assembly, load
from core.functions import results
from core.model import Driver, Inertia, new_elements
from core.model.edits import edits
from core.model.fields import TextKind, declared_fields, map_elements, nested_elements
from core.simulation import simulate
from resources import EXAMPLES
from tests.app.conftest import settle

MARK = "nowhere.png"
HOSTILE = f"<img src='file:///{MARK}'><b>bold</b> &amp; a&b [*] $x^2$ \x1b[31mred \u202eleft"
"""What a stranger may have written into any text of a file."""
SAFE = HOSTILE.replace("\x1b", "\\u001b").replace("\u202e", "\\u202e")
"""How it is shown."""
MEANINGFUL = {"coordinate", "column", "parameter", "prefix", "variable"}
"""Texts that name something in the model: others than such names are refused."""


def machine():
    """One with every kind of element, and the hostile text wherever a text of any letters is allowed."""
    model = load(EXAMPLES / "forces.kst")
    chain = new_elements.new_chain(model)
    heavy = tuple(dataclasses.replace(row, mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0)) for row in chain.rows)
    model = edits.add(model, dataclasses.replace(chain, rows=heavy))
    leg = EXAMPLES / "pendulum.kst"
    model = assembly(model, "leg", str(leg))
    model, _ = new_elements.add_frame(model, model.bodies[0].name)
    texts = {
        (type(part), field.name)
        for part in nested_elements(model)
        for field in declared_fields(type(part))
        if isinstance(field.kind, TextKind)
    }
    for kind, name in sorted(texts, key=str):
        if name not in MEANINGFUL and (kind, name) != (Driver, "file"):  # that one is read
            model = map_elements(
                model, lambda part, kind=kind, name=name: {name: HOSTILE} if type(part) is kind else {}
            )
    return model


@pytest.fixture
def hostile(bench, monkeypatch):
    """The window with the hostile machine, three runs of it, and something told."""
    monkeypatch.setattr(bench.window.files, "source", None)
    model = machine()
    assert bench.session.start_document(model)
    assert {type(e).__name__ for _, e in model.elements()} >= {"Body", "Joint", "Force", "SubAssembly", "DHChain"}
    assert all(element.description == HOSTILE for _, element in model.elements() if hasattr(element, "description"))
    run = simulate(bench.session.mech, 0.02, output=0.01)
    for _ in range(2):
        bench.session.runs.add(run, HOSTILE)
    for severity in ("hint", "warning", "error"):
        bench.session.message.emit(severity, HOSTILE)
    settle()
    return bench


def tips_of(view):
    """Tips of all items of a list, tree or table."""
    model, rest = view.model(), [QModelIndex()]
    while rest:
        parent = rest.pop()
        columns = 1 if isinstance(view, QListView) else model.columnCount(parent)
        for row, column in itertools.product(range(model.rowCount(parent)), range(columns)):
            index = model.index(row, column, parent)
            yield index.data(Qt.ItemDataRole.ToolTipRole) or ""
            rest += [index] if isinstance(view, QTreeView) else []


def tips():
    """(where, tip) of everything that has one."""
    for widget in QApplication.allWidgets():
        yield type(widget).__name__, widget.toolTip()
        for action in widget.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly):
            yield f"action {action.text()}", action.toolTip()
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from ((type(widget).__name__, tip) for tip in tips_of(widget))


def documents():
    """(where, document) of everything that shows rich text."""
    for widget in QApplication.allWidgets():
        if isinstance(widget, QTextEdit):
            yield type(widget).__name__, widget.document()
        if isinstance(widget, QGraphicsView) and widget.scene() is not None:
            texts = [each for each in widget.scene().items() if isinstance(each, QGraphicsTextItem)]
            yield from ((type(each).__name__, each.document()) for each in texts)


def examine():
    """How often the hostile text is shown; nowhere is it read as more than letters."""
    seen = 0
    for label in (each for each in QApplication.allWidgets() if isinstance(each, QLabel)):
        if MARK in label.text():
            seen += 1
            assert label.textFormat() == Qt.TextFormat.PlainText, (type(label.parent()), label.text())
            assert not {"\x1b", "\u202e"} & set(label.text()), type(label.parent())
    for where, tip in tips():
        if MARK in tip:
            seen += 1
            shown = QTextDocumentFragment.fromHtml(tip).toPlainText() if Qt.mightBeRichText(tip) else tip
            assert SAFE in shown.replace("\xa0", " "), (where, tip)
    for where, document in documents():
        assert f'<img src="file:///{MARK}' not in document.toHtml(), where
    return seen


def test_every_element_is_shown_with_its_texts_as_they_are(hostile):
    from app.document.session import ElementRef

    for panel in ("properties", "findings", "sliders", "simulation", "plots", "output"):
        hostile.window.docks.show_panel(panel)
    for collection, element in hostile.session.model.elements():
        hostile.session.select(ElementRef(collection, element.name))
        settle()
        menu = hostile.window.actions_.context_menu(hostile.session.selection, hostile.window)
        assert examine() > 0, collection
        menu.deleteLater()
    hostile.session.select(None)
    settle()
    assert examine() > 10


def test_every_form_of_a_function_shows_it_as_it_is(hostile):
    hostile.window.docks.show_panel("functions")
    for name in hostile.window.functions.functions:
        hostile.window.functions.open_function(name)
        settle()
    assert examine() > 0


RESULTS = (
    results.Message(text=HOSTILE, title=HOSTILE, call=HOSTILE),
    results.Matrix(title=HOSTILE, call=HOSTILE, note=HOSTILE, symbol="A", entries=((1.0,),), rows=(HOSTILE,)),
    results.Table(title=HOSTILE, note=HOSTILE, columns=(results.Column(HOSTILE),), rows=((HOSTILE,), (1.0,))),
)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_show_it_as_it_is(hostile, result):
    hostile.window.docks.show_panel("output")
    hostile.session.produced.emit(dataclasses.replace(result))
    settle()
    assert examine() > 0


def test_plots_of_runs_show_it_as_it_is(hostile):
    hostile.window.docks.show_panel("plots")
    hostile.window.plots.add(["energy.total", "energy.kinetic"])
    hostile.wait(lambda: not hostile.window.plots.has_pending_changes)
    settle()
    assert examine() > 0


def test_dialogs_show_it_as_it_is(hostile):
    hostile.window.dialogs.open_film_dialog()
    for topic in ("", "body", "joint"):
        hostile.window.dialogs.open_help(topic)
    for name in ("open_about", "open_palette", "open_licences", "open_keyboard_map"):
        getattr(hostile.window.dialogs, name)()
        settle()
    assert examine() > 0
    for widget in QApplication.topLevelWidgets():
        if widget is not hostile.window and widget.isVisible():
            widget.close()
    assert "[*][*]" in hostile.window.dialogs.film_dialog.windowTitle()


def test_the_title_of_the_window_has_one_mark_of_unsaved_work(hostile):
    assert hostile.window.windowTitle().replace("[*][*]", "").count("[*]") == 1


def test_a_file_opened_last_is_called_by_all_its_letters(bench, tmp_path):
    path = tmp_path / "<b>a&b[*].kst"
    path.write_text("kinetostat: 1\nname: A\nbodies:\n  a: {mass: 1}\n", encoding="utf-8")
    bench.open(path)
    menu = bench.window.actions_.find_or_create_menu("File/Open recent")
    menu.aboutToShow.emit()
    entry = menu.actions()[0]
    assert entry.text() == "<b>a&&b[*].kst"
    assert QTextDocumentFragment.fromHtml(entry.toolTip()).toPlainText() == str(path)
    assert bench.window.windowTitle().startswith("<b>a&b[*][*].kst[*]")

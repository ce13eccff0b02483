"""The output area: a card per result, live ones replaced, copies, units, poses taken over; mathematics painted."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage

from app.formulas.matrix import MatrixView
from app.panels.output.panel import MOST_CARDS, OutputPanel
from app.panels.output.tables import TableView
from app.runs.answers import ResultUpdater
from core.functions import FUNCTIONS, Context, call
from core.functions.results import Matrix, Message, Table
from core.functions.text import Column
from tests.functions.short_searches import FEW


@pytest.fixture
def panel(qtbot, session, jobs, settings):
    answers = ResultUpdater(session, jobs)
    panel = OutputPanel(session, answers, settings)
    qtbot.addWidget(panel)
    panel.resize(800, 500)
    panel.show()
    yield panel
    panel.close()
    answers.close()


def context(session):
    return Context(session.model, session.mech, session.q, dict(session.p))


def test_every_result_has_a_card(qtbot, panel, session):
    functions = [f for f in FUNCTIONS.values() if f.id != "picture" and not f.unavailability_reason(context(session))]
    for function in functions:
        result = call(function.id, context(session), **FEW.get(function.id, {}))
        session.produced.emit(result)
        card = panel.cards[-1]
        assert card.format_text()
        assert card._title.text() == result.title
        assert card._call.text() == result.call
    assert len(panel.cards) == len(functions)
    qtbot.waitUntil(lambda: panel._area.verticalScrollBar().value() > 0)  # the newest is in view
    qtbot.mouseClick(panel._clear, Qt.MouseButton.LeftButton)
    assert panel.cards == []
    assert panel.empty.isVisible()


def test_results_of_one_card_replace_one_another(panel, session):
    first = dataclasses.replace(call("jacobian", context(session)), card=77)
    session.produced.emit(first)
    session.preview(q=session.q + 0.1)
    second = dataclasses.replace(call("jacobian", context(session)), card=77)
    session.produced.emit(second)
    assert len(panel.cards) == 1
    assert panel.cards[0].result is second
    session.produced.emit(call("jacobian", context(session)))
    assert len(panel.cards) == 2


def test_copies(panel, session):
    session.produced.emit(call("jacobian", context(session)))
    card = panel.cards[0]
    menu = card._build_copy_menu(card)
    clipboard = QGuiApplication.clipboard()
    expected = {"Text": "ωx", "LaTeX": "bmatrix", "Python": "np.array", "CSV (tables)": "Property,Translation"}
    for title, word in (expected | {"Call": "jacobian()"}).items():
        next(action for action in menu.actions() if action.text() == title).trigger()
        assert word in clipboard.text()
    panel.copy_all()
    assert "Jacobian of tool" in clipboard.text()


def test_copied_python_is_the_matrix(session):

    matrix = next(iter(call("jacobian", context(session)).parts))
    found = eval(matrix.to_python().split("\n", 1)[1], {"np": np})
    np.testing.assert_array_equal(found, np.array(matrix.entries))


def test_tables_follow_units_and_sort(qtbot, panel, session, settings):
    session.produced.emit(call("coordinates", context(session)))
    view = panel.cards[0].findChild(TableView)
    values = [view.model().index(i, 2).data() for i in range(6)]
    assert values[1] == "45°"
    settings.degrees = False
    assert view.model().index(1, 2).data() == "0.785398 rad"
    view.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert view.model().index(0, 0).data() == "joint3"  # −180° is the smallest


def test_taking_a_pose_can_be_undone(panel, session):
    before = session.q.copy()
    session.produced.emit(call("show_robot", context(session), ranges=["joint1=0:1:4", "a2=0.3:0.5:4"]))
    part = panel.cards[0]._parts[0]
    part._number.setCurrentIndex(4)
    part.use_pose()
    assert session.q[0] == pytest.approx(1.0)
    assert session.model.values()["a2"] == pytest.approx(0.5)
    session.undo()
    np.testing.assert_array_equal(session.q, before)
    assert session.model.values()["a2"] == 0.4318


def test_old_results_are_dropped(panel, session):
    for i in range(MOST_CARDS + 5):
        session.produced.emit(Message(title=f"m{i}", text="."))
    assert len(panel.cards) == MOST_CARDS
    assert panel.cards[-1].result.title == f"m{MOST_CARDS + 4}"


def ink(widget, ratio=1.0):
    """How many pixels of a widget are painted in other than its background."""
    size = widget.size() * ratio
    image = QImage(size, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.white)
    widget.render(image)
    gray = image.convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.frombuffer(gray.constBits(), np.uint8).reshape(gray.height(), gray.bytesPerLine())[:, : gray.width()]
    return int((np.abs(pixels.astype(int) - int(np.median(pixels))) > 60).sum())


def test_matrices_are_painted_at_any_scale(qtbot):
    matrix = Matrix(entries=((1.5, -0.25), (0.0, 1e-7)), rows=("a", "b"), columns=("x", "y"), symbol="J")
    view = MatrixView(matrix)
    qtbot.addWidget(view)
    once, twice = ink(view), ink(view, 2.0)
    assert once > 100
    assert twice > 2 * once
    view.show_matrix(Matrix(entries=((1.0,),)))
    assert view.sizeHint().width() < 80


def test_the_name_of_a_matrix_is_painted_before_its_brackets(qtbot):
    plain, named = MatrixView(Matrix(entries=((1.0,),))), MatrixView(Matrix(entries=((1.0,),), symbol="M(q)"))
    qtbot.addWidget(plain)
    qtbot.addWidget(named)
    assert ink(named) > ink(plain) + 50
    assert named.sizeHint().width() > plain.sizeHint().width() + 20


def test_table_text_of_empty_table():

    assert "Nothing" in Table(title="Nothing", columns=(Column("A"),), rows=()).to_text()


def overlaps(card):
    """Pairs of rows of a card that lie over one another, and what is cut: a row lower than it has to be."""
    rows = [card._title, *card._parts]
    places = [row.geometry() for row in rows]
    over = [(i, i + 1) for i in range(len(rows) - 1) if places[i].bottom() >= places[i + 1].top()]
    return over, [i for i, row in enumerate(card._parts) if row.height() < row.minimumSizeHint().height()]


def test_a_card_is_laid_out_when_its_area_comes_to_the_front_with_it(panel, session):
    """Left to Qt, it takes some turns of the event loop, and a note lies over the table above it until then."""
    panel.hide()
    session.produced.emit(call("mass_properties", context(session)))
    panel.show()
    (card,) = panel.cards
    assert overlaps(card) == ([], [])
    assert card.height() >= card.minimumSizeHint().height()

"""Numbers as people type them: units, formulas, refusals, steps."""

import math

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.panels.sliders.row import QuantitySpinBox
from app.preferences.settings import Settings
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, format_number, format_quantity, read
from core.errors import ExpressionError

ANGLE, LENGTH, MASS = Measure("angle"), Measure("length"), Measure("mass")


@pytest.fixture
def units(tmp_path):
    return Settings(tmp_path / "settings.ini")


@pytest.fixture
def edit(qtbot, units):
    """An angle editor on screen, and the list of what it committed."""
    committed = []
    widget = QuantityEdit(ANGLE, units, lambda value, gesture: committed.append((value, gesture)) or "")
    widget.committed = committed
    widget.said = []
    widget.explained.connect(lambda words, severity: widget.said.append((words, severity)))
    qtbot.addWidget(widget)
    widget.show_value(0.5, {"l1": 0.25})
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    return widget


def retype(qtbot, widget, text):
    widget.selectAll()
    qtbot.keyClicks(widget, text)
    qtbot.keyClick(widget, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("text", "measure", "expected"),
    [
        ("30", ANGLE, math.pi / 6),
        ("-45", ANGLE, -math.pi / 4),
        ("30°", ANGLE, math.pi / 6),
        ("30 deg", ANGLE, math.pi / 6),
        ("0.5 rad", ANGLE, 0.5),
        ("0.25 rev", ANGLE, math.pi / 2),
        ("180/4", ANGLE, math.pi / 4),
        ("50 mm", LENGTH, 0.05),
        ("0,5", LENGTH, 0.5),
        ("1e-3", LENGTH, 1e-3),
        ("2 inch", LENGTH, 0.0508),
        ("−3", LENGTH, -3.0),
        ("750 g", MASS, 0.75),
        ("9.81 m/s²", Measure("acceleration"), 9.81),
        ("9.81 m/s^2", Measure("acceleration"), 9.81),
        ("30 °/s", Measure("angular_velocity"), math.pi / 6),
        ("30 deg/s", Measure("angular_velocity"), math.pi / 6),
        ("60 rpm", Measure("angular_velocity"), 2 * math.pi),
        ("1 rad/s", Measure("angular_velocity"), 1.0),
        ("2 kg·m²", Measure("inertia"), 2.0),
        ("3 N·m·s/rad", Measure("none", "N·m·s/rad"), 3.0),
        ("62 N/mm", Measure("none", "N/m"), 62000.0),
        ("2 N·m/deg", Measure("none", "N·m/rad"), 360.0 / math.pi),
        ("5 kg*mm^2", Measure("inertia"), 5e-6),
        ("7.85 g/cm³", Measure("density"), 7850.0),
        ("36 km/h", Measure("velocity"), 10.0),
        ("5 mm/rev", Measure("pitch"), 0.005),
        ("500 mm/s²", Measure("acceleration"), 0.5),
        ("7", Measure(), 7.0),
    ],
)
def test_numbers_with_units_become_si(text, measure, expected, units):
    assert read(text, measure, units, {}) == pytest.approx(expected, rel=1e-15)


def test_a_bare_number_counts_in_the_unit_shown(units):
    units.degrees, units.millimetres = False, True
    assert read("2", ANGLE, units, {}) == 2.0
    assert read("2", LENGTH, units, {}) == pytest.approx(0.002, rel=1e-15)
    assert read("2 m", LENGTH, units, {}) == 2.0


def test_formulas_stay_formulas(units):
    assert read("2*l1 + 50 mm", LENGTH, units, {"l1": 1.0}) == "2*l1 + 50 mm"
    assert read("pi/2", ANGLE, units, {}) == "pi/2"
    assert read("pi/2", ANGLE, units, {}, fold=True) == pytest.approx(math.pi / 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2*", "ends"),
        ("l2", "The name 'l2' is not defined"),
        ("3 kg", "'kg' is a unit for a mass; an angle is expected here"),
        ("1/0", "divides by zero"),
        ("", "empty"),
        ("9^9^9^9", "no finite value"),
        ("abc(1)", "not a function"),
        ("$", "not allowed in a formula"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(text, words, units):
    with pytest.raises(ExpressionError, match=words.replace("(", r"\(")):
        read(text, ANGLE, units, {})


@pytest.mark.parametrize(
    ("text", "measure", "words"),
    [
        ("61 kg", Measure("none", "N/m"), "'kg' has the wrong dimension: N/m is needed here"),
        ("61 N/m", Measure("none", "N·m/rad"), "'N/m' has the wrong dimension: N·m/rad is needed here"),
        ("5 m/s", LENGTH, "'m/s' has the wrong dimension: a length is needed here"),
        ("2 m", MASS, "'m' is a unit for a length; a mass is expected here"),
        ("62 N/k", Measure("none", "N/m"), "The name 'k' is not defined"),
    ],
)
def test_a_unit_of_something_else_is_refused(text, measure, words, units):
    with pytest.raises(ExpressionError, match=words):
        read(text, measure, units, {})


def test_a_parameter_goes_before_a_unit_of_its_name(units):
    assert read("6 m/s", Measure("none", "N/m"), units, {"s": 3.0}) == "6 m/s"


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, math.pi / 6, 1e-9, 12345.678, 1e12])
@pytest.mark.parametrize("measure", [ANGLE, LENGTH, MASS, Measure("angular_velocity")])
def test_what_is_shown_reads_back(value, measure, units):
    assert read(format_quantity(value, measure, units, 15), measure, units, {}) == pytest.approx(value, rel=1e-13)


def test_shown_numbers_are_short(units):
    assert format_quantity(math.pi / 6, ANGLE, units) == "30°"
    assert format_quantity(0.05, LENGTH, units) == "0.05 m"
    units.millimetres = True
    assert format_quantity(0.05, LENGTH, units) == "50 mm"
    assert format_number(1e-6, MASS, units) == "1e-6"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-9.80665, 5, "-9.8067"), (-9.80665, 8, "-9.80665"), (0.125, 2, "0.13"), (1.2344999, 4, "1.234"), (0.0, 5, "0")],
)
def test_numbers_are_rounded_as_they_are_written(value, digits, text, units):
    """Halves away from zero, by the digits that a person typed: 9.80665 as a float is a little less."""
    assert format_number(value, Measure("acceleration"), units, digits) == text


def test_typing_commits_once(qtbot, edit):
    retype(qtbot, edit, "30")
    assert [value for value, _ in edit.committed] == [pytest.approx(math.pi / 6)]
    assert edit.text() == "30°"
    edit.clearFocus()
    assert len(edit.committed) == 1


def test_leaving_the_field_commits(qtbot, edit):
    edit.selectAll()
    qtbot.keyClicks(edit, "45")
    assert edit.committed == []
    edit.clearFocus()
    assert edit.committed[0][0] == pytest.approx(math.pi / 4)


def test_looking_changes_nothing(qtbot, edit):
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    edit.clearFocus()
    assert edit.committed == []
    assert edit.value == 0.5


def test_bad_text_stays_and_the_reason_is_said(qtbot, edit):
    retype(qtbot, edit, "3 kg")
    assert edit.committed == []
    assert edit.text() == "3 kg"
    words, severity = edit.said[-1]
    assert severity == "error"
    assert "an angle is expected" in words
    edit.clearFocus()
    assert edit.text() == "3 kg"
    assert edit.said[-1][1] == "error"


def test_escape_brings_the_value_back(qtbot, edit):
    retype(qtbot, edit, "3 kg")
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert read(edit.text(), ANGLE, edit.settings, {}) == pytest.approx(0.5)
    assert edit.said[-1] == ("", "")


def test_a_refusal_by_the_document_keeps_the_text(qtbot, edit):
    edit.commit = lambda value, gesture: "Too much."
    retype(qtbot, edit, "1000")
    assert edit.text() == "1000"
    assert edit.said[-1] == ("Too much.", "error")


def test_a_formula_shows_its_value(qtbot, edit):
    retype(qtbot, edit, "2*l1")
    assert edit.committed[-1][0] == "2*l1"
    assert edit.text() == "2*l1"
    assert edit.said[-1] == ("= 28.64789°", "")  # 0.5 rad


def test_empty_is_none_only_where_it_may_be(qtbot, edit):
    retype(qtbot, edit, " ")
    assert edit.committed == []
    edit.optional = True
    edit.show_value(0.7)
    retype(qtbot, edit, " ")
    assert edit.committed[-1][0] is None


def test_keys_step_in_one_gesture(qtbot, edit):
    edit.show_value(0.0)
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    qtbot.keyClick(edit, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    values, gestures = zip(*edit.committed, strict=True)
    assert [math.degrees(v) for v in values] == pytest.approx([1, 2, -8])
    assert len(set(map(id, gestures))) == 1


def wheel(widget, delta):
    center = QPointF(widget.rect().center())
    event = QWheelEvent(
        center,
        QPointF(widget.mapToGlobal(QPoint(5, 5))),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def test_the_wheel_steps_only_with_focus(edit):
    edit.show_value(0.0)
    edit.clearFocus()
    wheel(edit, 120)
    assert edit.committed == []
    edit.setFocus()
    wheel(edit, 120)
    assert math.degrees(edit.committed[-1][0]) == pytest.approx(1)


def test_a_change_of_unit_rewrites_the_text(edit):
    edit.clearFocus()
    edit.settings.degrees = False
    edit.refresh_text()
    assert edit.text() == "0.5 rad"


def test_spin_box_is_si_inside_and_degrees_outside(qtbot, units):
    box = QuantitySpinBox("angle", units)
    qtbot.addWidget(box)
    edited, finished = [], []
    box.valueEdited.connect(edited.append)
    box.committed.connect(lambda: finished.append(True))
    box.setRange(-math.pi, math.pi)
    box.show_value(math.pi / 6)
    assert box.text() == "30°"
    assert edited == []
    box.selectAll()
    qtbot.keyClicks(box, "90")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == pytest.approx(math.pi / 2)
    assert edited == [pytest.approx(math.pi / 2)]
    assert finished
    box.selectAll()
    qtbot.keyClicks(box, "1 rad")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == pytest.approx(1.0)
    units.degrees = False
    box.refresh()
    assert box.text() == "1 rad"


def test_spin_box_steps_and_finishes_after_a_pause(qtbot, units):
    box = QuantitySpinBox("angle", units)
    qtbot.addWidget(box)
    box.show_value(0.0)
    edited = []
    box.valueEdited.connect(edited.append)
    with qtbot.waitSignal(box.committed):
        qtbot.keyClick(box, Qt.Key.Key_Up)
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert [math.degrees(v) for v in edited] == pytest.approx([1, 2])


def test_spin_box_keeps_its_range(qtbot, units):
    box = QuantitySpinBox("length", units)
    qtbot.addWidget(box)
    box.setRange(0.0, 1.0)
    box.show_value(0.5)
    box.selectAll()
    qtbot.keyClicks(box, "5 m")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert 0.0 <= box.value() <= 1.0


def test_what_is_typed_after_a_click_replaces_the_number(qtbot, edit):
    """Else the first character lands inside the old number; a second click sets the cursor."""
    edit.clearFocus()
    qtbot.mouseClick(edit, Qt.MouseButton.LeftButton, pos=QPoint(12, edit.height() // 2))
    qtbot.keyClicks(edit, "4")
    assert edit.text() == "4"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    edit.clearFocus()
    qtbot.mouseClick(edit, Qt.MouseButton.LeftButton, pos=QPoint(12, edit.height() // 2))
    assert edit.hasSelectedText()
    qtbot.mouseClick(edit, Qt.MouseButton.LeftButton, pos=QPoint(2, edit.height() // 2))
    assert not edit.hasSelectedText()

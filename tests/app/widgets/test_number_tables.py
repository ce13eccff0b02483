"""Tables of numbers in the person's units: parameters that are varied, rows that are pasted."""

import math

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.widgets.number_table import NumberColumn, NumberTable, VariedParametersTable
from app.widgets.quantities.quantity_text import SIUnits, measure_of
from core.errors import KinetostatError
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES


class Chosen(SIUnits):
    degrees = True
    millimetres = True


@pytest.fixture
def table(qtbot):
    made = NumberTable("Rows", Chosen())
    qtbot.addWidget(made)
    made.set_columns((NumberColumn("turn", measure_of("angle")), NumberColumn("way", measure_of("length"))))
    return made


@pytest.mark.parametrize(
    "text",
    ["30\t50\n60\t70", "30;50\n60;70", "30, 50\n60, 70", "# made\n30 50\n\n60 70", "30,0;50,0\n60,0;70,0",
     "angle [rad];x [m]\n0.52359877559829887;0.05\n1.0471975511965976;0.07", "30 deg\t5 cm\n60 deg\t7 cm"],
)  # fmt: skip
def test_rows_of_all_separators_and_units_are_the_same_numbers(table, text):
    assert table.read_rows_from_text(text, "file") == 2
    found = table.read_rows({})
    assert [row[0] for row in found] == pytest.approx([math.pi / 6, math.pi / 3])
    assert [row[1] for row in found] == pytest.approx([0.05, 0.07])
    assert table.rowCount() == 3  # one is empty, for a further one


@pytest.mark.parametrize(
    ("text", "words"),
    [("1 2\n3", "line 2"), ("1 2\n3 x", "line 2, way"), ("", "no rows"), ("turn [kg]\tway\n1\t2", "line 2, turn")],
)
def test_what_is_no_row_is_named_and_nothing_changes(table, text, words):
    table.read_rows_from_text("10 20", "file")
    with pytest.raises(KinetostatError) as told:
        table.read_rows_from_text(text, "file")
    assert words in str(told.value)
    assert table.filled_row_count() == 1


def test_the_clipboard_is_pasted_at_the_cursor_and_delete_empties(table, qtbot):
    table.read_rows_from_text("1 2\n3 4", "file")
    QGuiApplication.clipboard().setText("5\t6\n7\t8")
    with qtbot.waitActive(table):  # keys are shortcuts of whatever window is active
        table.show()
        table.activateWindow()
    table.setCurrentCell(1, 0)
    qtbot.keyClick(table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert [row[1] for row in table.read_rows({})] == pytest.approx([0.002, 0.006, 0.008])
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert table.filled_row_count() == 2


def test_other_units_are_the_same_numbers(table):
    table.read_rows_from_text("30 50", "file")
    table._units.degrees = table._units.millimetres = False
    table.refresh_units({})
    assert table.item(0, 1).text() == "0.05"
    assert table.horizontalHeaderItem(0).text() == "turn, rad"
    assert table.read_rows({})[0] == pytest.approx((math.pi / 6, 0.05), abs=1e-8)


def test_bounds_of_parameters_are_read_in_shown_units(qtbot):
    model = load(EXAMPLES / "four_bar.kst")
    table = VariedParametersTable(Chosen())
    qtbot.addWidget(table)
    table.show_parameters(model, Mechanism(model))
    assert [table.item(0, column).text() for column in (1, 2, 3)] == ["100 mm", "50", "140"]
    table.check_rows("a", "d")
    table.item(0, 2).setText("6 cm")
    table.item(3, 3).setText("3*a")
    assert table.bounds() == {"a": (pytest.approx(0.06), pytest.approx(0.14)), "d": (pytest.approx(0.26), "3*a")}
    table.show_parameters(model, Mechanism(model))
    assert table.bounds()["a"][0] == pytest.approx(0.06)
    table._units.millimetres = False
    table.refresh_units()
    assert [table.item(0, column).text() for column in (1, 2, 3)] == ["0.1 m", "0.06", "0.14"]
    table.item(0, 2).setText("6 s")
    with pytest.raises(KinetostatError, match="row 'a', From"):
        table.bounds()

"""Tables of results in narrow panels: columns give up room before the table scrolls."""

from app.panels.output.tables import TableView
from app.widgets.quantities.quantity_text import SIUnits
from core.functions.results import Table
from core.functions.text import Column

HEADS = ("Function", "Additions", "Multiplications", "Divisions", "Roots", "Transcendental", "Selections")
ROWS = (("accelerations with analytic loop closure", 134.0, 189.0, 22.0, 4.0, 11.0, 15.0), ("limits", *[0.0] * 6))


def opened(qtbot, width=1200):
    view = TableView(Table(title="Operations", columns=tuple(map(Column, HEADS)), rows=ROWS), SIUnits())
    qtbot.addWidget(view)
    view.resize(width, 200)
    view.show()
    qtbot.waitExposed(view)
    return view


def widths(view):
    return [view.columnWidth(k) for k in range(len(HEADS))]


def test_columns_give_up_the_room_that_texts_leave(qtbot):
    view = opened(qtbot)
    natural = widths(view)
    advance = view.horizontalHeader().fontMetrics().horizontalAdvance
    tight = sum(natural) - 60
    view.resize(tight, 200)
    assert sum(widths(view)) <= view.viewport().width()
    qtbot.waitUntil(lambda: not view.horizontalScrollBar().maximum())
    assert all(advance(head) < width for head, width in zip(HEADS, widths(view), strict=True))
    view.resize(300, 200)  # no column is narrower than its texts: the rest is reached by scrolling
    qtbot.waitUntil(lambda: view.horizontalScrollBar().maximum() > 0)
    assert all(advance(head) < width for head, width in zip(HEADS, widths(view), strict=True))
    view.resize(1200, 200)
    assert widths(view) == natural


def test_a_column_that_was_dragged_keeps_its_width(qtbot):
    view = opened(qtbot)
    view.setColumnWidth(1, 300)
    view.resize(500, 200)
    assert view.columnWidth(1) == 300


def test_what_is_sorted_by_keeps_the_room_of_its_arrow(qtbot):
    view = opened(qtbot)
    natural = widths(view)
    view.resize(sum(natural) - 60, 200)
    assert view.columnWidth(2) < natural[2]
    view.sortByColumn(2, view.horizontalHeader().sortIndicatorOrder())
    assert view.columnWidth(2) == natural[2]
    assert sum(widths(view)) <= view.viewport().width()

"""Editors for the source of a driver's motion: a formula of time, a table of times and values, or a recorded signal
(its file and column)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QWidget,
)

from app.document.opening import signal_filter
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.choice_editors import NameEditor, NarrowCombo
from app.widgets.fields.field_editor import Commit, Context, FieldEditor, FieldValues
from app.widgets.fields.formula_edit import FormulaEdit, allowed_formula_names
from app.widgets.fields.text_editors import FileEditor
from app.widgets.label import severity_color
from app.widgets.plain_keys import PlainKeyFilter
from app.widgets.quantities.quantity_text import Measure, evaluate_value, format_number, read
from core.errors import KinetostatError
from core.mechanics.elements.recorded_signals import read_signal_names
from core.model import Driver, Model
from core.model.dimensions import dimension_of, field_by_name
from core.model.fields import Element, Field, FormulaKind, Value
from core.model.formula.numerals import round_measured_number
from core.model.units import SI


def path_relative_to_document(path: str, origin: str) -> str:
    """Return a path as the model stores it: relative if it is in or below the folder of the model's file."""
    if origin and Path(path).is_relative_to(Path(origin).resolve().parent):
        return Path(path).relative_to(Path(origin).resolve().parent).as_posix()
    return path


def recorded_signal_fields(driver: Driver, file: str, model: Model) -> FieldValues:
    """Return the field values with which a driver follows a recorded signal: it keeps its column if the file has it,
    otherwise takes the column named after the joint or sensor, otherwise the first."""
    chosen = driver.column
    for column in dict.fromkeys((driver.column, "")):
        tried = dataclasses.replace(driver, function=None, times=(), values=(), file=file, column=column)
        try:
            names, found = read_signal_names(tried, model.origin)
        except KinetostatError:
            break  # the reason is shown when the file is taken
        chosen = column if found is not None else names[0]
        if found is not None:
            break
    return FieldValues(function=None, times=(), values=(), file=file, column=chosen)


class RecordedSignalEditor(FileEditor):
    """Editor for the file of a driver's recorded signal. Choosing another file may also change the column."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self._driver: Driver | None = None
        self._model: Model | None = None

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        self._driver, self._model = owner, context.model
        super().show_value(value, owner, context)

    def try_commit(self, value: Any, gesture: object = None) -> str:
        """Commit a file together with the column that is read from it."""
        if self._driver is not None and self._model is not None and isinstance(value, str):
            value = recorded_signal_fields(self._driver, value, self._model)
        return super().try_commit(value, gesture)


class ColumnEditor(NameEditor):
    """Editor for the column of a recorded signal, chosen from the columns of its file."""

    def show_value(self, value: str, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        driver, origin = owner, context.model.origin

        def names() -> list[str]:
            return list(read_signal_names(driver, origin)[0])

        try:
            taken = read_signal_names(driver, origin)[1] or ""
            self.combo.names = names
        except KinetostatError:
            taken, self.combo.names = "", list
        self.combo.lineEdit().setPlaceholderText(taken)
        symbol = SI.get(dimension_of(context.model, context.owners, field_by_name(Driver, "values")), "")
        self.words = f"numbers in {symbol}, against time in s" if symbol else "against time in s"
        self.show_name(value, context)


SOURCES = ("Formula", "Table", "Recorded signal")
SAMPLES = 11
"""Number of table rows into which a formula is converted."""
VISIBLE_ROWS = 8


class SourceEditor(FieldEditor):
    """Editor for the source of a driver's motion: a choice between formula, table and recorded signal, with the formula
    field."""

    broad = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, FormulaKind)
        self.kind: FormulaKind = field.kind
        self.driver: Driver | None = None
        self.context: Context | None = None
        self.combo = NarrowCombo(self)
        for title, drawing in zip(SOURCES, ("driver", "table", "plot"), strict=True):
            self.combo.addItem(icon(drawing), title)
        self.combo.activated.connect(self._on_source_chosen)
        self.edit = FormulaEdit(optional=False, parent=self)
        self.edit.commit = self.commit
        self.edit.explained.connect(self.show_note)
        self.column.addWidget(self.combo)
        self.column.addWidget(self.edit)
        self.setFocusProxy(self.edit)

    def discard_text(self) -> None:
        self.edit.discard_text()

    def show_value(self, value: Value | None, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        self.driver, self.context = owner, context
        source = 2 if owner.file else 1 if owner.times else 0
        self.combo.setCurrentIndex(source)
        self.combo.setEnabled(not context.read_only)
        self.edit.setVisible(source == 0)
        self.edit.settings, self.edit.values = context.settings, context.values
        self.edit.measure = context.field_measure(self.field)
        self.edit.setReadOnly(context.read_only)
        self.edit.set_known_names(allowed_formula_names(context, self.kind))
        if source == 0:
            self.edit.show_value(value, context.values)
        else:
            self.show_note("")

    def _on_source_chosen(self, index: int) -> None:
        driver = self.driver
        assert driver is not None
        assert self.context is not None
        present = 2 if driver.file else 1 if driver.times else 0
        if index == present:
            return
        if index == 2:
            self.combo.setCurrentIndex(present)
            self._browse()
            return
        values = sample_driver(driver, self.context)
        if index == 1:
            times = tuple(round_measured_number(float(t)) for t in np.linspace(0.0, 1.0, len(values)))
            chosen = FieldValues(function=None, file="", times=times, values=values)
        else:
            chosen = FieldValues(function=values[0], file="", times=(), values=())
        if self.try_commit(chosen):
            self.combo.setCurrentIndex(present)

    def _browse(self) -> None:
        assert self.context is not None
        folder = str(Path(self.context.model.origin).parent)
        dialog = QFileDialog(self, "Choose a recorded signal", folder, f"{signal_filter()};;All files (*)")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.use_recorded_signal)
        dialog.open()

    def use_recorded_signal(self, path: str) -> None:
        """Use a recorded signal as the driver's source."""
        assert self.context is not None
        assert self.driver is not None
        model = self.context.model
        self.try_commit(recorded_signal_fields(self.driver, path_relative_to_document(path, model.origin), model))


def sample_driver(driver: Driver, context: Context) -> tuple[Value, ...]:
    """Sample a driver's formula or table over the first second; zero where it cannot be evaluated."""
    if driver.times:
        return driver.values
    times = np.linspace(0.0, 1.0, SAMPLES)
    with np.errstate(all="ignore"):
        found = [evaluate_value(driver.function, {**context.values, "t": t, "time": t}) for t in times]
    return tuple(0.0 if x is None or not np.isfinite(x) else round_measured_number(float(x)) for x in found)


class TableCurve(QWidget):
    """Small plot of the table: its points and the cubic spline through them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedHeight(84)
        self.points = np.zeros((0, 2))

    def show_points(self, points: np.ndarray) -> None:
        """Draw points (n, 2) of time and value."""
        self.points = points
        self.update()

    def spline_points(self) -> np.ndarray:
        """Return the plotted line (m, 2): a cubic spline, or a straight line for two points."""
        from scipy.interpolate import CubicSpline

        t, y = self.points.T
        if len(t) < 3:
            return self.points
        fine = np.linspace(t[0], t[-1], 160)
        return np.column_stack([fine, CubicSpline(t, y)(fine)])

    def paintEvent(self, event: QPaintEvent) -> None:
        if len(self.points) < 2 or not np.isfinite(self.points).all() or (np.diff(self.points[:, 0]) <= 0).any():
            return
        line = self.spline_points()
        low, high = line.min(axis=0), line.max(axis=0)
        span = np.where(high - low > 0.0, high - low, 1.0)
        area = QRectF(self.rect()).adjusted(6.0, 6.0, -6.0, -6.0)

        def to_pixel(point: np.ndarray) -> QPointF:
            x, y = (point - low) / span
            return QPointF(area.left() + x * area.width(), area.bottom() - y * area.height())

        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        faint = self.palette().mid().color()
        painter.setPen(QPen(faint, 1.0))
        painter.drawRect(area)
        accent = self.palette().highlight().color()
        painter.setPen(QPen(accent, 1.6))
        painter.drawPolyline(QPolygonF([to_pixel(point) for point in line]))
        painter.setBrush(accent)
        for point in self.points:
            painter.drawEllipse(to_pixel(point), 2.2, 2.2)
        painter.end()


class _TimeTableGrid(QTableWidget):
    def __init__(self, editor: TimeTableEditor) -> None:
        super().__init__(0, 2, editor)
        self.editor = editor
        PlainKeyFilter(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.editor.paste_rows(QGuiApplication.clipboard().text())
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.editor.table_as_text())
        elif event.key() == Qt.Key.Key_Delete:
            self.editor.remove_rows()
        else:
            super().keyPressEvent(event)


class TimeTableEditor(FieldEditor):
    """Editor for the times and values of a driver's table; rows can be pasted from a spreadsheet."""

    broad = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self.rows: list[tuple[Value, Value]] = []
        self._refused: dict[tuple[int, int], tuple[str, str]] = {}
        """Texts of cells that cannot be read, and why, by row and column."""
        self.measures = (Measure("time"), Measure())
        self.context: Context | None = None
        self._filling = False
        self.curve = TableCurve(self)
        self.table = _TimeTableGrid(self)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.verticalHeader().setDefaultSectionSize(self.table.fontMetrics().height() + 10)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.itemChanged.connect(self._on_cell_typed)
        self.column.addWidget(self.curve)
        self.column.addWidget(self.table)
        self.column.addLayout(self._build_buttons())
        self.setFocusProxy(self.table)

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(2)
        for drawing, words, run in (
            ("add", "Add a row", self.add_row),
            ("remove", "Remove the selected rows", self.remove_rows),
        ):
            button = QToolButton(self, icon=icon(drawing), toolTip=escape_tip(words), autoRaise=True)
            button.setAccessibleName(words)
            button.clicked.connect(run)
            row.addWidget(button)
        paste = QPushButton("Paste", self, toolTip="Replace the table with two columns from the clipboard")
        paste.clicked.connect(lambda: self.paste_rows(QGuiApplication.clipboard().text()))
        row.addStretch(1)
        row.addWidget(paste)
        return row

    # --------------------------------------------------------------------------- showing

    def show_value(self, value: tuple[Value, ...], owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        self.context = context
        self.measures = (
            context.field_measure(field_by_name(Driver, "times")),
            context.field_measure(field_by_name(Driver, "values")),
        )
        rows = list(zip(owner.times, owner.values, strict=True))
        if rows != self.rows:
            self._refused.clear()
        self.rows = rows
        self._fill_table()
        self.show_note(self.refusal_reason(), "error" if self._refused else "")
        self.setEnabled(not context.read_only)

    def discard_text(self) -> None:
        self._refused.clear()

    def refusal_reason(self) -> str:
        return next((problem for _, problem in self._refused.values()), "")

    def _fill_table(self) -> None:
        assert self.context is not None
        units = self.context.settings
        self._filling = True
        self.table.setRowCount(len(self.rows))
        titles = ("Time", "Value")
        symbols = (measure.display_unit(units).symbol for measure in self.measures)
        self.table.setHorizontalHeaderLabels([f"{t} ({s})" if s else t for t, s in zip(titles, symbols, strict=True)])
        for i, row in enumerate(self.rows):
            for j, (item, measure) in enumerate(zip(row, self.measures, strict=True)):
                text = item if isinstance(item, str) else format_number(item, measure, units)
                self.table.setItem(i, j, QTableWidgetItem(text))
                self._mark_refused_cell(i, j)
        self._filling = False
        shown = min(max(len(self.rows), 2), VISIBLE_ROWS)
        self.table.setFixedHeight((shown + 1) * self.table.verticalHeader().defaultSectionSize() + 6)
        points = [[evaluate_value(item, self.context.values) for item in row] for row in self.rows]
        self.curve.show_points(np.array([[np.nan if x is None else x for x in row] for row in points]).reshape(-1, 2))

    def _mark_refused_cell(self, row: int, column: int) -> None:
        """Show the refused text in its cell, in the error colour."""
        item, refused = self.table.item(row, column), self._refused.get((row, column))
        before, self._filling = self._filling, True
        if refused:
            item.setText(refused[0])
        item.setToolTip(escape_tip(refused[1] if refused else ""))
        item.setForeground(QBrush(severity_color("error", self.palette())) if refused else QBrush())
        self._filling = before

    # --------------------------------------------------------------------------- editing

    def _commit_rows(self, rows: list[tuple[Value, Value]]) -> str:
        times, values = ([row[i] for row in rows] for i in (0, 1))
        return self.try_commit(FieldValues(times=tuple(times), values=tuple(values), function=None, file=""))

    def _parse_cell(self, text: str, column: int) -> Value:
        assert self.context is not None
        return read(text, self.measures[column], self.context.settings, self.context.values)

    def _on_cell_typed(self, item: QTableWidgetItem) -> None:
        if self._filling:
            return
        row, column, text = item.row(), item.column(), item.text()
        others = {cell: said for cell, said in self._refused.items() if cell != (row, column)}
        try:
            problem = self._replace_cell(row, column, self._parse_cell(text, column))
        except KinetostatError as error:
            problem = f"{error.what} {error.remedy}".strip()
        self._refused = {**others, (row, column): (text, problem)} if problem else others
        for cell in {(row, column), *others}:
            self._mark_refused_cell(*cell)
        self.show_note(self.refusal_reason(), "error" if self._refused else "")

    def _replace_cell(self, row: int, column: int, value: Value) -> str:
        """Commit the table with the value of one cell replaced."""
        pair = list(self.rows[row])
        if value == pair[column]:
            return ""
        pair[column] = value
        rows = [*self.rows[:row], (pair[0], pair[1]), *self.rows[row + 1 :]]
        problem = self._commit_rows(rows)
        self.rows = self.rows if problem else rows
        return problem

    def add_row(self) -> None:
        """Add a row after the current one: halfway to the next row, or one step beyond the last."""
        at = self.table.currentRow() if self.table.currentRow() >= 0 else len(self.rows) - 1
        numbers = [tuple(evaluate_value(x, self.context.values) or 0.0 for x in row) for row in self.rows]  # type: ignore[union-attr]
        if at + 1 < len(numbers):
            new = tuple((a + b) / 2.0 for a, b in zip(numbers[at], numbers[at + 1], strict=True))
        else:
            step = numbers[-1][0] - numbers[-2][0] if len(numbers) > 1 else 1.0
            new = (numbers[-1][0] + step, numbers[-1][1]) if numbers else (0.0, 0.0)
        self._commit_rows([*self.rows[: at + 1], (new[0], new[1]), *self.rows[at + 1 :]])

    def remove_rows(self) -> None:
        """Remove the selected rows."""
        chosen = {index.row() for index in self.table.selectedIndexes()}
        if chosen and len(chosen) < len(self.rows):
            self._commit_rows([row for i, row in enumerate(self.rows) if i not in chosen])

    def paste_rows(self, text: str) -> str:
        """Replace the table with two columns of text, separated by tabs, semicolons or commas; a title line is
        skipped."""
        rows: list[tuple[Value, Value]] = []
        for i, line in enumerate(text.strip().splitlines()):
            cells = split_cells(line)
            try:
                if len(cells) != 2:
                    raise KinetostatError(
                        f"Row {i + 1} has {len(cells)} columns instead of two.",
                        remedy="Copy two columns: times and values.",
                    )
                rows.append((self._parse_cell(cells[0], 0), self._parse_cell(cells[1], 1)))
            except KinetostatError as error:
                if i > 0:
                    words = f"Row {i + 1} of the clipboard: {error.what} {error.remedy}".strip()
                    self.show_note(words, "error")
                    return words
        return self._commit_rows(rows) if rows else ""

    def table_as_text(self) -> str:
        """Return the table as text for a spreadsheet."""
        assert self.context is not None
        units = self.context.settings

        def cell_text(item: Value, measure: Measure) -> str:
            return item if isinstance(item, str) else format_number(item, measure, units, 12)

        return "\n".join("\t".join(map(cell_text, row, self.measures)) for row in self.rows)


def split_cells(line: str) -> list[str]:
    """Split a line of a spreadsheet or CSV file into cells; commas are decimal points if tabs or semicolons separate
    the cells."""
    for mark in ("\t", ";", ","):
        if mark in line:
            return [cell.strip() for cell in line.split(mark)]
    return line.split()

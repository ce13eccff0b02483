"""A list of nested elements as an editable table: DH rows, and the limits of a joint's coordinates."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QBrush, QFocusEvent, QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.fields.fields_form import replaced
from app.widgets.fields.shown_fields import columns_of, coordinate_titles, field_title
from app.widgets.form_layout import Section
from app.widgets.label import SEVERITY_MARKS, fitting_number_text, severity_color
from app.widgets.plain_keys import PlainKeys
from app.widgets.quantities.quantity_text import Measure, measure_of, number, quantity, read, value_in
from core.errors import KinetostatError
from core.model import DHRow
from core.model.chains import split_offset
from core.model.fields import ChoiceKind, Element, Field, PartsKind, ScalarKind, Value, fields_of
from core.model.units import DERIVED, SI

Index: TypeAlias = QModelIndex | QPersistentModelIndex


class GridCells(Protocol):
    """Protocol of the table editor as its cells use it."""

    def options_at(self, column: int) -> tuple[str, ...]:
        """Return the choices of a column; () if it holds numbers."""

    def text_to_edit(self, row: int, column: int) -> str:
        """Return the text with which a cell's editor begins."""

    def take(self, row: int, column: int, text: str) -> None:
        """Commit the text typed in a cell."""

    def clear_cell(self, row: int, column: int) -> None:
        """Reset a cell to its default."""


class CellDelegate(QStyledItemDelegate):
    """Delegate that edits cells as text, choices with a combo box, and passes the result to the table editor."""

    def __init__(self, editor: GridCells, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        options = self.editor.options_at(index.column())
        if options:
            combo = QComboBox(parent)
            combo.addItems(options)
            combo.activated.connect(lambda _i: (self.commitData.emit(combo), self.closeEditor.emit(combo)))
            return combo
        line = QLineEdit(parent)
        line.setFrame(False)
        return line

    def setEditorData(self, widget: QWidget, index: Index) -> None:
        text = self.editor.text_to_edit(index.row(), index.column())
        if isinstance(widget, QComboBox):
            widget.setCurrentText(text)
        elif isinstance(widget, QLineEdit):
            widget.setText(text)
            widget.selectAll()

    def setModelData(self, widget: QWidget, model: QAbstractItemModel, index: Index) -> None:
        text = widget.currentText() if isinstance(widget, QComboBox) else ""
        if isinstance(widget, QLineEdit):
            text = widget.text()
            if not widget.isModified():
                return
        self.editor.take(index.row(), index.column(), text)


class Grid(QTableWidget):
    """Table of cells in which Delete empties a cell."""

    def __init__(self, editor: GridCells, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor
        PlainKeys(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.currentRow() >= 0:
            self.editor.clear_cell(self.currentRow(), self.currentColumn())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Enter at the first cell with Tab, at the last one with Shift+Tab."""
        super().focusInEvent(event)
        if self.rowCount() and event.reason() == Qt.FocusReason.TabFocusReason:
            self.setCurrentCell(0, 0)
        elif self.rowCount() and event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.setCurrentCell(self.rowCount() - 1, self.columnCount() - 1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move from cell to cell with Tab, and on from the last."""
        last = (self.rowCount() - 1, self.columnCount() - 1)
        leaves = (self.currentRow(), self.currentColumn()) == (last if forward else (0, 0))
        self.setTabKeyNavigation(not leaves and self.rowCount() > 0)
        gone = super().focusNextPrevChild(forward)
        self.setTabKeyNavigation(True)
        return gone


VISIBLE_ROWS = 9
CELL_MARGIN = 4
"""Distance between the border of a cell and its text, pixels."""


class TableEditor(FieldEditor):
    """Table with one element per row; for a joint's limits the rows are its coordinates."""

    wide = True
    fixed_rows = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, PartsKind)
        self.type: type = field.kind.element
        self.value: tuple[Any, ...] = ()
        self.refused: dict[tuple[int, str], tuple[str, str]] = {}
        self._shown: tuple[Element, Context] | None = None
        self.columns: tuple[str, ...] = columns_of(self.type)
        self.section = Section(field_title(field, owner), self._make, f"{owner.__name__}.{field.name}")
        self.section.arrow.setToolTip(as_tip(field.help))
        self.column.insertWidget(0, self.section)

    # --------------------------------------------------------------------------- making

    def _make(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.table = Grid(self, box)
        self.table.setColumnCount(len(self.columns))
        self.table.setItemDelegate(CellDelegate(self, self))
        self.table.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setMinimumSectionSize(30)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.verticalHeader().setDefaultSectionSize(self.table.fontMetrics().height() + 10)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.horizontalHeader().sectionResized.connect(lambda section, *_: self._fill_column(section))
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)
        column.addWidget(self.table)
        self.complete(box, column)
        return box

    def complete(self, box: QWidget, column: QVBoxLayout) -> None:
        """Add the widgets beneath the table."""

    # --------------------------------------------------------------------------- showing

    def show_value(self, value: tuple[Any, ...], owner: Element, context: Context) -> None:
        if value != self.value:
            self.refused.clear()
        self.value = value
        self._shown = (owner, context)
        self.columns = columns_of(self.type, owner)
        count = "" if self.fixed_rows or not value else f" ({len(value)})"
        self.section.set_title(field_title(self.field, self.owner) + count)
        self.section.summarize("" if value else "none")
        if self.section.content is None:
            return
        self._fill()
        self.show_beneath()
        self._explain()

    def show_beneath(self) -> None:
        """Update the widgets beneath the table."""

    def forget(self) -> None:
        self.refused.clear()
        if self.section.content is not None:
            self.table.setCurrentCell(-1, -1)

    def refused_text(self) -> str:
        return next((problem for _, problem in self.refused.values()), "") or super().refused_text()

    def _rows(self) -> int:
        assert self._shown is not None
        return len(coordinate_titles(self._shown[0])) if self.fixed_rows else len(self.value)

    def _fill(self) -> None:
        assert self._shown is not None
        _owner, _context = self._shown
        rows = self._rows()
        self.table.setRowCount(rows)
        fields = {field.name: field for field in fields_of(self.type)}
        heads = [self._column_title(fields[name], rows) for name in self.columns]
        self.table.setHorizontalHeaderLabels(heads)
        for index, name in enumerate(self.columns):
            self.table.horizontalHeaderItem(index).setToolTip(as_tip(fields[name].help))
        titles = self._row_titles(rows)
        self.table.setVerticalHeaderLabels(list(titles))
        self.table.verticalHeader().setVisible(any(titles))
        for column in range(len(self.columns)):
            self._fill_column(column)
            if self.options_at(column):
                self.table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        frame = 2 * self.table.frameWidth() + 2
        height = self.table.verticalHeader().defaultSectionSize() * min(max(rows, 1), VISIBLE_ROWS)
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + height + frame)

    def _fill_column(self, column: int) -> None:
        """Write the cells of a column, with as many digits as its width allows."""
        for row in range(min(self.table.rowCount(), self._rows() if self._shown else 0)):
            self._fill_cell(row, column)

    def _row_titles(self, rows: int) -> tuple[str, ...]:
        if not self.fixed_rows:
            return tuple(f"{i + 1} {self._finding_symbol(i)}".rstrip() for i in range(rows))
        assert self._shown is not None
        titles = coordinate_titles(self._shown[0])
        if len(titles) < 2:
            return titles
        settings, first = self._shown[1].settings, self._field(0)
        symbols = [self._measure(i, first).display(settings).symbol for i in range(rows)]
        return tuple(f"{title} {symbol}".strip() for title, symbol in zip(titles, symbols, strict=True))

    def _finding_symbol(self, row: int) -> str:
        """Return the symbol of a row's worst finding."""
        assert self._shown is not None
        own, findings = f"{self.path}.{row}", self._shown[1].findings
        severities = {
            f.severity for path in findings if path == own or path.startswith(own + ".") for f in findings[path]
        }
        return next((sign for severity, sign in SEVERITY_MARKS.items() if severity in severities), "")

    def _column_title(self, field: Field, rows: int) -> str:
        title = {"velocity": "speed", "effort": "effort", "lower": "lower", "upper": "upper"}.get(
            field.name, field_title(field, self.type)
        )
        if isinstance(field.kind, ChoiceKind):
            return ""  # the drawing says it
        if not isinstance(field.kind, ScalarKind):
            return title
        assert self._shown is not None
        measures = {self._measure(row, field) for row in range(rows)} or {measure_of(field.kind.dimension)}
        symbol = measures.pop().display(self._shown[1].settings).symbol if len(measures) == 1 else ""
        return f"{title}\n{symbol}" if symbol else title

    def _fill_cell(self, row: int, column: int) -> None:
        assert self._shown is not None
        name, context = self.columns[column], self._shown[1]
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
        refused = self.refused.get((row, name))
        value = self._get(row, name)
        font = QFont(self.table.font())
        font.setItalic(isinstance(value, str) and not self.options_at(column))
        font.setBold(self._is_variable(row, name))
        item.setFont(font)
        room = self.table.columnWidth(column) - 2 * CELL_MARGIN
        text = fitting_number_text(lambda digits: self._text(value, row, column, digits), 5, room, QFontMetrics(font))
        text = refused[0] if refused else f"{text}{self._formula_unit(value, row, column)}"
        if item.text() != text:
            item.setText(text)
        is_choice = bool(self.options_at(column))
        if is_choice:
            item.setIcon(icon(text))
            item.setText(text[:1].upper())
        item.setToolTip(as_tip(refused[1] if refused else self._tip(value, row, column)))
        item.setForeground(QBrush(severity_color("error", self.palette())) if refused else QBrush())
        if not is_choice:
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item.setFlags(flags if context.read_only else flags | Qt.ItemFlag.ItemIsEditable)

    def _text(self, value: Any, row: int, column: int, digits: int) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        assert self._shown is not None
        field = self._field(column)
        text = number(value, self._measure(row, field), self._shown[1].settings, digits)
        return text

    def _formula_unit(self, value: Any, row: int, column: int) -> str:
        """Return the unit of a formula if its column shows another one; numbers in formulas are SI."""
        if not isinstance(value, str) or self.options_at(column):
            return ""
        assert self._shown is not None
        measure = self._measure(row, self._field(column))
        symbol = SI.get(measure.dimension) or DERIVED.get(measure.dimension, "")
        shown = measure.display(self._shown[1].settings).symbol
        return f" [{symbol}]" if symbol and symbol != shown else ""

    def _tip(self, value: Any, row: int, column: int) -> str:
        if value is None:
            return "none"
        if self.options_at(column):
            return str(value)
        assert self._shown is not None
        context, field = self._shown[1], self._field(column)
        worth = value_in(value, context.values)
        text = "" if worth is None else quantity(worth, self._measure(row, field), context.settings, 12)
        if isinstance(value, str):
            text = f"{value}{self._formula_unit(value, row, column)} = {text}"
        if self._is_variable(row, self.columns[column]):
            return f"{text}\nAdded to the joint coordinate {self._variable_name(row)}"
        return text

    def _is_variable(self, row: int, name: str) -> bool:
        if self.type is not DHRow or row >= len(self.value):
            return False
        return name == ("theta" if self.value[row].kind == "revolute" else "d")

    def _variable_name(self, row: int) -> str:
        return str(self.value[row].variable or f"q{row + 1}")

    def _field(self, column: int) -> Field:
        return next(field for field in fields_of(self.type) if field.name == self.columns[column])

    def _measure(self, row: int, field: Field) -> Measure:
        assert isinstance(field.kind, ScalarKind)
        assert self._shown is not None
        element = self.value[row] if row < len(self.value) else self.type()
        return self._shown[1].inside(element).measure(field, row)

    def _get(self, row: int, name: str) -> Any:
        return getattr(self.value[row], name) if row < len(self.value) else None

    # --------------------------------------------------------------------------- editing

    def options_at(self, column: int) -> tuple[str, ...]:
        """Return the choices of a column; () if it holds numbers."""
        kind = self._field(column).kind
        return kind.options if isinstance(kind, ChoiceKind) else ()

    def text_to_edit(self, row: int, column: int) -> str:
        """Return the text with which a cell's editor begins: a refused text, or the value in full."""
        name = self.columns[column]
        refused = self.refused.get((row, name))
        return refused[0] if refused else self._text(self._get(row, name), row, column, 12)

    def take(self, row: int, column: int, text: str) -> None:
        """Commit the text typed in a cell; a refused text stays in red, with the reason beneath the table."""
        name = self.columns[column]
        try:
            problem = self.put(row, name, self._read(row, column, text))
        except KinetostatError as error:
            problem = f"{error.what} {error.remedy}".strip()
        if problem:
            self.refused[row, name] = (text, problem)
        else:
            self.refused.pop((row, name), None)
        if row < self.table.rowCount():
            self._fill_cell(row, column)
        self._explain()

    def clear_cell(self, row: int, column: int) -> None:
        """Reset a cell to its default."""
        field = self._field(column)
        if self._shown is not None and not self._shown[1].read_only and self._get(row, field.name) != field.default:
            self.refused.pop((row, field.name), None)
            problem = self.put(row, field.name, field.default)
            self.explain(problem, "error" if problem else "")

    def _open_menu(self, point: QPoint) -> None:
        index = self.table.indexAt(point)
        if index.isValid():
            menu = self.menu_at(index.row(), index.column())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.table.viewport().mapToGlobal(point))

    def menu_at(self, row: int, column: int) -> QMenu:
        """Return the menu of actions on the number in a cell."""
        menu = QMenu(self)
        assert self._shown is not None
        context, name = self._shown[1], self.columns[column]
        value = self._get(row, name)
        if context.read_only or value is None or self.options_at(column):
            return menu
        worth = value_in(value, context.values)
        if isinstance(value, str) and worth is not None:
            text = quantity(worth, self._measure(row, self._field(column)), context.settings)
            menu.addAction(f"Replace the formula by {text}", lambda: self.put(row, name, worth))
        promote, suggest, path = context.promote, context.suggest, f"{self.path}.{row}.{name}"
        if promote is not None and suggest is not None:
            menu.addAction(f"Make it the parameter “{suggest(path)}”", lambda: promote(path))
        menu.addAction("Reset to the default", lambda: self.clear_cell(row, column))
        return menu

    def _explain(self) -> None:
        reason = next(iter(self.refused.values()), ("", ""))[1]
        self.explain(reason, "error" if reason else "")

    def _read(self, row: int, column: int, text: str) -> Value | None:
        if self.options_at(column):
            return text
        assert self._shown is not None
        context, field = self._shown[1], self._field(column)
        assert isinstance(field.kind, ScalarKind)
        if field.kind.optional and not text.strip():
            return None
        if self._is_variable(row, field.name):
            offset = _constant_offset(text, self._variable_name(row))
            if offset is not None:
                return offset
        return read(text, self._measure(row, field), context.settings, context.values)

    def put(self, row: int, name: str, value: Any, gesture: object = None) -> str:
        """Commit one cell."""
        items = list(self.value)
        while len(items) <= row:
            items.append(self.type())
        new, problem = replaced(items[row], name, value)
        if problem:
            return problem
        items[row] = new
        while self.fixed_rows and items and items[-1] == self.type():
            items.pop()
        return self.commit(tuple(items), gesture or object())


def _constant_offset(text: str, variable: str) -> Value | None:
    """Return the constant of an entry such as "q1 + 90 deg", the way textbooks write the joint variable's column."""
    try:
        return split_offset(text, variable)
    except KinetostatError:
        return None

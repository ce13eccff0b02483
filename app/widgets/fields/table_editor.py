"""Editor for a list of nested elements as a table: DH rows, or the limits of a joint's coordinates."""

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

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.fields.field_editor import Commit, Context, FieldEditor
from app.widgets.fields.fields_form import replace_field
from app.widgets.fields.shown_fields import coordinate_titles, field_title, table_columns
from app.widgets.form_layout import CollapsibleSection
from app.widgets.label import SEVERITY_MARKS, fitting_number_text, severity_color
from app.widgets.plain_keys import PlainKeyFilter
from app.widgets.quantities.quantity_text import (
    Measure,
    evaluate_value,
    format_number,
    format_quantity,
    measure_of,
    read,
)
from core.errors import KinetostatError
from core.model import DHRow
from core.model.chains import split_offset
from core.model.fields import ChoiceKind, Element, Field, NestedElementsKind, ScalarKind, Value, declared_fields
from core.model.units import DERIVED, SI

Index: TypeAlias = QModelIndex | QPersistentModelIndex


class CellEditing(Protocol):
    """Interface of a table editor that its grid and cell delegate use."""

    def column_choices(self, column: int) -> tuple[str, ...]:
        """Return the choices of a column; () if it holds numbers."""

    def text_to_edit(self, row: int, column: int) -> str:
        """Return the text with which editing of a cell begins."""

    def commit_cell(self, row: int, column: int, text: str) -> None:
        """Commit the text typed into a cell."""

    def clear_cell(self, row: int, column: int) -> None:
        """Reset a cell to its default."""


class CellDelegate(QStyledItemDelegate):
    """Delegate that edits cells as text, or choices with a combo box, and passes the result to the table editor."""

    def __init__(self, editor: CellEditing, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        options = self.editor.column_choices(index.column())
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
        self.editor.commit_cell(index.row(), index.column(), text)


class CellGrid(QTableWidget):
    """Table widget in which Delete resets a cell to its default."""

    def __init__(self, editor: CellEditing, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor
        PlainKeyFilter(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.currentRow() >= 0:
            self.editor.clear_cell(self.currentRow(), self.currentColumn())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select the first cell when Tab enters the table, the last one with Shift+Tab."""
        super().focusInEvent(event)
        if self.rowCount() and event.reason() == Qt.FocusReason.TabFocusReason:
            self.setCurrentCell(0, 0)
        elif self.rowCount() and event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.setCurrentCell(self.rowCount() - 1, self.columnCount() - 1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move from cell to cell with Tab, and leave the table after the last one."""
        last = (self.rowCount() - 1, self.columnCount() - 1)
        leaves = (self.currentRow(), self.currentColumn()) == (last if forward else (0, 0))
        self.setTabKeyNavigation(not leaves and self.rowCount() > 0)
        gone = super().focusNextPrevChild(forward)
        self.setTabKeyNavigation(True)
        return gone


VISIBLE_ROWS = 9
CELL_MARGIN = 4
"""Distance between the border of a cell and its text, in pixels."""


class TableEditor(FieldEditor):
    """Table editor with one element per row; for a joint's limits the rows are its coordinates."""

    wide = True
    fixed_rows = True

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        assert isinstance(field.kind, NestedElementsKind)
        self.type: type = field.kind.element
        self.value: tuple[Any, ...] = ()
        self.refused: dict[tuple[int, str], tuple[str, str]] = {}
        self._shown: tuple[Element, Context] | None = None
        self.columns: tuple[str, ...] = table_columns(self.type)
        self.section = CollapsibleSection(
            field_title(field, owner), self._build_content, f"{owner.__name__}.{field.name}"
        )
        self.section.arrow.setToolTip(escape_tip(field.help))
        self.column.insertWidget(0, self.section)

    # --------------------------------------------------------------------------- making

    def _build_content(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.table = CellGrid(self, box)
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
        self.table.customContextMenuRequested.connect(self._open_cell_menu)
        column.addWidget(self.table)
        self.add_widgets_below(box, column)
        return box

    def add_widgets_below(self, box: QWidget, column: QVBoxLayout) -> None:
        """Add widgets below the table."""

    # --------------------------------------------------------------------------- showing

    def show_value(self, value: tuple[Any, ...], owner: Element, context: Context) -> None:
        if value != self.value:
            self.refused.clear()
        self.value = value
        self._shown = (owner, context)
        self.columns = table_columns(self.type, owner)
        count = "" if self.fixed_rows or not value else f" ({len(value)})"
        self.section.set_title(field_title(self.field, self.owner) + count)
        self.section.show_summary("" if value else "none")
        if self.section.content is None:
            return
        self._fill_table()
        self.update_widgets_below()
        self._show_refusal()

    def update_widgets_below(self) -> None:
        """Update the widgets below the table."""

    def discard_text(self) -> None:
        self.refused.clear()
        if self.section.content is not None:
            self.table.setCurrentCell(-1, -1)

    def refusal_reason(self) -> str:
        return next((problem for _, problem in self.refused.values()), "") or super().refusal_reason()

    def _row_count(self) -> int:
        assert self._shown is not None
        return len(coordinate_titles(self._shown[0])) if self.fixed_rows else len(self.value)

    def _fill_table(self) -> None:
        assert self._shown is not None
        _owner, _context = self._shown
        rows = self._row_count()
        self.table.setRowCount(rows)
        fields = {field.name: field for field in declared_fields(self.type)}
        heads = [self._column_title(fields[name], rows) for name in self.columns]
        self.table.setHorizontalHeaderLabels(heads)
        for index, name in enumerate(self.columns):
            self.table.horizontalHeaderItem(index).setToolTip(escape_tip(fields[name].help))
        titles = self._row_titles(rows)
        self.table.setVerticalHeaderLabels(list(titles))
        self.table.verticalHeader().setVisible(any(titles))
        for column in range(len(self.columns)):
            self._fill_column(column)
            if self.column_choices(column):
                self.table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        frame = 2 * self.table.frameWidth() + 2
        height = self.table.verticalHeader().defaultSectionSize() * min(max(rows, 1), VISIBLE_ROWS)
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + height + frame)

    def _fill_column(self, column: int) -> None:
        """Write the cells of a column, with as many digits as its width allows."""
        for row in range(min(self.table.rowCount(), self._row_count() if self._shown else 0)):
            self._fill_cell(row, column)

    def _row_titles(self, row_count: int) -> tuple[str, ...]:
        if not self.fixed_rows:
            return tuple(f"{i + 1} {self._finding_symbol(i)}".rstrip() for i in range(row_count))
        assert self._shown is not None
        titles = coordinate_titles(self._shown[0])
        if len(titles) < 2:
            return titles
        settings, first = self._shown[1].settings, self._column_field(0)
        symbols = [self._cell_measure(i, first).display_unit(settings).symbol for i in range(row_count)]
        return tuple(f"{title} {symbol}".strip() for title, symbol in zip(titles, symbols, strict=True))

    def _finding_symbol(self, row: int) -> str:
        """Return the symbol of the most severe finding of a row."""
        assert self._shown is not None
        own, findings = f"{self.path}.{row}", self._shown[1].findings
        severities = {
            f.severity for path in findings if path == own or path.startswith(own + ".") for f in findings[path]
        }
        return next((sign for severity, sign in SEVERITY_MARKS.items() if severity in severities), "")

    def _column_title(self, field: Field, row_count: int) -> str:
        title = {"velocity": "speed", "effort": "effort", "lower": "lower", "upper": "upper"}.get(
            field.name, field_title(field, self.type)
        )
        if isinstance(field.kind, ChoiceKind):
            return ""  # the drawing says it
        if not isinstance(field.kind, ScalarKind):
            return title
        assert self._shown is not None
        measures = {self._cell_measure(row, field) for row in range(row_count)} or {measure_of(field.kind.dimension)}
        symbol = measures.pop().display_unit(self._shown[1].settings).symbol if len(measures) == 1 else ""
        return f"{title}\n{symbol}" if symbol else title

    def _fill_cell(self, row: int, column: int) -> None:
        assert self._shown is not None
        name, context = self.columns[column], self._shown[1]
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
        refused = self.refused.get((row, name))
        value = self._field_value(row, name)
        font = QFont(self.table.font())
        font.setItalic(isinstance(value, str) and not self.column_choices(column))
        font.setBold(self._is_joint_variable(row, name))
        item.setFont(font)
        room = self.table.columnWidth(column) - 2 * CELL_MARGIN
        text = fitting_number_text(
            lambda digits: self._cell_text(value, row, column, digits), 5, room, QFontMetrics(font)
        )
        text = refused[0] if refused else f"{text}{self._formula_unit(value, row, column)}"
        if item.text() != text:
            item.setText(text)
        is_choice = bool(self.column_choices(column))
        if is_choice:
            item.setIcon(icon(text))
            item.setText(text[:1].upper())
        item.setToolTip(escape_tip(refused[1] if refused else self._cell_tip(value, row, column)))
        item.setForeground(QBrush(severity_color("error", self.palette())) if refused else QBrush())
        if not is_choice:
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item.setFlags(flags if context.read_only else flags | Qt.ItemFlag.ItemIsEditable)

    def _cell_text(self, value: Any, row: int, column: int, digits: int) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        assert self._shown is not None
        field = self._column_field(column)
        text = format_number(value, self._cell_measure(row, field), self._shown[1].settings, digits)
        return text

    def _formula_unit(self, value: Any, row: int, column: int) -> str:
        """Return the SI unit of a formula if its column shows another unit; numbers in formulas are SI."""
        if not isinstance(value, str) or self.column_choices(column):
            return ""
        assert self._shown is not None
        measure = self._cell_measure(row, self._column_field(column))
        symbol = SI.get(measure.dimension) or DERIVED.get(measure.dimension, "")
        shown = measure.display_unit(self._shown[1].settings).symbol
        return f" [{symbol}]" if symbol and symbol != shown else ""

    def _cell_tip(self, value: Any, row: int, column: int) -> str:
        if value is None:
            return "none"
        if self.column_choices(column):
            return str(value)
        assert self._shown is not None
        context, field = self._shown[1], self._column_field(column)
        worth = evaluate_value(value, context.values)
        text = "" if worth is None else format_quantity(worth, self._cell_measure(row, field), context.settings, 12)
        if isinstance(value, str):
            text = f"{value}{self._formula_unit(value, row, column)} = {text}"
        if self._is_joint_variable(row, self.columns[column]):
            return f"{text}\nAdded to the joint coordinate {self._joint_variable_name(row)}"
        return text

    def _is_joint_variable(self, row: int, name: str) -> bool:
        if self.type is not DHRow or row >= len(self.value):
            return False
        return name == ("theta" if self.value[row].kind == "revolute" else "d")

    def _joint_variable_name(self, row: int) -> str:
        return str(self.value[row].variable or f"q{row + 1}")

    def _column_field(self, column: int) -> Field:
        return next(field for field in declared_fields(self.type) if field.name == self.columns[column])

    def _cell_measure(self, row: int, field: Field) -> Measure:
        assert isinstance(field.kind, ScalarKind)
        assert self._shown is not None
        element = self.value[row] if row < len(self.value) else self.type()
        return self._shown[1].nested_context(element).field_measure(field, row)

    def _field_value(self, row: int, name: str) -> Any:
        return getattr(self.value[row], name) if row < len(self.value) else None

    # --------------------------------------------------------------------------- editing

    def column_choices(self, column: int) -> tuple[str, ...]:
        """Return the choices of a column; () if it holds numbers."""
        kind = self._column_field(column).kind
        return kind.options if isinstance(kind, ChoiceKind) else ()

    def text_to_edit(self, row: int, column: int) -> str:
        """Return the text with which editing of a cell begins: the refused text, or the value with all digits."""
        name = self.columns[column]
        refused = self.refused.get((row, name))
        return refused[0] if refused else self._cell_text(self._field_value(row, name), row, column, 12)

    def commit_cell(self, row: int, column: int, text: str) -> None:
        """Commit the text typed into a cell; a refused text stays in red, with the reason below the table."""
        name = self.columns[column]
        try:
            problem = self.commit_field(row, name, self._parse_cell(row, column, text))
        except KinetostatError as error:
            problem = f"{error.what} {error.remedy}".strip()
        if problem:
            self.refused[row, name] = (text, problem)
        else:
            self.refused.pop((row, name), None)
        if row < self.table.rowCount():
            self._fill_cell(row, column)
        self._show_refusal()

    def clear_cell(self, row: int, column: int) -> None:
        """Reset a cell to its default."""
        field = self._column_field(column)
        if (
            self._shown is not None
            and not self._shown[1].read_only
            and self._field_value(row, field.name) != field.default
        ):
            self.refused.pop((row, field.name), None)
            problem = self.commit_field(row, field.name, field.default)
            self.show_note(problem, "error" if problem else "")

    def _open_cell_menu(self, point: QPoint) -> None:
        index = self.table.indexAt(point)
        if index.isValid():
            menu = self.cell_menu(index.row(), index.column())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.table.viewport().mapToGlobal(point))

    def cell_menu(self, row: int, column: int) -> QMenu:
        """Return the menu of actions on the number in a cell."""
        menu = QMenu(self)
        assert self._shown is not None
        context, name = self._shown[1], self.columns[column]
        value = self._field_value(row, name)
        if context.read_only or value is None or self.column_choices(column):
            return menu
        worth = evaluate_value(value, context.values)
        if isinstance(value, str) and worth is not None:
            text = format_quantity(worth, self._cell_measure(row, self._column_field(column)), context.settings)
            menu.addAction(f"Replace the formula with {text}", lambda: self.commit_field(row, name, worth))
        promote, suggest, path = context.promote, context.suggest, f"{self.path}.{row}.{name}"
        if promote is not None and suggest is not None:
            menu.addAction(f"Turn it into the parameter “{suggest(path)}”", lambda: promote(path))
        menu.addAction("Reset to the default", lambda: self.clear_cell(row, column))
        return menu

    def _show_refusal(self) -> None:
        reason = next(iter(self.refused.values()), ("", ""))[1]
        self.show_note(reason, "error" if reason else "")

    def _parse_cell(self, row: int, column: int, text: str) -> Value | None:
        if self.column_choices(column):
            return text
        assert self._shown is not None
        context, field = self._shown[1], self._column_field(column)
        assert isinstance(field.kind, ScalarKind)
        if field.kind.optional and not text.strip():
            return None
        if self._is_joint_variable(row, field.name):
            offset = _joint_variable_offset(text, self._joint_variable_name(row))
            if offset is not None:
                return offset
        return read(text, self._cell_measure(row, field), context.settings, context.values)

    def commit_field(self, row: int, name: str, value: Any, gesture: object = None) -> str:
        """Commit one cell."""
        items = list(self.value)
        while len(items) <= row:
            items.append(self.type())
        new, problem = replace_field(items[row], name, value)
        if problem:
            return problem
        items[row] = new
        while self.fixed_rows and items and items[-1] == self.type():
            items.pop()
        return self.commit(tuple(items), gesture or object())


def _joint_variable_offset(text: str, variable: str) -> Value | None:
    """Return the constant in an entry such as "q1 + 90 deg", as textbooks write the joint variable of a DH row."""
    try:
        return split_offset(text, variable)
    except KinetostatError:
        return None

"""Tree of channels to choose from (search, check, double-click or drag), and an input field for formulas of
channels."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QFrame,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.plain_text import escape_tip
from app.plotting.channels import ChannelRow, build_channel_tree, iterate_channel_rows
from app.plotting.dragged_channels import channel_mime_data
from app.plotting.series import compute_column, first_sample_run
from app.preferences.icons import icon
from app.widgets.label import Note
from app.widgets.options.signal_options import ExampleNames
from app.widgets.plain_keys import PlainKeyFilter
from core.errors import KinetostatError
from core.simulation.run.run import Run

CHANNEL = Qt.ItemDataRole.UserRole
CHECKABLE = QTreeWidgetItem().flags() | Qt.ItemFlag.ItemIsUserCheckable
FORMULA = "Formula of channels"
DELIMITERS = " +-*/^(,"
"""Characters that end a name in a formula."""


class _ChannelTree(QTreeWidget):
    """Tree widget whose channels can be dragged."""

    def mimeData(self, items: list[QTreeWidgetItem]) -> QMimeData:
        return channel_mime_data(name for name in map(_drawn_channel, items) if name)


def _drawn_channel(item: QTreeWidgetItem) -> str:
    """Return the channel that a row plots: its own, or the first one of an element (such as a coordinate, a position or
    a value)."""
    own = item.data(0, CHANNEL)
    inside = [item.child(k).data(0, CHANNEL) for k in range(item.childCount())]
    return str(own or next(filter(None, inside), ""))


class FormulaCompleter(QCompleter):
    """Completes the last name in a formula."""

    def splitPath(self, path: str) -> list[str]:
        """Return the name that is being typed."""
        return [path[_last_name_start(path) :]]

    def pathFromIndex(self, index: object) -> str:
        """Return the formula with its last name replaced by the completion."""
        edit = self.widget()
        text = edit.text() if isinstance(edit, QLineEdit) else ""
        return text[: _last_name_start(text)] + super().pathFromIndex(index)


def _last_name_start(text: str) -> int:
    return max(text.rfind(letter) for letter in DELIMITERS) + 1


class ChannelPicker(QWidget):
    """Tree of channels with a field for formulas; emits `toggled(channel, on)` when the user checks a row, and
    `formula(text)` when the user enters a valid formula."""

    toggled = Signal(str, bool)
    formula = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note = Note(self)
        self._run: Run | None = None
        self._channels: tuple[str, ...] = ()
        self._chosen: frozenset[str] | None = None
        self._filling = False
        self._marked: dict[str, list[tuple[QTreeWidgetItem, list[str]]]] = {}
        """Drawn channel → the rows whose marks it changes, each with the channels it stands for."""
        self.search = QLineEdit(placeholderText="Search channels", clearButtonEnabled=True)
        self.search.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self._filter_rows)
        self.rows = _ChannelTree()
        self.rows.setHeaderHidden(True)
        self.rows.setUniformRowHeights(True)
        self.rows.setIndentation(13)
        self.rows.setFrameShape(QFrame.Shape.NoFrame)
        self.rows.setDragEnabled(True)
        self.rows.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.rows.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.rows.itemChanged.connect(self._on_item_changed)
        self.rows.itemDoubleClicked.connect(self._on_double_clicked)
        PlainKeyFilter(self.rows, typing=False)
        self.edit = QLineEdit(placeholderText=FORMULA, clearButtonEnabled=True)
        self.edit.setToolTip("Formula of channels and parameters; press Enter to draw it in the active plot.")
        self.edit.returnPressed.connect(self._on_formula_entered)
        self.edit.textEdited.connect(lambda _: self.note.show_text(""))
        PlainKeyFilter(self.edit)
        PlainKeyFilter(self.search)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 2, 2, 4)
        layout.setSpacing(3)
        for widget in (self.search, self.rows, self.edit, self.note):
            layout.addWidget(widget, 1 if widget is self.rows else 0)

    # ----------------------------------------------------------------------------- showing

    def show_run(self, run: Run | None, chosen: Iterable[str]) -> None:
        """List the channels of a run, with the chosen ones checked."""
        names = run.channels if run is not None else ()
        if run is None and self._run is not None:
            self._fill_tree((), set())
            self._chosen = None
            self.edit.setPlaceholderText(FORMULA)
        if run is not None and (names != self._channels or self._run is None or run.mech is not self._run.mech):
            unfolded = {item.text(0) for item in self._all_items() if item.isExpanded()}
            rows = build_channel_tree(run)
            self._fill_tree(rows, unfolded)
            every = [leaf.channel for leaf in iterate_channel_rows(rows) if not leaf.children]
            completer = FormulaCompleter(every, self.edit)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.edit.setCompleter(completer)
            example = ExampleNames.from_machine(run.mech).format_hint("{joint}.tau*{joint}.v", suffix="")
            self.edit.setPlaceholderText(f"Formula, e.g. {example}" if example else FORMULA)
            self._chosen = frozenset()
        self._run, self._channels = run, names
        wanted = frozenset(chosen)
        if wanted != self._chosen:
            self._update_checks(self._chosen or frozenset(), wanted)
            self._chosen = wanted

    def _fill_tree(self, rows: tuple[ChannelRow, ...], expanded: set[str]) -> None:
        self._filling = True
        self.rows.clear()
        self._marked.clear()
        self._add_rows(self.rows.invisibleRootItem(), rows, expanded or {rows[0].text} if rows else set())
        self._filling = False
        if self.search.text():
            self._filter_rows(self.search.text())

    def _add_rows(self, parent: QTreeWidgetItem, rows: tuple[ChannelRow, ...], expanded: set[str]) -> None:
        for row in rows:
            item = QTreeWidgetItem([row.text])
            if row.icon and row.icon != "plot":
                item.setIcon(0, icon(row.icon))
            item.setData(0, CHANNEL, row.channel)
            item.setToolTip(0, escape_tip(row.channel or row.text))
            if row.channel:
                item.setFlags(CHECKABLE)
                item.setCheckState(0, Qt.CheckState.Unchecked)
                parts = [each.channel for each in row.children] or [row.channel]
                for part in parts:
                    self._marked.setdefault(part, []).append((item, parts))
            parent.addChild(item)
            self._add_rows(item, row.children, expanded)
            item.setExpanded(row.text in expanded)

    def _all_items(self) -> list[QTreeWidgetItem]:
        found, waiting = [], [self.rows.topLevelItem(k) for k in range(self.rows.topLevelItemCount())]
        while waiting:
            item = waiting.pop()
            found.append(item)
            waiting += [item.child(k) for k in range(item.childCount())]
        return found

    def _update_checks(self, old_channels: frozenset[str], new_channels: frozenset[str]) -> None:
        """Update the check marks; a channel is partially checked if only some of its components are plotted."""
        self._filling = True
        for item, parts in [each for part in old_channels ^ new_channels for each in self._marked.get(part, ())]:
            count = sum(part in new_channels for part in parts)
            state = Qt.CheckState.Unchecked if not count else Qt.CheckState.PartiallyChecked
            item.setCheckState(0, Qt.CheckState.Checked if count == len(parts) else state)
        self._filling = False

    def _filter_rows(self, text: str) -> None:
        words = text.casefold().split()

        def show_if_matching(item: QTreeWidgetItem, parent_titles: str) -> bool:
            own = f"{parent_titles} {item.text(0)} {item.data(0, CHANNEL) or ''}".casefold()
            fits = all(word in own for word in words)
            inside = [show_if_matching(item.child(k), own) for k in range(item.childCount())]
            item.setHidden(bool(words) and not fits and not any(inside))
            if words and any(inside):
                item.setExpanded(True)
            return fits or any(inside)

        for k in range(self.rows.topLevelItemCount()):
            show_if_matching(self.rows.topLevelItem(k), "")

    # ----------------------------------------------------------------------------- choosing

    def _on_item_changed(self, item: QTreeWidgetItem, _column: int) -> None:
        channel = item.data(0, CHANNEL)
        if not self._filling and channel:
            self.toggled.emit(channel, item.checkState(0) == Qt.CheckState.Checked)

    def _on_double_clicked(self, item: QTreeWidgetItem, _column: int) -> None:
        if item.data(0, CHANNEL):
            checked = item.checkState(0) == Qt.CheckState.Checked
            item.setCheckState(0, Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked)

    def _on_formula_entered(self) -> None:
        text = self.edit.text().strip()
        if not text:
            return
        if self._run is None:
            self.note.show_text(
                "There is no run yet, so formulas have no channels to use. Simulate first (F5).", "hint"
            )
            return
        try:
            compute_column(first_sample_run(self._run), text)
        except KinetostatError as error:
            self.note.show_text(f"{error.what} {error.remedy}".strip(), "error")
            return
        self.note.show_text("")
        self.edit.clear()
        self.formula.emit(text)

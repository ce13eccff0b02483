"""The list of runs: a tree of branches with names, colours and visibility boxes; save, load, compare, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QColorDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QInputDialog,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.document.kept.recovery_copies import format_count
from app.document.revision import UndoableAction
from app.document.run_tree import RunRecord
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.runs.job import computing_cost_text, format_duration
from app.widgets.label import MarkupLabel
from app.widgets.panel_parts import EmptyPanelPlaceholder, create_icon_button
from app.widgets.plain_keys import PlainKeyFilter
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.functions.results import Result
from core.functions.subjects.run_derivatives import compare_runs
from core.simulation import Run


def delete_runs(session: Session, *records: RunRecord) -> None:
    """Remove runs from the list, as an undo step."""
    before = session.runs.take_snapshot()
    if records:
        label = f"Delete {records[0].name}" if len(records) == 1 else f"Delete {format_count(len(records), 'run')}"
        step = UndoableAction(lambda: session.runs.remove(*records), lambda: session.runs.restore_snapshot(before))
        session.perform(label, step)


RECORD = Qt.ItemDataRole.UserRole
SAVE_FILTER = "Whole run, HDF5 (*.h5);;Table, CSV (*.csv);;SIMNON (*.sim)"
LOAD_FILTER = "Runs (*.h5 *.hdf5)"
EMPTY = "No runs yet. F5 simulates the machine; each run is listed here and can be played, compared and continued."


OWN_KEYS = frozenset((Qt.Key.Key_F2, Qt.Key.Key_Delete))
"""Keys that act on the list of runs instead of the selected element; timeline keys still act on the window."""


class _RunTree(QTreeWidget):
    """Tree in which F2 and Del act on runs while it has the keyboard focus."""

    deleted = Signal()

    def __init__(self) -> None:
        super().__init__()
        PlainKeyFilter(self, typing=False, keys=OWN_KEYS)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete the selected runs with Del."""
        if event.key() == Qt.Key.Key_Delete:
            self.deleted.emit()
        else:
            super().keyPressEvent(event)


class RunsList(QWidget):
    """List of runs: a click selects a run for playback, the box in front of its name shows it in plots, F2 or a double
    click renames it."""

    stranger = Signal(object, object)
    """Emitted with a `Run` and its `Path` when the run read from a file belongs to another machine."""

    def __init__(self, session: Session, jobs: Jobs) -> None:
        super().__init__()
        self._session, self._jobs = session, jobs
        self._last = -1, Path()
        """Folder in which a run was last saved or opened."""
        self._items: dict[int, QTreeWidgetItem] = {}
        self._filling = False
        self.tree = _RunTree()
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(2)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setIndentation(14)
        self.tree.setIconSize(QSize(14, 14))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        # no editing by a second click: F2 and what is typed within half a second after a click would be lost
        self.tree.setEditTriggers(QTreeWidget.EditTrigger.EditKeyPressed | QTreeWidget.EditTrigger.DoubleClicked)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.setAccessibleName("Runs")
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.customContextMenuRequested.connect(self._open_menu)
        self.tree.itemChanged.connect(self._on_item_edited)
        self.tree.currentItemChanged.connect(self._on_chosen)
        self.tree.deleted.connect(self.delete_selected)
        self.empty = EmptyPanelPlaceholder(EMPTY, "Simulate")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._build_buttons())
        column.addWidget(self.empty)
        column.addWidget(self.tree, 1)
        column.addStretch(0)
        self._life = Lifetime()
        self._life.listen((session.runs.changed, self.refresh))
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 4, 6, 0)
        title = MarkupLabel("<b>Runs</b>")
        row.addWidget(title, 1)
        self.compare_button = create_icon_button(
            "measure", "Compare two runs (select both)", self.compare_runs, flat=True
        )
        self.save_button = create_icon_button("save", "Save the run as HDF5, CSV or SIMNON", self.save, flat=True)
        self.delete_button = create_icon_button(
            "delete", "Delete the selected runs (Del)", self.delete_selected, flat=True
        )
        for button in (
            create_icon_button("open", "Load a run", self.load, flat=True),
            self.save_button,
            self.compare_button,
            self.delete_button,
        ):
            row.addWidget(button)
        return row

    # ------------------------------------------------------------------------------- showing

    def refresh(self) -> None:
        """Update the tree, keeping the items of runs that still exist."""
        self._filling = True
        runs = self._session.runs
        there = {record.id for record in runs.items}
        if set(self._items) != there or any(self._is_misplaced(record) for record in runs.items):
            self.tree.clear()
            self._items = {}
            for record in runs.items:
                self._add_item(record)
            self.tree.expandAll()
        for record in runs.items:
            self._update_item(record)
        current = self._items.get(runs.current.id) if runs.current is not None else None
        if current is not None and self.tree.currentItem() is not current:
            self.tree.setCurrentItem(current)
        self.empty.setVisible(not runs.items)
        self.tree.setVisible(bool(runs.items))
        self.save_button.setEnabled(runs.current is not None)
        self.delete_button.setEnabled(bool(runs.items))
        self.compare_button.setEnabled(len([r for r in runs.items if not r.faint]) > 1)
        self._filling = False

    def _is_misplaced(self, record: RunRecord) -> bool:
        above = self._items[record.id].parent() if record.id in self._items else None
        return (above.data(0, RECORD) if above is not None else None) != self._listed_parent(record)

    def _listed_parent(self, record: RunRecord) -> int | None:
        return record.parent if self._session.runs.find_record(record.parent) is not None else None

    def _add_item(self, record: RunRecord) -> None:
        item = QTreeWidgetItem()
        item.setData(0, RECORD, record.id)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable)
        above = self._listed_parent(record)
        if above is not None and above in self._items:
            self._items[above].addChild(item)
        else:
            self.tree.addTopLevelItem(item)
        self._items[record.id] = item

    def _update_item(self, record: RunRecord) -> None:
        item, run = self._items[record.id], record.run
        item.setText(0, record.name)
        item.setCheckState(0, Qt.CheckState.Checked if record.visible else Qt.CheckState.Unchecked)
        item.setIcon(0, color_dot_icon(record.color, record.faint))
        end = "…" if record.growing else "!" if not run.complete else ""
        note = "✎ " if record.note else ""  # what it says is in the tip
        item.setText(1, f"{note}{format_seconds(float(run.time[-1]))} {end}".strip())
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setToolTip(0, escape_tip(run_tool_tip(record, self._session.runs.find_record(record.parent))))
        item.setToolTip(1, item.toolTip(0))

    @property
    def selected_runs(self) -> tuple[RunRecord, ...]:
        """Return the selected runs in the order of the list."""
        found = (self._session.runs.find_record(item.data(0, RECORD)) for item in self.tree.selectedItems())
        return tuple(record for record in found if record is not None)

    # ------------------------------------------------------------------------------- acting

    def _on_chosen(self, item: QTreeWidgetItem | None, before: object) -> None:
        if item is not None and not self._filling:
            self._session.runs.select(self._session.runs.find_record(item.data(0, RECORD)))

    def _on_item_edited(self, item: QTreeWidgetItem, column: int) -> None:
        record = self._session.runs.find_record(item.data(0, RECORD))
        if self._filling or record is None or column != 0:
            return
        self._session.runs.set_visible(record, item.checkState(0) == Qt.CheckState.Checked)
        self._session.runs.rename(record, item.text(0))
        self.refresh()

    def delete_selected(self) -> None:
        """Remove the selected runs from the list; undo restores them."""
        delete_runs(self._session, *self.selected_runs)

    def clear(self) -> None:
        """Remove all runs from the list; undo restores them."""
        records = self._session.runs.items
        cost = sum(record.run.statistics.seconds for record in records)
        delete_runs(self._session, *records)
        words = (
            f"{format_count(len(records), 'run')} deleted, which took {format_duration(cost)} to compute. Undo "
            f"brings them back."
        )
        self._session.message.emit("done", words)

    def annotate(self, record: RunRecord) -> None:
        """Ask for a note on a run and store it with the run."""
        note, agreed = QInputDialog.getMultiLineText(self, "Note", f"Note on {record.name}", record.note)
        if agreed:
            self._session.runs.set_note(record, note.strip())

    def compare_runs(self) -> None:
        """Compare two runs: the two selected ones, or the current one and the one before it."""
        chosen = [record for record in self.selected_runs if not record.faint]
        if len(chosen) != 2:
            others = [r for r in self._session.runs.items if not r.faint and r is not self._session.runs.current]
            current = self._session.runs.current
            chosen = [others[-1], current] if others and current is not None else []
        if len(chosen) != 2:
            self._session.message.emit("hint", "Select two runs to compare them.")
            return
        first, second = chosen
        work = lambda progress, cancelled: compare_runs(first.run, second.run, (first.name, second.name))  # noqa: E731
        job = self._jobs.start("Comparing runs", work)
        job.succeeded.connect(self._on_compared)
        job.failed.connect(self._on_failed)

    def _on_compared(self, result: Result) -> None:
        self._session.produced.emit(result)

    def save(self) -> None:
        """Ask for a file name and write the current run."""
        record = self._session.runs.current
        if record is None:
            return
        start = record.source or str(self._folder() / f"{record.name}.h5")
        path, kind = QFileDialog.getSaveFileName(self, "Save the run", start, SAVE_FILTER)
        if path:
            suffix = kind[kind.rfind("*") + 1 :].rstrip(")")
            self.save_to(record, Path(path) if Path(path).suffix else Path(path + suffix))

    def save_to(self, record: RunRecord, path: Path) -> None:
        """Write a run in the background."""

        def work(progress: Any, cancelled: Callable[[], bool]) -> None:
            def report_progress(fraction: float) -> None:
                progress(fraction, path.name)
                if cancelled():
                    raise Cancelled

            record.run.save(path, progress=report_progress)

        job = self._jobs.start("Saving the run", work)

        def on_saved(_: object) -> None:
            self._last = self._session.document, path.parent
            if path.suffix in (".h5", ".hdf5"):
                record.source = str(path)
            self._session.message.emit("done", f"Saved {path}")

        job.succeeded.connect(on_saved)
        job.failed.connect(self._on_failed)

    def load(self) -> None:
        """Ask for a file and read the run in it."""
        path, _ = QFileDialog.getOpenFileName(self, "Load a run", str(self._folder()), LOAD_FILTER)
        if path:
            self.load_from(Path(path))

    def load_from(self, path: Path) -> None:
        """Read a run in the background and add it to the list."""
        job = self._jobs.start("Loading the run", lambda progress, cancelled: Run.load(path))
        job.succeeded.connect(lambda run: self._on_loaded(run, path))
        job.failed.connect(self._on_failed)

    def _on_loaded(self, run: Run, path: Path) -> None:
        if run.mech.nq and not set(run.mech.q_names) & set(self._session.mech.q_names):
            self.stranger.emit(run, path)
        else:
            self.take(run, path)

    def take(self, run: Run, path: Path) -> None:
        """Add a run read from a file to the list."""
        self._last = self._session.document, path.parent
        record = self._session.runs.add(run, path.stem)
        record.source = str(path)

    def _on_failed(self, error: BaseException) -> None:
        if not isinstance(error, KinetostatError):
            raise error
        self._session.message.emit("error", str(error))

    def _folder(self) -> Path:
        """Return the folder of the last run read for this document, or the document's own folder."""
        document, folder = self._last
        if document == self._session.document and folder.is_dir():
            return folder
        return self._session.folder or Path.home()

    def _open_menu(self, position: QPoint) -> None:
        item = self.tree.itemAt(position)
        record = self._session.runs.find_record(item.data(0, RECORD)) if item is not None else None
        if record is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("rename"), "Rename", lambda: self._rename(record))
        menu.addAction("Note…", lambda: self.annotate(record))
        menu.addAction("Colour…", lambda: self._ask_color(record))
        menu.addAction(icon("save"), "Save…", self.save)
        if len([r for r in self.selected_runs if not r.faint]) == 2:
            menu.addAction("Compare", self.compare_runs)
        menu.addSeparator()
        menu.addAction(icon("delete"), "Delete", self.delete_selected)
        if len(self._session.runs.items) > 1:
            menu.addAction(icon("clear"), "Delete all runs", self.clear)
        menu.popup(self.tree.viewport().mapToGlobal(position))

    def _rename(self, record: RunRecord) -> None:
        if record.id in self._items:  # the list may have changed since the menu was opened
            self.tree.editItem(self._items[record.id], 0)

    def _ask_color(self, record: RunRecord) -> None:
        color = QColorDialog.getColor(QColor(record.color), self, "Colour of the run")
        if color.isValid():
            self._session.runs.set_color(record, color.name())


def format_seconds(time: float) -> str:
    """Format a time for the list of runs: 0.25 s, 12.35 s, 31,255 s."""
    return f"{time:,.0f} s" if abs(time) >= 9999.5 else f"{time:.4g} s"


def run_tool_tip(record: RunRecord, parent: RunRecord | None) -> str:
    """Return the tool tip of a run: method, computing cost, origin and note."""
    settings = record.run.settings
    lines = [f"{settings.integration_method.title} · {computing_cost_text(record.run)}"]
    if parent is not None and record.from_time is not None:
        lines.append(f"Branched from {parent.name} at {record.from_time:.4g} s")
    if record.source:
        lines.append(record.source)
    if record.note:
        lines.append(record.note)
    return "\n".join(lines)


def color_dot_icon(color: str, faint: bool) -> QIcon:
    """Return an icon with a dot in the run's colour; a ring for runs shown faintly."""
    picture = QPixmap(28, 28)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(color if faint else "#ffffff"), 2.5))  # white: seen on the selection's colour, too
    painter.setBrush(Qt.BrushStyle.NoBrush if faint else QColor(color))
    painter.drawEllipse(6, 6, 16, 16)
    painter.end()
    return QIcon(picture)

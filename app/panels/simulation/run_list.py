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
from app.document.kept.recovery_copies import counted
from app.document.revision import Step
from app.document.run_tree import Record
from app.document.session import Session
from app.plain_text import as_tip
from app.preferences.icons import icon
from app.runs.job import lasting, statistics
from app.widgets.label import MarkupLabel
from app.widgets.panel_parts import EmptyPanel, tool_button
from app.widgets.plain_keys import PlainKeys
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.functions.results import Result
from core.functions.subjects.run_derivatives import compared
from core.simulation import Run


def delete_runs(session: Session, *records: Record) -> None:
    """Remove runs from the list, as an undo step."""
    before = session.runs.listing()
    if records:
        label = f"Delete {records[0].name}" if len(records) == 1 else f"Delete {counted(len(records), 'run')}"
        step = Step(lambda: session.runs.remove(*records), lambda: session.runs.put_back(before))
        session.perform(label, step)


RECORD = Qt.ItemDataRole.UserRole
SAVE_FILTER = "Whole run, HDF5 (*.h5);;Table, CSV (*.csv);;SIMNON (*.sim)"
LOAD_FILTER = "Runs (*.h5 *.hdf5)"
EMPTY = "No runs yet. F5 simulates the machine; each run is listed here and can be played, compared and continued."


OWN_KEYS = frozenset((Qt.Key.Key_F2, Qt.Key.Key_Delete))
"""Keys that act on the list instead of the selected element; timeline keys stay with the window."""


class _RunTree(QTreeWidget):
    """Tree whose F2 and Del act on runs while it has the focus."""

    deleted = Signal()

    def __init__(self) -> None:
        super().__init__()
        PlainKeys(self, typing=False, keys=OWN_KEYS)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete the selected runs with Del."""
        if event.key() == Qt.Key.Key_Delete:
            self.deleted.emit()
        else:
            super().keyPressEvent(event)


class RunsList(QWidget):
    """List of runs: a click plays a run, the box in front of its name shows it in plots, F2 or a double click renames
    it."""

    stranger = Signal(object, object)
    """Emitted when a run was read (`Run`, its `Path`) that belongs to another machine."""

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
        self.tree.deleted.connect(self.delete)
        self.empty = EmptyPanel(EMPTY, "Simulate")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._buttons())
        column.addWidget(self.empty)
        column.addWidget(self.tree, 1)
        column.addStretch(0)
        self._life = Lifetime()
        self._life.listen((session.runs.changed, self.refresh))
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 4, 6, 0)
        title = MarkupLabel("<b>Runs</b>")
        row.addWidget(title, 1)
        self.compare_button = tool_button("measure", "Compare two runs (select both)", self.compare, flat=True)
        self.save_button = tool_button("save", "Save the run as HDF5, CSV or SIMNON", self.save, flat=True)
        self.delete_button = tool_button("delete", "Delete the selected runs (Del)", self.delete, flat=True)
        for button in (
            tool_button("open", "Load a run", self.load, flat=True),
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
                self._add(record)
            self.tree.expandAll()
        for record in runs.items:
            self._show(record)
        current = self._items.get(runs.current.id) if runs.current is not None else None
        if current is not None and self.tree.currentItem() is not current:
            self.tree.setCurrentItem(current)
        self.empty.setVisible(not runs.items)
        self.tree.setVisible(bool(runs.items))
        self.save_button.setEnabled(runs.current is not None)
        self.delete_button.setEnabled(bool(runs.items))
        self.compare_button.setEnabled(len([r for r in runs.items if not r.faint]) > 1)
        self._filling = False

    def _is_misplaced(self, record: Record) -> bool:
        above = self._items[record.id].parent() if record.id in self._items else None
        return (above.data(0, RECORD) if above is not None else None) != self._listed_parent(record)

    def _listed_parent(self, record: Record) -> int | None:
        return record.parent if self._session.runs.find(record.parent) is not None else None

    def _add(self, record: Record) -> None:
        item = QTreeWidgetItem()
        item.setData(0, RECORD, record.id)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable)
        above = self._listed_parent(record)
        if above is not None and above in self._items:
            self._items[above].addChild(item)
        else:
            self.tree.addTopLevelItem(item)
        self._items[record.id] = item

    def _show(self, record: Record) -> None:
        item, run = self._items[record.id], record.run
        item.setText(0, record.name)
        item.setCheckState(0, Qt.CheckState.Checked if record.visible else Qt.CheckState.Unchecked)
        item.setIcon(0, swatch(record.color, record.faint))
        end = "…" if record.growing else "!" if not run.complete else ""
        note = "✎ " if record.note else ""  # what it says is in the tip
        item.setText(1, f"{note}{seconds(float(run.time[-1]))} {end}".strip())
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setToolTip(0, as_tip(about(record, self._session.runs.find(record.parent))))
        item.setToolTip(1, item.toolTip(0))

    @property
    def chosen(self) -> tuple[Record, ...]:
        """Return the selected runs in the order of the list."""
        found = (self._session.runs.find(item.data(0, RECORD)) for item in self.tree.selectedItems())
        return tuple(record for record in found if record is not None)

    # ------------------------------------------------------------------------------- acting

    def _on_chosen(self, item: QTreeWidgetItem | None, before: object) -> None:
        if item is not None and not self._filling:
            self._session.runs.select(self._session.runs.find(item.data(0, RECORD)))

    def _on_item_edited(self, item: QTreeWidgetItem, column: int) -> None:
        record = self._session.runs.find(item.data(0, RECORD))
        if self._filling or record is None or column != 0:
            return
        self._session.runs.show(record, item.checkState(0) == Qt.CheckState.Checked)
        self._session.runs.rename(record, item.text(0))
        self.refresh()

    def delete(self) -> None:
        """Remove the selected runs from the list; undo restores them."""
        delete_runs(self._session, *self.chosen)

    def clear(self) -> None:
        """Remove all runs from the list; undo restores them."""
        records = self._session.runs.items
        cost = sum(record.run.statistics.seconds for record in records)
        delete_runs(self._session, *records)
        words = f"{counted(len(records), 'run')} deleted, which took {lasting(cost)} to compute. Undo brings them back."
        self._session.message.emit("done", words)

    def annotate(self, record: Record) -> None:
        """Ask for a note on a run."""
        note, agreed = QInputDialog.getMultiLineText(self, "Note", f"Note on {record.name}", record.note)
        if agreed:
            self._session.runs.annotate(record, note.strip())

    def compare(self) -> None:
        """Show how two runs differ: the selected two, or the current one and the one before it."""
        chosen = [record for record in self.chosen if not record.faint]
        if len(chosen) != 2:
            others = [r for r in self._session.runs.items if not r.faint and r is not self._session.runs.current]
            current = self._session.runs.current
            chosen = [others[-1], current] if others and current is not None else []
        if len(chosen) != 2:
            self._session.message.emit("hint", "Select two runs to compare them.")
            return
        first, second = chosen
        work = lambda progress, cancelled: compared(first.run, second.run, (first.name, second.name))  # noqa: E731
        job = self._jobs.start("Comparing runs", work)
        job.succeeded.connect(self._on_compared)
        job.failed.connect(self._on_failed)

    def _on_compared(self, result: Result) -> None:
        self._session.produced.emit(result)

    def save(self) -> None:
        """Ask for a name and write the current run."""
        record = self._session.runs.current
        if record is None:
            return
        start = record.source or str(self._folder() / f"{record.name}.h5")
        path, kind = QFileDialog.getSaveFileName(self, "Save the run", start, SAVE_FILTER)
        if path:
            suffix = kind[kind.rfind("*") + 1 :].rstrip(")")
            self.save_to(record, Path(path) if Path(path).suffix else Path(path + suffix))

    def save_to(self, record: Record, path: Path) -> None:
        """Write a run in the background."""

        def work(progress: Any, cancelled: Callable[[], bool]) -> None:
            def tell(part: float) -> None:
                progress(part, path.name)
                if cancelled():
                    raise Cancelled

            record.run.save(path, progress=tell)

        job = self._jobs.start("Saving the run", work)

        def done(_: object) -> None:
            self._last = self._session.document, path.parent
            if path.suffix in (".h5", ".hdf5"):
                record.source = str(path)
            self._session.message.emit("done", f"Saved {path}")

        job.succeeded.connect(done)
        job.failed.connect(self._on_failed)

    def load(self) -> None:
        """Ask for a file and read its run."""
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
        """Add a run that was read from a file to the list."""
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

    def _open_menu(self, place: QPoint) -> None:
        item = self.tree.itemAt(place)
        record = self._session.runs.find(item.data(0, RECORD)) if item is not None else None
        if record is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("rename"), "Rename", lambda: self._rename(record))
        menu.addAction("Note…", lambda: self.annotate(record))
        menu.addAction("Colour…", lambda: self._recolour(record))
        menu.addAction(icon("save"), "Save…", self.save)
        if len([r for r in self.chosen if not r.faint]) == 2:
            menu.addAction("Compare", self.compare)
        menu.addSeparator()
        menu.addAction(icon("delete"), "Delete", self.delete)
        if len(self._session.runs.items) > 1:
            menu.addAction(icon("clear"), "Delete all runs", self.clear)
        menu.popup(self.tree.viewport().mapToGlobal(place))

    def _rename(self, record: Record) -> None:
        if record.id in self._items:  # the list may have changed since the menu was opened
            self.tree.editItem(self._items[record.id], 0)

    def _recolour(self, record: Record) -> None:
        color = QColorDialog.getColor(QColor(record.color), self, "Colour of the run")
        if color.isValid():
            self._session.runs.paint(record, color.name())


def seconds(time: float) -> str:
    """Return a time as the list shows it: 0.25 s, 12.35 s, 31,255 s."""
    return f"{time:,.0f} s" if abs(time) >= 9999.5 else f"{time:.4g} s"


def about(record: Record, parent: Record | None) -> str:
    """Return the tool tip of a run."""
    settings = record.run.settings
    lines = [f"{settings.rule.title} · {statistics(record.run)}"]
    if parent is not None and record.from_time is not None:
        lines.append(f"Branched from {parent.name} at {record.from_time:.4g} s")
    if record.source:
        lines.append(record.source)
    if record.note:
        lines.append(record.note)
    return "\n".join(lines)


def swatch(color: str, faint: bool) -> QIcon:
    """Return a dot in the run's colour; a ring for runs shown faintly."""
    picture = QPixmap(28, 28)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(color if faint else "#ffffff"), 2.5))  # white: seen on the selection's colour, too
    painter.setBrush(Qt.BrushStyle.NoBrush if faint else QColor(color))
    painter.drawEllipse(6, 6, 16, 16)
    painter.end()
    return QIcon(picture)

"""Denavit–Hartenberg table on a card: its frames are shown in the scene and linked to its rows; the table can be saved
to a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QObject
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.document.opening import dh_table_filter
from app.document.revision import ElementRef
from app.panels.output.parts import CardContext, register_part_creator
from app.panels.output.tables import TableView
from app.preferences.icons import icon
from app.viewport.frame_sets import ShownFrameTable
from app.widgets.label import Label
from core.errors import KinetostatError
from core.functions.results import FrameTable
from core.functions.subjects.description import write_dh_table

OLD = "These frames belong to another machine, or to an earlier state of this one. Run the function again."
LEGEND = "Large: frames {0} … {n} of the table. Small: the robot's own. Point at a row to see its frame and axis."


@register_part_creator(FrameTable)
class FrameTablePart(QWidget):
    """Table, note, a switch that shows the frames, and a Save button."""

    def __init__(self, table: FrameTable, place: CardContext) -> None:
        super().__init__()
        self._session, self.table, self._result = place.session, table, place.whole
        self.view = TableView(table, place.settings)
        self.view.setMouseTracking(True)
        self.view.viewport().installEventFilter(self)
        self.view.entered.connect(self._on_row_entered)
        self.view.selectionModel().currentRowChanged.connect(lambda now, _: self._on_row_entered(now))
        self._note, self.legend = Label(table.note), Label(LEGEND.replace("{n}", f"{{{len(table.rows)}}}"))
        for label in (self._note, self.legend):
            label.setWordWrap(True)
            label.setProperty("muted", True)
        self.frames = QPushButton(icon("frame"), "Frames in the scene")
        self.frames.setCheckable(True)
        self.frames.setToolTip("Show the frames of this table and the robot's own, ghosted")
        self.frames.toggled.connect(self._on_switched)
        self.save = QPushButton(icon("save"), "Save as a DH file…")
        self.save.clicked.connect(self._ask_save)
        row = QHBoxLayout()
        for widget in (self.frames, self.save):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.view, self._note, self.legend):
            column.addWidget(part)
        column.addLayout(row)
        self._life = Lifetime()
        self._life.listen((place.session.framed, self._on_other_shown))
        self.frames.setChecked(True)

    def close(self) -> None:
        """Disconnect from all signals and remove the frames from the scene."""
        self._life.close()
        if self._mine:
            self._session.framed.emit(None)

    def show_part(self, part: FrameTable) -> None:
        """Show another table."""
        self.table = part
        self._note.setText(part.note)
        self.view.show_table(part)
        if self.frames.isChecked():
            self._show_in_scene(0)

    # ----------------------------------------------------------------------------- scene

    def _on_switched(self, on: bool) -> None:
        if on and self._is_outdated():
            self._session.message.emit("warning", OLD)
            self.frames.setChecked(False)
            return
        self.legend.setVisible(on)
        if on:
            self._show_in_scene(0)
        elif self._mine:
            self._session.framed.emit(None)

    _mine = False
    """True if the frames shown in the scene belong to this table."""

    def _show_in_scene(self, row: int) -> None:
        self._session.framed.emit(ShownFrameTable(self.table, row))

    def _on_other_shown(self, shown: ShownFrameTable | None) -> None:
        """Update the switch when another table's frames, or none, are shown."""
        self._mine = shown is not None and shown.table is self.table
        if not self._mine and self.frames.isChecked():
            self.frames.setChecked(False)

    def _on_row_entered(self, index: QModelIndex) -> None:
        """Highlight frame, axis and joint of the row under the pointer."""
        row = self.view.source_row(index)
        if row < 0:
            return
        self._session.set_hovered_element(ElementRef("joints", self.table.joints[row]))
        if self.frames.isChecked():
            self._show_in_scene(row + 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Clear the highlight when the pointer leaves the table."""
        if event.type() == QEvent.Type.Leave:
            self._session.set_hovered_element(None)
            if self.frames.isChecked():
                self._show_in_scene(0)
        return super().eventFilter(watched, event)

    # ----------------------------------------------------------------------------- file

    def _ask_save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Save the DH table as", self._proposed_file_name(), dh_table_filter()
        )
        if path:
            self.write_table(path)

    def _is_outdated(self) -> bool:
        """Return True if the table belongs to another machine, or to a state before an edit."""
        asked = self._result().asked
        return asked is not None and asked.context.model != self._session.model

    def _proposed_file_name(self) -> str:
        return str((self._session.folder or Path.home()) / "dh_table.kst")

    def write_table(self, path: str) -> None:
        """Write the table to a file; report errors and data that the file format cannot represent."""
        asked = self._result().asked
        model = asked.context.model if asked is not None else self._session.model
        try:
            lost = write_dh_table(model, self.table.chain, path)
        except KinetostatError as error:
            self._session.message.emit("error", str(error))
            return
        words = "".join(f" {finding.text}" for finding in lost)
        self._session.message.emit("warning" if lost else "done", f"Wrote {path}.{words}")

"""The State panel: pose, motion and forces of the selected element at the present moment, as numbers to copy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.document.element_state import Axes, ElementState, Orientation, element_state_of
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Label
from app.widgets.panel_parts import create_icon_button, create_panel_note, create_read_only_cell
from app.widgets.plain_keys import PlainKeyFilter
from app.widgets.quantities.quantity_text import Units, append_unit, format_number, measure_of
from core.numerics.spatial.rotation import fixed_axis_angles

if TYPE_CHECKING:
    from app.document.session import Session
    from app.workbench import Workbench

TITLE, FIRST, UNIT = 0, 1, 4
"""Columns of the table: title, first of three values, unit."""
DIGITS, COPIED_DIGITS = 5, 12
"""Significant digits of the numbers shown, at most, and of those copied."""
LONGEST_NUMBER = 7
"""Characters of a number that fit into a column."""
ROUNDING = 1e-11
"""Share of the largest component (at least of 1) below which a component is shown as zero."""
ROW = 20
"""Height of a row, pixels."""
UPDATE_PAUSE = 20
"""Milliseconds after which the panel checks if it is seen."""
NOTHING = "Select a body, a frame, a joint, a force or a sensor to see its state."
AXES: dict[Axes, str] = {"world": "World axes", "own": "Own axes"}
FORMS: dict[Orientation, str] = {"matrix": "Matrix R", "angles": "Angles", "quaternion": "Quaternion"}


class StateRow(NamedTuple):
    """A row of the table: up to three values of the same dimension in SI; a heading if there are none."""

    title: str
    tip: str
    values: tuple[float, ...] = ()
    dimension: str = "none"


def state_rows(state: ElementState) -> list[StateRow]:
    """Return the rows for the selected element, in the chosen axes and form of orientation."""
    values = state.values
    if values is None:
        return []
    rows: list[StateRow] = []
    R = np.eye(3)
    pose = [] if values.pose is None else _pose_rows(np.asarray(values.pose), state.options.orientation)
    if values.pose is not None and state.options.axes == "own":
        R = np.asarray(values.pose)[:3, :3]
    group, axes = "", AXES[state.options.axes].lower()
    for each in values.quantities:
        if each.group and each.group != group:
            group = each.group
            rows += [*pose, StateRow(f"{group}, {axes}", f"{group}; vectors in {axes}")]
            pose = []
        shown = R.T @ each.values if each.is_vector else each.values
        tip = f"{each.title} {each.symbol}".strip()
        short = each.title.lower().replace("angular", "ang.")
        title = f"{each.symbol}  {short}" if each.symbol else each.title
        rows += _split_rows(title, tip, tuple(map(float, shown)), each.dimensions, each.components)
    return [*rows, *pose]


def _pose_rows(pose: np.ndarray, form: Orientation) -> list[StateRow]:
    """Return the rows of a pose (4, 4) in the world."""
    R, r = pose[:3, :3], tuple(map(float, pose[:3, 3]))
    rows = [StateRow("Pose in the world", "Position and orientation in the world")]
    rows.append(StateRow("r  position", "Position r of the origin", r, "length"))
    if form == "angles":
        words = "Angles about the fixed axes x, then y, then z"
        return [*rows, StateRow("angles x, y, z", words, fixed_axis_angles(R), "angle")]
    if form == "quaternion":
        from scipy.spatial.transform import Rotation

        x, y, z, w = map(float, Rotation.from_matrix(R).as_quat(canonical=True))
        vector = StateRow("quaternion x, y, z", "Vector part of the unit quaternion", (x, y, z))
        return [*rows, vector, StateRow("quaternion w", "Scalar part of the unit quaternion", (w,))]
    words = "Rotation matrix R: its columns are the frame's axes in the world, row {}"
    titles = ("R  orientation", "", "")
    return rows + [StateRow(title, words.format(k + 1), tuple(map(float, R[k]))) for k, title in enumerate(titles)]


def _split_rows(
    title: str, tip: str, values: tuple[float, ...], dimensions: tuple[str, ...], components: tuple[str, ...]
) -> list[StateRow]:
    """Return rows of at most three values of the same dimension."""
    rows: list[StateRow] = []
    first = 0
    while first < len(values):
        last = first
        while last < min(first + 3, len(values)) and dimensions[last] == dimensions[first]:
            last += 1
        names = ", ".join(components[first:last])
        words = f"{tip}: {names}" if names and len(values) > 1 else tip
        rows.append(StateRow("" if first else title, words, values[first:last], dimensions[first]))
        first = last
    return rows


def format_short(value: float, row: StateRow, units: Units) -> str:
    """Format a number of a row without its unit, as short as the column needs; rounding errors are shown as zero."""
    if abs(value) < ROUNDING * max(1.0, *map(abs, row.values)):
        return "0"
    for digits in range(DIGITS, 1, -1):
        text = format_number(value, measure_of(row.dimension), units, digits)
        if len(text) <= LONGEST_NUMBER:
            break
    return text


class StateTable(QTableWidget):
    """Table of the rows. Ctrl+C copies the selected ones, or all, as text with tabs and all digits."""

    def __init__(self, units: Units) -> None:
        super().__init__(0, UNIT + 1)
        self._units, self._rows = units, list[StateRow]()
        self.setAccessibleName("State of the selected element")
        for header in (self.verticalHeader(), self.horizontalHeader()):
            header.hide()
        self.verticalHeader().setMinimumSectionSize(ROW)
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setMinimumSectionSize(20)
        self.horizontalHeader().setSectionResizeMode(TITLE, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setSectionResizeMode(UNIT, QHeaderView.ResizeMode.ResizeToContents)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        PlainKeyFilter(self, typing=False)
        width = self.fontMetrics().horizontalAdvance("0" * LONGEST_NUMBER) + 7
        for column in range(FIRST, UNIT):
            self.setColumnWidth(column, width)

    def show_rows(self, rows: list[StateRow]) -> None:
        """Show the rows; the texts of cells that stay are replaced in place."""
        same = [(a.title, a.tip, a.dimension, len(a.values)) for a in self._rows] == [
            (b.title, b.tip, b.dimension, len(b.values)) for b in rows
        ]
        self._rows = rows
        if not same:
            self._lay_out()
        for at, row in enumerate(rows):
            for k, value in enumerate(row.values):
                item = self.item(at, FIRST + k)
                text = format_short(value, row, self._units)
                if item.text() != text:
                    item.setText(text)

    def _lay_out(self) -> None:
        """Create the cells of the present rows."""
        self.clearSpans()
        self.setRowCount(0)
        self.setRowCount(len(self._rows))
        muted = self.palette().placeholderText()
        for at, row in enumerate(self._rows):
            title = create_read_only_cell(row.title, row.tip)
            self.setItem(at, TITLE, title)
            if not row.values:
                title.setForeground(muted)
                self.setSpan(at, TITLE, 1, UNIT + 1)
                continue
            for k in range(len(row.values)):
                cell = create_read_only_cell("", row.tip)
                cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(at, FIRST + k, cell)
            unit = create_read_only_cell(append_unit("", measure_of(row.dimension), self._units).strip(), row.tip)
            unit.setForeground(muted)
            self.setItem(at, UNIT, unit)

    def refresh_units(self) -> None:
        """Show the rows in the present display units."""
        rows, self._rows = self._rows, []
        self.show_rows(rows)

    def copied_text(self) -> str:
        """Return the selected rows, or all, as lines of text with tabs."""
        chosen = sorted({index.row() for index in self.selectedIndexes()}) or range(len(self._rows))
        lines = []
        for at in chosen:
            row = self._rows[at]
            measure = measure_of(row.dimension)
            numbers = [format_number(value, measure, self._units, COPIED_DIGITS) for value in row.values]
            lines.append("\t".join([row.title or row.tip, *numbers, append_unit("", measure, self._units).strip()]))
        return "\n".join(line.rstrip("\t") for line in lines)

    def copy(self) -> None:
        """Copy the selected rows, or all of them."""
        QGuiApplication.clipboard().setText(self.copied_text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle copying."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)


class StatePanel(QWidget):
    """Values of the selected element, with the choice of axes and of the form of orientations."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self._session = session  # its state refers to it weakly
        self.state = element_state_of(session)
        self._is_closed = False
        self._build(settings)
        self._seen = QTimer(self, singleShot=True, interval=UPDATE_PAUSE)
        self._seen.timeout.connect(self._on_visibility_checked)
        self._life = Lifetime()
        self._life.callback(self._seen.stop)
        self._life.callback(self.state.close)
        self._life.listen(
            (self.state.changed, self._update),
            (self.state.options_changed, self._show_options),
            (session.selected, self._on_selected),
            (session.moved, self.check_visibility),
            (settings.changed, self._on_setting_changed),
        )
        self._show_options()

    def close(self) -> None:
        """Disconnect from all signals and end the computation."""
        self._is_closed = True
        self._life.close()

    def _build(self, settings: Settings) -> None:
        self.axes, self.orientation = NarrowCombo(self), NarrowCombo(self)
        self.axes.setAccessibleName("Axes of the vectors")
        self.axes.setToolTip("Axes in which velocities, accelerations and forces are given")
        for axes, title in AXES.items():
            self.axes.addItem(title, axes)
        self.orientation.setAccessibleName("Form of orientations")
        self.orientation.setToolTip("Rotation matrix, angles about the fixed axes x, y, z, or unit quaternion")
        for form, title in FORMS.items():
            self.orientation.addItem(title, form)
        for combo in (self.axes, self.orientation):
            combo.activated.connect(self._on_option_chosen)
        self.table = StateTable(settings)
        self.copy_button = create_icon_button(
            "copy", "Copy the numbers: all digits, with their units", self.table.copy, flat=True
        )
        self.title, self.moment, self.note = Label(parent=self), Label(parent=self), create_panel_note()
        self.moment.setProperty("muted", True)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        for label in (self.title, self.moment):
            label.setMinimumWidth(20)
        self._lay_out()

    def _lay_out(self) -> None:
        head, row = QHBoxLayout(), QHBoxLayout()
        head.setContentsMargins(10, 8, 10, 4)
        head.setSpacing(8)
        head.addWidget(self.title)
        head.addWidget(self.moment, 1)
        row.setContentsMargins(8, 0, 8, 4)
        for widget in (self.axes, self.orientation, self.copy_button):
            row.addWidget(widget)
        self.controls = QWidget(self)
        self.controls.setLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.controls)
        column.addWidget(self.note)
        around = QHBoxLayout()
        around.setContentsMargins(7, 0, 0, 0)
        around.addWidget(self.table)
        column.addLayout(around, 1)
        column.addStretch(0)

    # ----------------------------------------------------------------------------- showing

    def showEvent(self, event: QShowEvent) -> None:
        """Compute the values while they can be seen."""
        super().showEvent(event)
        self.check_visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop computing the values."""
        super().hideEvent(event)
        self.check_visibility()

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours after a change of theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.table.refresh_units()

    def check_visibility(self, *_: object) -> None:
        """Check soon if the values can be seen: Qt also shows panels that are behind another one's tab."""
        if not self._is_closed and not self._seen.isActive():
            self._seen.start()

    def _on_visibility_checked(self) -> None:
        self.state.show_for(self, self.isVisible() and not self.visibleRegion().isEmpty())
        self._update()

    def _update(self) -> None:
        state = self.state
        self.table.show_rows(state_rows(state))
        ref, values = state.ref, state.values
        self.controls.setVisible(ref is not None)
        self.table.setVisible(ref is not None)
        if ref is None:
            self.title.setText("")
            self.moment.setText("")
            self.note.show_text(NOTHING, "")
            return
        self.title.setText(ref.name)
        problem = state.problem or (values.problem if values is not None else "")
        self.moment.setText(state.moment or ("" if problem else "Computing …"))
        self.note.show_text(problem, "warning" if problem else "")
        has_pose = values is None or values.pose is not None
        self.axes.setEnabled(has_pose)
        self.orientation.setEnabled(has_pose)

    def _show_options(self) -> None:
        self.axes.setCurrentIndex(self.axes.findData(self.state.options.axes))
        self.orientation.setCurrentIndex(self.orientation.findData(self.state.options.orientation))
        self._update()

    # ----------------------------------------------------------------------------- hearing

    def _on_selected(self, *_: object) -> None:
        self._update()
        self.check_visibility()

    def _on_option_chosen(self, *_: object) -> None:
        axes: Axes = "own" if self.axes.currentData() == "own" else "world"
        form = next(each for each in FORMS if each == self.orientation.currentData())
        self.state.set_options(replace(self.state.options, axes=axes, orientation=form))

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.table.refresh_units()


def create_panel(bench: Workbench) -> StatePanel:
    """Create the State panel of a window."""
    return StatePanel(bench.session, bench.settings)

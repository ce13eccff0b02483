"""Results of fits and exciting motions: rows of the table of estimates, with a bar for each confidence interval, and
curves of signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from app.plain_text import as_tip
from app.widgets.label import severity_color
from core.identification.measured_trace import si_unit

if TYPE_CHECKING:
    from core.identification.excitation import Excitation
    from core.identification.identify import Identification
    from core.identification.linear_fit import Validation
    from core.identification.output_error import RunFit
    from core.mechanism import Mechanism


NAME, ESTIMATE, BAR, INTERVAL, BEFORE, REMARK = range(6)
ESTIMATE_HEADS = ("Parameter", "Estimate", "", "95 % interval", "Model", "Remark")
MARGIN = 8.0


class EstimateRow(NamedTuple):
    """One estimate, SI. before : value in the model; low, high : bounds of the interval, None where there is none;
    remark : note for the user; doubt : True if the note is a warning."""

    name: str
    before: float | None
    value: float | None
    low: float | None
    high: float | None
    remark: str = ""
    doubt: bool = False


class _Bar(QStyledItemDelegate):
    """Delegate that draws the interval as a line, the estimate as a dot and the model's value as a tick, on a separate
    scale for each row."""

    def __init__(self, table: EstimateTable) -> None:
        super().__init__(table)
        self._table = table

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        row = self._table.rows[index.row()]
        values = [x for x in (row.before, row.low, row.high, row.value) if x is not None]
        if row.value is None or not values:
            return
        view: Any = option
        box = QRectF(view.rect).adjusted(MARGIN, 0.0, -MARGIN, 0.0)
        low, high = min(values), max(values)
        size = max(high - low, 1e-9 * max(abs(low), abs(high), 1e-12))
        middle = 0.5 * (low + high)

        def across(x: float) -> float:
            return box.center().x() + box.width() * 0.9 * (x - middle) / size

        palette = self._table.palette()
        muted = palette.color(QPalette.ColorRole.PlaceholderText)
        color = severity_color("warning", palette) if row.doubt else palette.color(QPalette.ColorRole.Highlight)
        y = box.center().y()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        faint = QColor(muted)
        faint.setAlpha(90)
        painter.setPen(QPen(faint, 1.0))
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        if row.before is not None:
            painter.setPen(QPen(muted, 1.6))
            painter.drawLine(QPointF(across(row.before), y - 7.0), QPointF(across(row.before), y + 7.0))
        if row.low is not None and row.high is not None:
            painter.setPen(QPen(color, 4.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawLine(QPointF(across(row.low), y), QPointF(max(across(row.high), across(row.low) + 1.0), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(across(row.value), y), 4.0, 4.0)
        painter.restore()


class EstimateTable(QTableWidget):
    """Read-only table of estimates."""

    def __init__(self) -> None:
        super().__init__(0, len(ESTIMATE_HEADS))
        self.rows: tuple[EstimateRow, ...] = ()
        self.setAccessibleName("Estimates")
        self.setHorizontalHeaderLabels(list(ESTIMATE_HEADS))
        self.horizontalHeaderItem(BAR).setToolTip(
            as_tip("Line: interval; dot: estimate; tick: value in the model; each row has its own scale")
        )
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(44)
        for column, width in ((NAME, 130), (ESTIMATE, 72), (BAR, 100), (INTERVAL, 140), (BEFORE, 72)):
            self.setColumnWidth(column, width)
        header.setStretchLastSection(True)
        self.setItemDelegateForColumn(BAR, _Bar(self))

    def show_rows(self, rows: Sequence[EstimateRow], first: str = "Parameter") -> None:
        """Show these rows; `first` is the title of the column of names."""
        self.rows = tuple(rows)
        self.horizontalHeaderItem(NAME).setText(first)
        self.setRowCount(len(rows))
        for at, row in enumerate(rows):
            interval = "" if row.low is None or row.high is None else f"{row.low:.5g} … {row.high:.5g}"
            texts = {NAME: row.name, BEFORE: _number(row.before), ESTIMATE: _number(row.value) or "—",
                     INTERVAL: interval, BAR: "", REMARK: row.remark}  # fmt: skip
            for column, text in texts.items():
                item = QTableWidgetItem(text)
                item.setToolTip(as_tip(text))
                if column in (BEFORE, ESTIMATE, INTERVAL):
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                if column == REMARK and row.doubt:
                    item.setForeground(severity_color("warning", self.palette()))
                self.setItem(at, column, item)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


Array = NDArray[np.float64]


class SignalSheet(NamedTuple):
    """Curves of one signal: (name, y) over time (n,), residual (n,) or None, the time from which rows were held out for
    validation, and a caption."""

    title: str
    unit: str
    time: Array
    curves: tuple[tuple[str, Array], ...]
    residual: Array | None = None
    held_from: float | None = None
    words: str = ""


IMPOSSIBLE_FRACTION = 1e-6
"""Relative difference, beyond the standard deviation, by which an estimate may differ from physically consistent bodies
without a remark."""


def force_rows(found: Identification) -> list[EstimateRow]:
    """Return rows for the base parameters, then for the parameters that the data do not identify."""
    weak, rows = set(found.weak), []
    columns = (found.base.values, found.estimate, found.intervals, found.attained, found.fit.deviations)
    for name, before, value, (low, high), attained, sigma in zip(found.names, *columns, strict=True):
        remark = ""
        if name in weak:
            remark = "weak: interval contains zero"
        if abs(attained - value) > 2.0 * sigma + IMPOSSIBLE_FRACTION * abs(value):
            remark = f"physically consistent: {attained:.5g}"
        rows.append(EstimateRow(name, float(before), float(value), float(low), float(high), remark, bool(remark)))
    rows += [
        EstimateRow(name, None, None, None, None, "not identifiable from these data", True) for name in found.unseen
    ]
    return rows


def force_sheets(found: Identification) -> list[SignalSheet]:
    """Return curves of measured and fitted forces."""
    doubtful = {found.forces[k] for k in found.fit.correlated}
    sheets = []
    for k, name in enumerate(found.forces):
        words = f"noise {found.fit.sigma[k]:.3g} {si_unit(found.mech, f'{name}.tau')}"
        words += _validation_words(found.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        unit = f"{name}.tau, {si_unit(found.mech, f'{name}.tau')}"
        sheets.append(_signal_sheet(f"{name}.tau", unit, found.time, found.measured[:, k], found.predicted[:, k],
                             found.validation, k, words))  # fmt: skip
    return sheets


def run_rows(found: RunFit) -> list[EstimateRow]:
    """Return rows for parameters and initial values."""
    values, weak, rows = found.mech.model.values(), set(found.weak), []
    for name, value, (low, high) in zip(found.names, found.estimate, found.intervals, strict=True):
        remark = "at a bound" if name in found.at_bounds else "weak: interval contains zero" if name in weak else ""
        before = values.get(name) if name in found.parameters else None
        rows.append(EstimateRow(name, before, float(value), float(low), float(high), remark, name in found.at_bounds))
    return rows


def run_sheets(found: RunFit) -> list[SignalSheet]:
    """Return curves of measured and fitted channels."""
    doubtful, sheets = set(found.doubtful), []
    for k, name in enumerate(found.outputs):
        unit = si_unit(found.mech, name)
        words = f"residual {' '.join(filter(None, (f'{found.rms[k]:.3g}', unit)))} (rms)"
        words += _validation_words(found.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        sheets.append(_signal_sheet(name, f"{name}, {unit}" if unit else name, found.time, found.measured[:, k],
                             found.predicted[:, k], found.validation, k, words))  # fmt: skip
    return sheets


def _validation_words(validation: Validation | None, k: int) -> str:
    return "" if validation is None else f"; on rows held back {100.0 * validation.relative[k]:.3g} % deviation (rms)"


def _signal_sheet(
    title: str, unit: str, time: Array, measured: Array, predicted: Array, validation: Validation | None, k: int,
    words: str,
) -> SignalSheet:  # fmt: skip
    held = None
    if validation is not None and len(validation.time):
        held = float(validation.time[0])
        time = np.concatenate([time, validation.time])
        measured = np.concatenate([measured, validation.measured[:, k]])
        predicted = np.concatenate([predicted, validation.predicted[:, k]])
    curves = (("measured", measured), ("computed", predicted))
    return SignalSheet(title, unit, time, curves, measured - predicted, held, words)


def excitation_rows(found: Excitation) -> list[tuple[str, ...]]:
    """Return a row for each joint with the extreme values of its motion, SI."""
    rows = []
    for k, name in enumerate(found.mech.v_names):
        numbers = [np.min(found.q[:, k]), np.max(found.q[:, k])]
        numbers += [np.max(np.abs(each[:, k])) for each in (found.v, found.a, found.tau)]
        shown = [
            f"{x:.4g} {_unit(found.mech, name, q)}" for x, q in zip(numbers, ("q", "q", "v", "a", "tau"), strict=True)
        ]
        rows.append((name, *shown))
    return rows


def _unit(mech: Mechanism, name: str, quantity: str) -> str:
    return si_unit(mech, f"{name}.{quantity}")


def excitation_sheets(found: Excitation) -> list[SignalSheet]:
    """Return curves of positions, speeds and forces of all joints."""
    titles = (("Positions", "q, rad or m", found.q), ("Speeds", "v, rad/s or m/s", found.v),
              ("Accelerations", "a, rad/s² or m/s²", found.a), ("Forces", "N·m or N", found.tau))  # fmt: skip
    return [
        SignalSheet(title, unit, found.time, tuple((name, values[:, k]) for k, name in enumerate(found.mech.v_names)))
        for title, unit, values in titles
    ]

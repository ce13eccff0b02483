"""Results of identification as shown: rows of the table of estimates, each with a bar for its confidence interval, and
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

from app.plain_text import escape_tip
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
    """One estimate, SI. before : value in the model; low, high : bounds of the confidence interval, None if there is
    none; remark : note for the user; doubt : True if the note is a warning."""

    name: str
    before: float | None
    value: float | None
    low: float | None
    high: float | None
    remark: str = ""
    doubt: bool = False


class _IntervalBarDelegate(QStyledItemDelegate):
    """Delegate that draws the interval as a line, the estimate as a dot and the model's value as a tick; each row has
    its own scale."""

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

        def to_pixel(x: float) -> float:
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
            painter.drawLine(QPointF(to_pixel(row.before), y - 7.0), QPointF(to_pixel(row.before), y + 7.0))
        if row.low is not None and row.high is not None:
            painter.setPen(QPen(color, 4.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawLine(
                QPointF(to_pixel(row.low), y), QPointF(max(to_pixel(row.high), to_pixel(row.low) + 1.0), y)
            )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(to_pixel(row.value), y), 4.0, 4.0)
        painter.restore()


class EstimateTable(QTableWidget):
    """Read-only table of estimates."""

    def __init__(self) -> None:
        super().__init__(0, len(ESTIMATE_HEADS))
        self.rows: tuple[EstimateRow, ...] = ()
        self.setAccessibleName("Estimates")
        self.setHorizontalHeaderLabels(list(ESTIMATE_HEADS))
        self.horizontalHeaderItem(BAR).setToolTip(
            escape_tip("Line: interval; dot: estimate; tick: value in the model; each row has its own scale")
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
        self.setItemDelegateForColumn(BAR, _IntervalBarDelegate(self))

    def show_rows(self, rows: Sequence[EstimateRow], name_title: str = "Parameter") -> None:
        """Show these rows; `name_title` is the title of the column of names."""
        self.rows = tuple(rows)
        self.horizontalHeaderItem(NAME).setText(name_title)
        self.setRowCount(len(rows))
        for at, row in enumerate(rows):
            interval = "" if row.low is None or row.high is None else f"{row.low:.5g} … {row.high:.5g}"
            texts = {NAME: row.name, BEFORE: _format_number(row.before), ESTIMATE: _format_number(row.value) or "—",
                     INTERVAL: interval, BAR: "", REMARK: row.remark}  # fmt: skip
            for column, text in texts.items():
                item = QTableWidgetItem(text)
                item.setToolTip(escape_tip(text))
                if column in (BEFORE, ESTIMATE, INTERVAL):
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                if column == REMARK and row.doubt:
                    item.setForeground(severity_color("warning", self.palette()))
                self.setItem(at, column, item)


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


Array = NDArray[np.float64]


class SignalSheet(NamedTuple):
    """Curves of one signal: (name, y) versus time (n,), residual (n,) or None, the time from which rows are used for
    validation only, and a caption."""

    title: str
    unit: str
    time: Array
    curves: tuple[tuple[str, Array], ...]
    residual: Array | None = None
    held_from: float | None = None
    words: str = ""


IMPOSSIBLE_FRACTION = 1e-6
"""Relative difference, in addition to the standard deviation, up to which an estimate may differ from the nearest
physically consistent value without a remark."""


def force_rows(result: Identification) -> list[EstimateRow]:
    """Return rows for the base parameters, then for the parameters that the data do not identify."""
    weak, rows = set(result.weak), []
    columns = (result.base.values, result.estimate, result.intervals, result.attained, result.fit.deviations)
    for name, before, value, (low, high), attained, sigma in zip(result.names, *columns, strict=True):
        remark = ""
        if name in weak:
            remark = "weak: interval contains zero"
        if abs(attained - value) > 2.0 * sigma + IMPOSSIBLE_FRACTION * abs(value):
            remark = f"physically consistent: {attained:.5g}"
        rows.append(EstimateRow(name, float(before), float(value), float(low), float(high), remark, bool(remark)))
    rows += [
        EstimateRow(name, None, None, None, None, "not identifiable from these data", True) for name in result.unseen
    ]
    return rows


def force_sheets(result: Identification) -> list[SignalSheet]:
    """Return curves of measured and predicted forces."""
    doubtful = {result.forces[k] for k in result.fit.correlated_forces}
    sheets = []
    for k, name in enumerate(result.forces):
        words = f"noise {result.fit.sigma[k]:.3g} {si_unit(result.mech, f'{name}.tau')}"
        words += _validation_text(result.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        unit = f"{name}.tau, {si_unit(result.mech, f'{name}.tau')}"
        sheets.append(_signal_sheet(f"{name}.tau", unit, result.time, result.measured[:, k], result.predicted[:, k],
                             result.validation, k, words))  # fmt: skip
    return sheets


def run_rows(result: RunFit) -> list[EstimateRow]:
    """Return rows for parameters and initial values."""
    values, weak, rows = result.mech.model.values(), set(result.weak), []
    for name, value, (low, high) in zip(result.names, result.estimate, result.intervals, strict=True):
        remark = "at a bound" if name in result.at_bounds else "weak: interval contains zero" if name in weak else ""
        before = values.get(name) if name in result.parameters else None
        rows.append(EstimateRow(name, before, float(value), float(low), float(high), remark, name in result.at_bounds))
    return rows


def run_sheets(result: RunFit) -> list[SignalSheet]:
    """Return curves of measured and fitted channels."""
    doubtful, sheets = set(result.doubtful), []
    for k, name in enumerate(result.outputs):
        unit = si_unit(result.mech, name)
        words = f"residual {' '.join(filter(None, (f'{result.rms[k]:.3g}', unit)))} (rms)"
        words += _validation_text(result.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        sheets.append(_signal_sheet(name, f"{name}, {unit}" if unit else name, result.time, result.measured[:, k],
                             result.predicted[:, k], result.validation, k, words))  # fmt: skip
    return sheets


def _validation_text(validation: Validation | None, column: int) -> str:
    return (
        "" if validation is None else f"; on rows held back {100.0 * validation.relative[column]:.3g} % deviation (rms)"
    )


def _signal_sheet(
    title: str, unit: str, time: Array, measured: Array, predicted: Array, validation: Validation | None, column: int,
    caption: str,
) -> SignalSheet:  # fmt: skip
    held = None
    if validation is not None and len(validation.time):
        held = float(validation.time[0])
        time = np.concatenate([time, validation.time])
        measured = np.concatenate([measured, validation.measured[:, column]])
        predicted = np.concatenate([predicted, validation.predicted[:, column]])
    curves = (("measured", measured), ("computed", predicted))
    return SignalSheet(title, unit, time, curves, measured - predicted, held, caption)


def excitation_rows(result: Excitation) -> list[tuple[str, ...]]:
    """Return a row per joint with the extreme values of its motion, SI."""
    rows = []
    for k, name in enumerate(result.mech.v_names):
        numbers = [np.min(result.q[:, k]), np.max(result.q[:, k])]
        numbers += [np.max(np.abs(each[:, k])) for each in (result.v, result.a, result.tau)]
        shown = [
            f"{x:.4g} {_signal_unit(result.mech, name, q)}"
            for x, q in zip(numbers, ("q", "q", "v", "a", "tau"), strict=True)
        ]
        rows.append((name, *shown))
    return rows


def _signal_unit(mech: Mechanism, name: str, quantity: str) -> str:
    return si_unit(mech, f"{name}.{quantity}")


def excitation_sheets(result: Excitation) -> list[SignalSheet]:
    """Return curves of positions, speeds and forces of all joints."""
    titles = (("Positions", "q, rad or m", result.q), ("Speeds", "v, rad/s or m/s", result.v),
              ("Accelerations", "a, rad/s² or m/s²", result.a), ("Forces", "N·m or N", result.tau))  # fmt: skip
    return [
        SignalSheet(title, unit, result.time, tuple((name, values[:, k]) for k, name in enumerate(result.mech.v_names)))
        for title, unit, values in titles
    ]

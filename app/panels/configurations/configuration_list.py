"""The list of configurations: a picture and the name, every joint's value between its limits as a bar, the largest
motion of a joint to get there, what is beyond limits (red) and what is singular."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette, QPen
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.document.arm_configurations import ArmConfigurations
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import SEVERITY_MARKS, severity_color
from core.mechanics.multibody.coordinates import Coordinate
from core.mechanism.inverse_kinematics_results import Solution

Array = NDArray[np.float64]

ROW = Qt.ItemDataRole.UserRole
HEIGHT, PICTURE = 42, 36
"""Heights of a row and of its picture, pixels."""
MARGIN = 6.0
PRESENT = "●"
SOFT = 60
"""Opacity (of 255) of the selected row's background, on which red must be legible."""
SMALL = 0.85
"""Size of the numbers relative to the panel's font."""


class JointBar(NamedTuple):
    """Value of a joint, as a number and as text, between its limits (rad, m; infinite for none)."""

    joint: str
    value: float
    text: str
    lower: float
    upper: float
    is_beyond: bool

    @property
    def share(self) -> float | None:
        """Place of the value between the limits, 0 … 1; None if the joint has not both."""
        width = self.upper - self.lower
        if not math.isfinite(width) or width <= 0.0:
            return None
        return min(max((self.value - self.lower) / width, 0.0), 1.0)


class ConfigurationRow(NamedTuple):
    """Content of a row. note : what is beyond limits or singular; points : (n, 2) the arm as a line of joints."""

    name: str
    is_present: bool
    distance: str
    note: str
    bars: tuple[JointBar, ...]
    points: Array

    @property
    def is_beyond(self) -> bool:
        """True if a joint is beyond its limits."""
        return any(bar.is_beyond for bar in self.bars)


class ConfigurationList(QListWidget):
    """A row for each configuration. Pointing at a row emphasises the configuration in the scene, a click chooses it, a
    double click or Enter emits `taken` with its index."""

    taken = Signal(int)

    def __init__(self, configurations: ArmConfigurations, settings: Settings) -> None:
        super().__init__()
        self._listed, self._settings = configurations, settings
        self.setAccessibleName("Configurations")
        self.setFrameShape(QListWidget.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(HEIGHT)
        self.setItemDelegate(_RowDelegate(self))
        self.viewport().installEventFilter(self)
        self._quiet = False
        self.itemEntered.connect(lambda item: self._listed.point_at(self.row(item)))
        self.itemActivated.connect(lambda item: self.taken.emit(self.row(item)))
        self.currentRowChanged.connect(self._on_row_chosen)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stop emphasising when the pointer leaves the rows."""
        if event.type() == QEvent.Type.Leave:
            self._listed.point_at(None)
        return super().eventFilter(watched, event)

    def _on_row_chosen(self, row: int) -> None:
        if not self._quiet:
            self._listed.choose(row if row >= 0 else None)

    # ----------------------------------------------------------------------------- showing

    def show_list(self, axes: Array) -> None:
        """Show the list as it is now. axes : (3, 3) right, up and towards the viewer, as columns, for the pictures"""
        rows = self.build_rows(axes)
        self._quiet = True
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        while self.count() < len(rows):
            self.addItem(QListWidgetItem())
        for k, row in enumerate(rows):
            item = self.item(k)
            item.setData(ROW, row)
            item.setText(_describe(row))
            item.setToolTip(escape_tip(_describe(row)))
        self._quiet = False
        self.show_chosen()

    def show_chosen(self) -> None:
        """Select the row of the chosen configuration."""
        self._quiet = True
        chosen = self._listed.chosen
        self.setCurrentRow(-1 if chosen is None else chosen)
        if chosen is None:
            self.clearSelection()
        self._quiet = False

    def rows(self) -> list[ConfigurationRow]:
        """Return the content of the rows shown."""
        return [self.item(k).data(ROW) for k in range(self.count())]

    def build_rows(self, axes: Array) -> list[ConfigurationRow]:
        """Return the content of a row for each configuration."""
        listed, present = self._listed, self._listed.present
        joints = listed.found.joints if listed.found is not None else ()
        coordinates = [c for c in listed.session.mech.coordinates if c.joint in joints]
        return [
            ConfigurationRow(
                name=listed.name_of(k),
                is_present=k == present,
                distance="" if k == present else self._distance_text(each),
                note=self._note(each),
                bars=tuple(self._bar(each, c) for c in coordinates),
                points=self._arm_points(each, axes),
            )
            for k, each in enumerate(listed.solutions)
        ]

    def _bar(self, each: Solution, c: Coordinate) -> JointBar:
        value = float(each.q[c.index])
        unit = self._settings.display(c.dimension)
        text = _short_number(value / unit.factor)
        lower, upper = (-math.inf if c.lower is None else c.lower), (math.inf if c.upper is None else c.upper)
        beyond = any(violation.joint == c.joint for violation in each.violations)
        text += unit.symbol if unit.symbol == "°" else ""
        return JointBar(c.joint, value, text, lower, upper, beyond)

    def _note(self, each: Solution) -> str:
        """Joints beyond their limits, with the distances, and the singular part."""
        dimensions = {c.joint: c.dimension for c in self._listed.session.mech.coordinates}
        parts = [
            f"{v.joint} beyond by {self._settings.format_value(v.by, dimensions[v.joint])}" for v in each.violations
        ]
        if parts:
            parts[0] = f"{SEVERITY_MARKS['error']} {parts[0]}"
        if each.singularity:
            parts.append(f"{each.singularity} singular")
        return ", ".join(parts)

    def _distance_text(self, each: Solution) -> str:
        """The largest motion of a joint from the present position to a configuration."""
        session = self._listed.session
        away, coordinates = np.abs(each.q - session.q), session.mech.coordinates
        parts = []
        for dimension in ("angle", "length"):
            most = max((float(away[c.index]) for c in coordinates if c.dimension == dimension), default=0.0)
            if most > 1e-9:
                unit = self._settings.display(dimension)
                parts.append(f"{_short_number(most / unit.factor)}{'' if unit.symbol == '°' else ' '}{unit.symbol}")
        return ", ".join(parts)

    def _arm_points(self, each: Solution, axes: Array) -> Array:
        """(n, 2) places of the joints and the frame in the picture, within ±0.5."""
        listed, session = self._listed, self._listed.session
        joints = listed.found.joints if listed.found is not None else ()
        poses = session.mech.joint_poses(each.q, p=session.p, t=session.t)
        places = [np.zeros(3), *(np.asarray(poses[joint][0])[:3, 3] for joint in joints if joint in poses)]
        places.append(np.asarray(session.mech.frame(each.q, listed.frame, p=session.p, t=session.t))[:3, 3])
        flat = np.array(places) @ axes[:, :2]
        low, high = flat.min(axis=0), flat.max(axis=0)
        return np.asarray((flat - (low + high) / 2.0) / (float((high - low).max()) or 1.0))


def _short_number(shown: float) -> str:
    """Return a number with about three digits and without an exponent."""
    digits = max(0, 2 - math.floor(math.log10(max(abs(shown), 0.1))))
    text = f"{shown:.{min(digits, 3)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def _describe(row: ConfigurationRow) -> str:
    """A row in words, for the tool tip and screen readers."""
    lines = [f"{row.name}{', the present one' if row.is_present else ''}"]
    if row.note:
        lines.append(row.note)
    if row.distance:
        lines.append(f"largest motion of a joint {row.distance}")
    lines.append(", ".join(f"{bar.joint} {bar.text}" for bar in row.bars))
    if not row.is_present:
        lines.append("Double click takes it")
    return "\n".join(lines)


class _RowDelegate(QStyledItemDelegate):
    """Paints a row: picture, name and distance, and below them the joints' values with bars."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW)
        self.initStyleOption(option, index)
        option.text = ""
        palette = QPalette(option.palette)
        soft = palette.color(QPalette.ColorRole.Highlight)
        soft.setAlpha(SOFT)
        option.palette.setColor(QPalette.ColorRole.Highlight, soft)
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        if not isinstance(row, ConfigurationRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(option.rect).adjusted(MARGIN, 2.0, -MARGIN, -2.0)
        if not option.state & QStyle.StateFlag.State_Enabled:
            palette.setCurrentColorGroup(QPalette.ColorGroup.Disabled)
        _paint_arm(painter, QRectF(rect.left(), rect.top(), PICTURE, PICTURE), row, palette)
        rect.setLeft(rect.left() + PICTURE + MARGIN)
        _paint_words(painter, rect, row, palette, option.font)
        _paint_bars(painter, rect, row, palette, option.font)
        painter.restore()


def _paint_arm(painter: QPainter, rect: QRectF, row: ConfigurationRow, palette: QPalette) -> None:
    center, size = rect.center(), 0.82 * rect.height()
    points = [QPointF(center.x() + size * x, center.y() - size * y) for x, y in row.points.tolist()]
    color = severity_color("error", palette) if row.is_beyond else palette.color(QPalette.ColorRole.Text)
    painter.setPen(QPen(color, 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.drawPolyline(points)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
    painter.drawEllipse(points[-1], 3.0, 3.0)


def _paint_words(painter: QPainter, rect: QRectF, row: ConfigurationRow, palette: QPalette, font: QFont) -> None:
    """Name, note and distance in one line."""
    bold = QFont(font)
    bold.setBold(row.is_present)
    line = QRectF(rect.left(), rect.top(), rect.width(), QFontMetrics(bold).height())
    name = f"{PRESENT} {row.name}" if row.is_present else row.name
    painter.setFont(bold)
    painter.setPen(palette.color(QPalette.ColorRole.Text))
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
    line.setLeft(line.left() + QFontMetrics(bold).horizontalAdvance(name) + 10)
    small = _small(font)
    metrics = QFontMetrics(small)
    painter.setFont(small)
    painter.setPen(palette.color(QPalette.ColorRole.Text))
    painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.distance)
    line.setRight(line.right() - metrics.horizontalAdvance(row.distance) - 8)
    painter.setPen(severity_color("error" if row.is_beyond else "warning", palette))
    words = metrics.elidedText(row.note, Qt.TextElideMode.ElideRight, max(int(line.width()), 0))
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)


def _paint_bars(painter: QPainter, rect: QRectF, row: ConfigurationRow, palette: QPalette, font: QFont) -> None:
    """The joints' values, each above its bar, which is red beyond the limits."""
    small = _small(font)
    painter.setFont(small)
    width = rect.width() / max(len(row.bars), 1)
    top, height = rect.top() + QFontMetrics(font).height() + 1.0, QFontMetrics(small).height()
    red, mark = severity_color("error", palette), palette.color(QPalette.ColorRole.Highlight)
    rail = QColor(palette.color(QPalette.ColorRole.Text))
    rail.setAlpha(70)
    for k, bar in enumerate(row.bars):
        cell = QRectF(rect.left() + k * width, top, width - 5.0, height)
        painter.setPen(red if bar.is_beyond else palette.color(QPalette.ColorRole.Text))
        painter.drawText(cell, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, bar.text)
        if bar.share is None:
            continue
        y, x = cell.bottom() + 3.0, cell.left() + bar.share * cell.width()
        painter.setPen(QPen(red if bar.is_beyond else rail, 2.0))
        painter.drawLine(QPointF(cell.left(), y), QPointF(cell.right(), y))
        painter.setPen(QPen(red if bar.is_beyond else mark, 3.0))
        painter.drawLine(QPointF(x, y - 3.0), QPointF(x, y + 3.0))


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(SMALL * font.pointSizeF())
    return small

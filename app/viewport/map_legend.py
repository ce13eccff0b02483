"""Legend of a map: its title, colour bar with the values at its ends and the unit, and its size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QToolButton, QWidget

from app.background.lifetime import Lifetime
from app.preferences.icons import icon
from app.viewport.map_layer import MapLayer, is_change, is_plain, scale_of
from app.widgets.label import Label
from app.widgets.note import Note
from core.functions.text import number
from viz.look import LookName, colours

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.studies.workspace.workspace_map import WorkspaceMap

MARGIN = 12
BAR = QSize(220, 10)
STOPS = 24


class _ColorBar(QWidget):
    """The colour bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(BAR.height())
        self.setMinimumWidth(BAR.width())
        self.stops: list[QColor] = []

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shade = QLinearGradient(0.0, 0.0, float(self.width()), 0.0)
        for k, color in enumerate(self.stops):
            shade.setColorAt(k / max(len(self.stops) - 1, 1), color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shade)
        painter.drawRoundedRect(self.rect(), 3.0, 3.0)
        painter.end()


class MapLegend(QFrame):
    """Legend at the lower edge of the viewport while a map is shown."""

    def __init__(self, view: Stage, layer: MapLayer) -> None:
        super().__init__(view.widget)
        self.setObjectName("overlay")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._view, self._layer = view, layer
        self.title, self.size_label, self.low, self.middle, self.high = (Label() for _ in range(5))
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.size_label.setProperty("muted", True)
        self.bar = _ColorBar()
        self.note = Note()
        self.update_button = QPushButton("Update", toolTip="Compute the same map for the present machine")
        self.update_button.clicked.connect(self._request_again)
        self._hide = QToolButton(icon=icon("close"), autoRaise=True, toolTip="Hide this map")
        self._hide.setIconSize(QSize(12, 12))
        self._hide.clicked.connect(lambda: view.session.mapped.emit(None))
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 5, 6, 7)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.title, 0, 0, 1, 2)
        grid.addWidget(self._hide, 0, 2, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.bar, 1, 0, 1, 3)
        for column, label in enumerate((self.low, self.middle, self.high)):
            side = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)[column]
            grid.addWidget(label, 2, column, side)
        grid.addWidget(self.size_label, 3, 0, 1, 3)
        grid.addWidget(self.note, 4, 0, 1, 2)
        grid.addWidget(self.update_button, 4, 2, Qt.AlignmentFlag.AlignRight)
        self._life = Lifetime()
        view.widget.installEventFilter(self)
        self._life.callback(lambda: view.widget.removeEventFilter(self))
        self._life.listen((layer.changed, self.refresh))
        self.hide()

    def close(self) -> None:
        """Disconnect from the map layer."""
        self._life.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the legend when the viewport is resized."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.place()
        return False

    def refresh(self) -> None:
        """Show the legend of the present map."""
        shown = self._layer.shown
        self.setVisible(shown is not None)
        if shown is None:
            return
        found = shown.result.map
        plain = is_plain(found)
        self.title.setText(shown.result.title)
        self.size_label.setText(" · ".join(filter(None, (shown.result.size, _state_text(found)))))
        self.size_label.setVisible(bool(self.size_label.text()))
        old = self._layer.old
        self.note.say(f"Outdated: {old}." if old and not found.growing else "", "hint")
        self.update_button.setVisible(bool(self.note.words))
        for part in (self.bar, self.low, self.middle, self.high):
            part.setVisible(not plain)
        if not plain:
            self._write_scale()
        self.place()

    def _request_again(self) -> None:
        """Request the same map for the present machine."""
        if self._layer.shown is not None:
            self._layer.shown.renew({})

    def _write_scale(self) -> None:
        """Show the colours, and the values at the ends and in the middle."""
        assert self._layer.shown is not None
        found = self._layer.shown.result.map
        parted = is_change(found)
        low, high = scale_of(found)
        if parted:
            high = max(abs(low), abs(high))
            low = -high
        look: LookName = "dark" if self._view.theme.name == "dark" else "light"
        table = colours(np.linspace(low, high, STOPS), low, high, look, parted)
        self.bar.stops = [QColor.fromRgbF(*map(float, each)) for each in table]
        self.bar.update()
        beyond = math.isfinite(found.range[1]) and found.range[1] > high * (1.0 + 1e-9)
        unit = f" {found.unit}" if found.unit else ""
        self.low.setText(number(low, 3))
        self.middle.setText(number(0.5 * (low + high), 3))
        self.high.setText(f"{'≥ ' if beyond else ''}{number(high, 3)}{unit}")

    def place(self) -> None:
        """Place the legend at the middle of the lower edge."""
        self.layout().activate()
        self.adjustSize()
        host = self._view.widget
        self.move(max((host.width() - self.width()) // 2, MARGIN), max(host.height() - self.height() - MARGIN, MARGIN))
        self.raise_()


def _state_text(found: WorkspaceMap) -> str:
    """Return the state of a map that is incomplete."""
    if found.complete:
        return ""
    return "getting finer …" if found.growing else "stopped"

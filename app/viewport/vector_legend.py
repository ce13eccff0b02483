"""Legend of the arrows in the scene: one line per kind with its scale and a slider for its length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSlider, QToolButton, QWidget

from app.background.lifetime import Lifetime
from app.plain_text import as_tip
from app.plotting.curves import shown_number
from app.preferences.icons import icon
from app.viewport.run_scene import FACTORS, RunScene
from app.widgets.label import Label
from viz.look import LOOKS
from viz.scene.vectors import KINDS, reference

if TYPE_CHECKING:
    from app.viewport.stage import Stage

MARGIN = 12
STEPS = 200


class _ArrowIcon(QWidget):
    """An arrow in the colour of a kind; with two heads for rotational quantities."""

    def __init__(self, color: QColor, turning: bool) -> None:
        super().__init__()
        self._color, self._turning = color, turning
        self.setFixedSize(QSize(26, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._color, 2.0))
        painter.drawLine(QPointF(1, 7), QPointF(18, 7))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._color)
        for tip in (25.0, 18.0) if self._turning else (25.0,):
            painter.drawPolygon(QPolygonF([QPointF(tip, 7), QPointF(tip - 9, 3), QPointF(tip - 9, 11)]))
        painter.end()


class VectorLegend(QFrame):
    """Legend in the upper left corner of the viewport while vectors are shown."""

    def __init__(self, view: Stage, scene: RunScene) -> None:
        super().__init__(view.widget)
        self.setObjectName("overlay")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._view, self._scene = view, scene
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(8, 5, 5, 5)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(1)
        self._parts: list[QWidget] = []
        self._words: dict[str, QLabel] = {}
        self.sliders: dict[str, QSlider] = {}
        self._life = Lifetime()
        self._life.listen(
            (scene.changed, self.refresh),
            (view.theme.changed, self._repaint),
            (view.session.runs.changed, self.refresh),
        )
        self.hide()

    def close(self) -> None:
        """Disconnect from the scene."""
        self._life.close()

    def _repaint(self, _name: str) -> None:
        self._words.clear()
        self.refresh()

    def refresh(self) -> None:
        """Update the legend to the kinds shown and their scales."""
        kinds = self._scene.kinds
        if tuple(self._words) != kinds:
            self._fill(kinds)
        for kind in kinds:
            self._words[kind].setText(self._meaning_text(kind))
        self.setVisible(bool(kinds))
        for part in self._parts:
            part.show()
        self._grid.activate()
        self.adjustSize()
        self.move(MARGIN, MARGIN)

    def _meaning_text(self, kind: str) -> str:
        value, length = reference(self._scene.scale.get(kind, 0.0), self._scene.size)
        if value <= 0.0:
            return "zero everywhere"
        settings = self._view.settings
        return f"{shown_number(value)}\u202f{KINDS[kind].unit} ≙ {settings.shown(length, 'length')}"

    def _fill(self, kinds: tuple[str, ...]) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts, self._words, self.sliders = [], {}, {}
        look = LOOKS["dark" if self._view.theme.name == "dark" else "light"]
        for row, kind in enumerate(kinds):
            facts = KINDS[kind]
            arrow = _ArrowIcon(QColor.fromRgbF(*look.colour(facts.colour)), facts.turning)
            title, self._words[kind] = Label(facts.title), Label()
            self._words[kind].setProperty("muted", True)
            close = QToolButton(icon=icon("close"), autoRaise=True, toolTip=as_tip(f"Hide: {facts.title}"))
            close.setIconSize(QSize(12, 12))
            close.clicked.connect(lambda _=False, kind=kind: self._scene.hide(kind))
            for column, part in enumerate((arrow, title, self._words[kind], self._length_slider(kind), close)):
                self._grid.addWidget(part, row, column)
                self._parts.append(part)

    def _length_slider(self, kind: str) -> QSlider:
        """Return a slider for the length of arrows, from a tenth to ten times."""
        low, high = (math.log(factor) for factor in FACTORS)
        slider = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=STEPS)
        slider.setFixedWidth(80)
        slider.setToolTip("Length of these arrows")
        slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        slider.setValue(round(STEPS * (math.log(self._scene.factor(kind)) - low) / (high - low)))
        slider.valueChanged.connect(
            lambda value: self._scene.lengthen(kind, math.exp(low + value / STEPS * (high - low)))
        )
        self.sliders[kind] = slider
        return slider

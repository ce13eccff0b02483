"""Picture of a study's results: its kind and quantities are chosen above it, a click selects a row, a double click
opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.panels.studies.drawings import NO_POINTS, PICTURES, Points, Shown
from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.picture_frame import Ink
from core.errors import KinetostatError

if TYPE_CHECKING:
    from core.studies.study_result import StudyResult

REACH = 9.0
"""Distance within which a click selects a row, pixels; in maps every click does."""
EMPTY = "The results of the study are drawn here while it is running."


class Canvas(QWidget):
    """Drawing area of the picture."""

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Picture of the study")
        self.setMinimumSize(100, 80)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.kind = "scatter"
        self.shown: Shown | None = None
        self.points: Points = NO_POINTS

    def show_picture(self, kind: str, shown: Shown | None) -> None:
        """Show a picture; None: there are no results."""
        self.kind, self.shown = kind, shown
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, or the reason why there is none."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = Ink.of(self.palette())
        painter.fillRect(self.rect(), ink.base)
        self.points = NO_POINTS
        said = EMPTY
        if self.shown is not None:
            said = "" if self.shown.result.good.any() else "No row has succeeded yet."
            if not said:
                try:
                    self.points = PICTURES[self.kind].draw(painter, QRectF(self.rect()), self.shown, ink)
                except KinetostatError as error:
                    said = str(error)
        if said:
            painter.setPen(ink.muted)
            words = QRectF(self.rect()).adjusted(12, 0, -12, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, said)

    def row_at(self, point: QPointF) -> int:
        """Return the row at a point; −1 for none."""
        if not len(self.points.rows):
            return -1
        away = np.hypot(*(self.points.pixels - [point.x(), point.y()]).T)
        nearest = int(np.nanargmin(away))
        return int(self.points.rows[nearest]) if self.kind == "map" or away[nearest] <= REACH else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a row."""
        if (row := self.row_at(event.position())) >= 0:
            self.chosen.emit(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the row under the pointer."""
        if (row := self.row_at(event.position())) >= 0:
            self.opened.emit(row)


class PictureView(QWidget):
    """Fields for kind and quantities, and the drawing."""

    def __init__(self) -> None:
        super().__init__()
        self.canvas = Canvas()
        self._result: StudyResult | None = None
        self._row = -1
        self.kind, self.of, self.x, self.y = (Combo() for _ in range(4))
        for name, picture in PICTURES.items():
            self.kind.addItem(picture.title, name)
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 0, 4, 4)
        for combo, words in (
            (self.kind, "Kind of picture"),
            (self.of, "Quantity shown"),
            (self.x, "Along x"),
            (self.y, "Along y"),
        ):
            combo.setAccessibleName(words)
            combo.setToolTip(as_tip(words))
            combo.setMinimumContentsLength(3)
            combo.activated.connect(self._on_kind_changed)
            bar.addWidget(combo, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.canvas, 1)
        self._on_kind_changed()

    def show_result(self, result: StudyResult | None) -> None:
        """Show the results computed so far, keeping the chosen quantities."""
        another = result is None or self._result is None or result.declaration.hash != self._result.declaration.hash
        self._result = result
        if another and result is not None and len(result.varied) > 1 and result.declaration.axes[0].how == "grid":
            self.kind.setCurrentIndex(self.kind.findData("map"))
        elif another:
            self.kind.setCurrentIndex(self.kind.findData("scatter"))
        self._row = -1 if another else self._row
        self._on_kind_changed()

    def show_row(self, row: int) -> None:
        """Highlight a row."""
        self._row = row
        self._draw()

    def choose(self, kind: str, of: str = "", x: str = "", y: str = "") -> None:
        """Choose kind and quantities of the picture, as the user would."""
        self.kind.setCurrentIndex(self.kind.findData(kind))
        self._on_kind_changed()
        for combo, name in ((self.of, of), (self.x, x), (self.y, y)):
            if name:
                combo.setCurrentIndex(combo.findData(name))
        self._draw()

    def _on_kind_changed(self, _: int = 0) -> None:
        """Update the choices after another kind of picture was chosen."""
        result, picture = self._result, PICTURES[str(self.kind.currentData())]
        curves = list(result.declaration.curves) if result else []
        varied = list(result.varied) if result else []
        numbers = list(result.recorded) if result else []
        _fill(self.of, curves if picture.of == "curves" else numbers)
        _fill(self.x, varied, 0)
        _fill(self.y, varied, 1)
        self.of.setVisible(result is not None)
        self.x.setVisible(picture.x and result is not None)
        self.y.setVisible(picture.y and result is not None)
        self._draw()

    def _draw(self) -> None:
        of, x, y = (str(each.currentData() or "") for each in (self.of, self.x, self.y))
        kind, result = str(self.kind.currentData()), self._result
        shown = Shown(result, of, x, y, self._row) if result is not None and of else None
        self.canvas.show_picture(kind, shown)


def _fill(combo: Combo, names: list[str], first: int = 0) -> None:
    if [combo.itemData(k) for k in range(combo.count())] == names:
        return
    chosen = combo.currentData()
    combo.clear()
    for name in names:
        combo.addItem(name, name)
    at = combo.findData(chosen)
    combo.setCurrentIndex(at if at >= 0 else min(first, combo.count() - 1))

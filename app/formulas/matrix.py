"""Numerical matrices on screen: text between brackets, with columns aligned at the decimal point."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.formulas.layout import Typesetter
from core.functions.results import Matrix
from core.functions.text import format_number

DIGITS = 5
_GAP, _PAD, _ROW = 18.0, 7.0, 1.45
"""Space between columns (pixels), padding inside brackets (pixels), height of a row in lines."""


class MatrixView(QWidget):
    """A matrix as mathematics: symbol = [ … ], with labels of rows and columns."""

    def __init__(self, matrix: Matrix) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_matrix(matrix)

    def show_matrix(self, matrix: Matrix) -> None:
        """Show another matrix."""
        self._matrix = matrix
        self._texts = [[_MatrixEntry(entry) for entry in row] for row in matrix.entries]
        self._lay_out()

    def sizeHint(self) -> QSize:
        """Return the size that the matrix needs."""
        return self._size

    # ----------------------------------------------------------------------------- laying out

    def _lay_out(self) -> None:
        """Compute the positions of columns, rows, and brackets."""
        metrics = self._metrics = QFontMetricsF(self.font())
        columns = len(self._texts[0]) if self._texts else 0
        for row in self._texts:
            for entry in row:
                entry.measure(metrics)
        self._before = [max((row[k].before for row in self._texts), default=0.0) for k in range(columns)]
        after = [max((row[k].after for row in self._texts), default=0.0) for k in range(columns)]
        labels = self._matrix.columns
        self._widths = []
        for k in range(columns):
            width = self._before[k] + after[k]
            wanted = metrics.horizontalAdvance(labels[k]) if labels else 0.0
            self._before[k] += max(0.0, wanted - width) / 2.0
            self._widths.append(max(width, wanted))
        self._heights = [max(metrics.height() * _ROW, *(e.height + 6.0 for e in row)) for row in self._texts]
        self._top = metrics.height() * 1.3 if labels else 2.0
        self._hand = Typesetter(metrics.height())
        symbol = self._matrix.symbol
        self._head = [*self._hand.title_tokens(symbol), self._hand.upright_token(" = ")] if symbol else []
        head = sum(token.width for token in self._head) + 4.0 if self._head else 0.0
        self._bracket = head
        self._inside = sum(self._widths) + _GAP * max(0, columns - 1) + 2 * _PAD
        rows = max((metrics.horizontalAdvance(label) for label in self._matrix.rows), default=0.0)
        width = head + self._inside + (rows + 12.0 if rows else 4.0)
        self._size = QSize(int(width) + 2, int(self._top + sum(self._heights)) + 4)
        self.setFixedSize(self._size)
        self.update()

    # ----------------------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint symbol, brackets, entries, and labels."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text = self.palette().color(QPalette.ColorRole.Text)
        painter.setPen(QPen(text))
        height = sum(self._heights)
        middle = self._top + height / 2.0
        x = 0.0
        for token in self._head:
            self._hand.paint_token(painter, token, x, middle + self._hand.axis)
            x += token.width
        painter.setFont(self.font())
        self._paint_brackets(painter, height)
        y = self._top
        for row, row_height in zip(self._texts, self._heights, strict=True):
            x = self._bracket + _PAD
            baseline = y + row_height / 2.0 + self._metrics.ascent() / 2.0 - self._metrics.descent() / 2.0
            for entry, before, width in zip(row, self._before, self._widths, strict=True):
                entry.paint(painter, x + before, baseline)
                x += width + _GAP
            y += row_height
        self._paint_labels(painter)

    def _paint_brackets(self, painter: QPainter, height: float) -> None:
        painter.save()
        painter.setPen(QPen(painter.pen().color(), 1.4))
        top, bottom = self._top + 0.5, self._top + height - 0.5
        for x, inward in ((self._bracket, 1.0), (self._bracket + self._inside, -1.0)):
            lip = x + 5.0 * inward
            painter.drawPolyline(
                QPolygonF([QPointF(lip, top), QPointF(x, top), QPointF(x, bottom), QPointF(lip, bottom)])
            )
        painter.restore()

    def _paint_labels(self, painter: QPainter) -> None:
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.PlaceholderText)))
        x = self._bracket + _PAD
        for label, width in zip(self._matrix.columns, self._widths, strict=False):
            painter.drawText(QRectF(x - _GAP / 2, 0.0, width + _GAP, self._top), Qt.AlignmentFlag.AlignCenter, label)
            x += width + _GAP
        y = self._top
        left = self._bracket + self._inside + 8.0
        for label, height in zip(self._matrix.rows, self._heights, strict=False):
            place = QRectF(left, y, self.width() - left, height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
            y += height


class _MatrixEntry:
    """One entry: a number split at its decimal point, or a formula as written."""

    def __init__(self, entry: float | str) -> None:
        self.text = entry if isinstance(entry, str) else format_number(entry, DIGITS)
        self.centred = isinstance(entry, str)
        self.before = self.after = self.height = 0.0

    def measure(self, metrics: QFontMetricsF) -> None:
        """Measure the widths before and after the point of alignment, and the height."""
        whole, point, rest = self.text.partition(".")
        if self.centred:
            self.before = self.after = metrics.horizontalAdvance(self.text) / 2.0
        else:
            self.before, self.after = metrics.horizontalAdvance(whole), metrics.horizontalAdvance(point + rest)
        self.height = metrics.height()

    def paint(self, painter: QPainter, x: float, baseline: float) -> None:
        """Paint the entry with its decimal point aligned at x."""
        painter.drawText(QPointF(x - self.before, baseline), self.text)

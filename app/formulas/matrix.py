"""Mathematics on screen: formulas typeset by ziamath as SVG in the background, numeric matrices drawn immediately.

A formula is set once for its text (in a background thread, kept) and painted in any colour and size, crisp at every
scaling. Numbers of a matrix are painted as text between brackets, columns aligned at the decimal point.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.background.jobs import BackgroundQueue
from core.functions.results import Matrix
from core.functions.text import number

SIZE = 24.0
"""Font size at which formulas are typeset; painting scales them."""
LONGEST = 5000
"""Largest LaTeX length that is typeset, which takes some seconds; longer texts are shown as LaTeX."""
DIGITS = 5
_VIEW_BOX = re.compile(r'viewBox="([-\d.eE+]+) ([-\d.eE+]+) ([-\d.eE+]+) ([-\d.eE+]+)"')
_GAP, _PAD, _ROW = 18.0, 7.0, 1.45
"""Space between columns (pixels), padding inside brackets (pixels), height of a row in lines."""


class Formulas(QObject):
    """Cache of typeset formulas: LaTeX → SVG. Emits `ready(latex)` when a requested formula is available."""

    ready = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._svg: dict[str, str] = {}
        self._waiting: set[str] = set()
        self._errands = BackgroundQueue("setting formulas", self)

    def svg(self, latex: str) -> str | None:
        """Return the SVG text ('' if the formula cannot be typeset); None while it is being made."""
        found = self._svg.get(latex)
        if found is None and latex not in self._waiting:
            self._waiting.add(latex)
            self._errands.do(partial(set_formula, latex), partial(self._on_typeset, latex))
        return found

    def wait(self) -> None:
        """Wait for the thread to end when the program closes."""
        self._errands.close()
        self._waiting.clear()

    def _on_typeset(self, latex: str, svg: str) -> None:
        self._waiting.discard(latex)
        self._svg[latex] = svg
        self.ready.emit(latex)


def set_formula(latex: str) -> str:
    """Typeset a formula as SVG text; '' if it is too long or invalid LaTeX."""
    if len(latex) > LONGEST:
        return ""
    import ziamath

    ziamath.config.svg2 = False
    try:
        return str(ziamath.Latex(latex, size=SIZE).svg())
    except Exception:  # any text may come here; what cannot be set is shown as it is
        return ""


@lru_cache(maxsize=1)
def formulas() -> Formulas:
    """Return the program's shared cache of typeset formulas."""
    return Formulas()


class Typeset:
    """A typeset formula as it is painted: its size for a font size, its baseline."""

    def __init__(self, svg: str) -> None:
        match = _VIEW_BOX.search(svg)
        _, y, self._width, self._height = map(float, match.groups()) if match else (0.0, 0.0, 0.0, 0.0)
        self._ascent = -y
        self._svg = svg
        self._renderers: dict[str, QSvgRenderer] = {}

    def size(self, points: float) -> tuple[float, float, float]:
        """Return width, ascent and descent in pixels at a font size in pixels."""
        scale = points / SIZE
        return self._width * scale, self._ascent * scale, (self._height - self._ascent) * scale

    def paint(self, painter: QPainter, left: float, baseline: float, points: float) -> None:
        """Paint the formula in the painter's pen colour."""
        color = painter.pen().color().name()
        renderer = self._renderers.get(color)
        if renderer is None:
            text = self._svg.replace('fill="black"', f'fill="{color}"').replace('stroke="black"', f'stroke="{color}"')
            renderer = self._renderers[color] = QSvgRenderer(QByteArray(text.encode()))
        width, ascent, descent = self.size(points)
        renderer.render(painter, QRectF(left, baseline - ascent, width, ascent + descent))


@lru_cache(maxsize=2000)
def _parsed_svg(svg: str) -> Typeset:
    return Typeset(svg)


class MatrixView(QWidget):
    """A matrix as mathematics: symbol = [ … ], with labels of rows and columns."""

    def __init__(self, matrix: Matrix) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        formulas().ready.connect(self._on_formula_ready)
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

    def _on_formula_ready(self, latex: str) -> None:
        if latex == self._head() or any(latex == entry.latex for row in self._texts for entry in row):
            self._lay_out()

    def _head(self) -> str:
        return f"{self._matrix.symbol} =" if self._matrix.symbol else ""

    def _lay_out(self) -> None:
        """Compute the positions of columns, rows, and brackets."""
        metrics = self._metrics = QFontMetricsF(self.font())
        self._points = metrics.height()
        columns = len(self._texts[0]) if self._texts else 0
        for row in self._texts:
            for entry in row:
                entry.measure(metrics, self._points)
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
        head = formulas().svg(self._head()) if self._head() else ""
        self._symbol = _parsed_svg(head) if head else None
        symbol = self._symbol.size(self._points)[0] + 8.0 if self._symbol else 0.0
        self._bracket = symbol
        self._inside = sum(self._widths) + _GAP * max(0, columns - 1) + 2 * _PAD
        rows = max((metrics.horizontalAdvance(label) for label in self._matrix.rows), default=0.0)
        width = symbol + self._inside + (rows + 12.0 if rows else 4.0)
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
        if self._symbol is not None:
            _, ascent, descent = self._symbol.size(self._points)
            axis = self._metrics.xHeight() / 2.0
            self._symbol.paint(painter, 0.0, middle + min(axis + 2.0, (ascent + descent) / 2.0), self._points)
        self._paint_brackets(painter, height)
        y = self._top
        for row, row_height in zip(self._texts, self._heights, strict=True):
            x = self._bracket + _PAD
            baseline = y + row_height / 2.0 + self._metrics.ascent() / 2.0 - self._metrics.descent() / 2.0
            for entry, before, width in zip(row, self._before, self._widths, strict=True):
                entry.paint(painter, x, before, width, baseline, self._points)
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
    """One entry: a number as text, split at its decimal point, or a formula."""

    def __init__(self, entry: float | str) -> None:
        self.latex = entry if isinstance(entry, str) else ""
        self.text = entry if isinstance(entry, str) else number(entry, DIGITS)
        self.formula: Typeset | None = None
        self.before = self.after = self.height = 0.0

    def measure(self, metrics: QFontMetricsF, points: float) -> None:
        """Measure the widths before and after the point of alignment, and the height."""
        svg = formulas().svg(self.latex) if self.latex else ""
        self.formula = _parsed_svg(svg) if svg else None
        if self.formula is not None:
            width, ascent, descent = self.formula.size(points)
            self.before = self.after = width / 2.0
            self.height = ascent + descent
            return
        whole, point, rest = self.text.partition(".")
        if self.latex:
            self.before = self.after = metrics.horizontalAdvance(self.text) / 2.0
        else:
            self.before, self.after = metrics.horizontalAdvance(whole), metrics.horizontalAdvance(point + rest)
        self.height = metrics.height()

    def paint(self, painter: QPainter, x: float, before: float, width: float, baseline: float, points: float) -> None:
        """Paint it in a column that begins at x and is aligned at x + before."""
        if self.formula is None:
            painter.drawText(QPointF(x + before - self.before, baseline), self.text)
            return
        _, ascent, descent = self.formula.size(points)
        middle = baseline - points * 0.3
        self.formula.paint(painter, x + width / 2.0 - self.before, middle + (ascent - descent) / 2.0, points)

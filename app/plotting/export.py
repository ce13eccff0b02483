"""Export of plots as pictures (PNG), as vector graphics on white (SVG, PDF), as numbers (CSV), and to the clipboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from app.plotting.chart import Chart
from app.plotting.curves import Curve
from app.plotting.legend import curve_pen
from app.plotting.series import Array
from app.preferences.theme import LIGHT, Colors
from core.simulation.run.growing_rows import BLOCK

PICTURE_SCALE = 2.0
"""Pixels of a PNG file per screen pixel."""
STROKE = 1.25
"""Width of curves, screen pixels."""
LINE = 18.0
"""Height of a line of the legend, in screen pixels."""
MARGIN = 8.0


def copy_to_clipboard(charts: Sequence[Chart]) -> None:
    """Copy the plots to the clipboard, as a picture and as a text table of their numbers."""
    from PySide6.QtCore import QMimeData

    data = QMimeData()
    data.setImageData(render_image(charts, charts[0].colors))
    data.setText("".join(table_text(charts, "\t")))
    QApplication.clipboard().setMimeData(data)


# ------------------------------------------------------------------------------- drawing


def _total_size(charts: Sequence[Chart]) -> QSizeF:
    """Return the width and height of all plots stacked vertically, each with its legend below, in screen pixels."""
    width = max(chart.view.width() for chart in charts)
    return QSizeF(width, sum(chart.view.height() + _total_legend_height(chart, width) for chart in charts))


def _legend_column_count(width: float) -> int:
    return max(1, int(width // 230))


def _total_legend_height(chart: Chart, width: float) -> float:
    rows = -(-len(_named_curves(chart)) // _legend_column_count(width))
    return LINE * rows + MARGIN


def _named_curves(chart: Chart) -> list[Curve]:
    return [curve for curve in chart.curves if curve.opacity >= 1.0]


def draw_charts(painter: QPainter, charts: Sequence[Chart], colors: Colors) -> None:
    """Draw all plots with their legends in the colours of a theme. The playhead is not drawn."""
    size, top = _total_size(charts), 0.0
    painter.fillRect(QRectF(0.0, 0.0, size.width(), size.height()), QColor(colors.base))
    for chart in charts:
        own, heads = chart.colors, [line for line in (chart.head, *chart.pair) if line.isVisible()]
        for line in heads:
            line.setVisible(False)
        chart.apply_theme(colors)
        chart.set_line_width(STROKE * painter.transform().m11())
        try:
            place = QRectF(0.0, top, chart.view.width(), chart.view.height())
            with chart.clip_curves_to_axes():
                chart.view.scene().render(painter, place, QRectF(chart.view.sceneRect()))
            _draw_title(painter, chart, colors, top)
        finally:
            chart.apply_theme(own)
            chart.set_line_width()
            for line in heads:
                line.setVisible(True)
        top += chart.view.height()
        _draw_legend(painter, chart, colors, top, size.width())
        top += _total_legend_height(chart, size.width())


def _draw_title(painter: QPainter, chart: Chart, colors: Colors, top: float) -> None:
    """Draw the title of the x axis at the same position as in the window."""
    if chart.curves:
        painter.setFont(chart.across.font())
        painter.setPen(QColor(colors.muted))
        place = QRectF(chart.across.geometry()).translated(0.0, top)
        painter.drawText(place.adjusted(-MARGIN, 0.0, 0.0, 0.0), Qt.AlignmentFlag.AlignRight, chart.across.text())


def _draw_legend(painter: QPainter, chart: Chart, colors: Colors, top: float, width: float) -> None:
    columns = _legend_column_count(width)
    room = (width - 2 * MARGIN) / columns
    many, units = len({curve.run for curve in _named_curves(chart)}) > 1, len(chart.axes.units) > 1
    painter.setFont(chart.font())
    metrics = QFontMetricsF(painter.font())
    for k, curve in enumerate(_named_curves(chart)):
        x, y = MARGIN + (k % columns) * room, top + (k // columns) * LINE + LINE / 2
        painter.setPen(curve_pen(curve, 2.0 * painter.transform().m11()))
        painter.drawLine(QPointF(x, y), QPointF(x + 20.0, y))
        painter.setPen(QColor(colors.text))
        name = f"{curve.label}, {curve.unit}" if units and curve.unit_label else curve.label
        words = f"{name} · {curve.run}" if many else name
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room - 36.0)
        painter.drawText(QRectF(x + 26.0, y - LINE / 2, room - 30.0, LINE), Qt.AlignmentFlag.AlignVCenter, text)


def render_image(charts: Sequence[Chart], colors: Colors, scale: float = PICTURE_SCALE) -> QImage:
    """Return an image of the plots."""
    size = _total_size(charts) * scale
    image = QImage(size.toSize(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    draw_charts(painter, charts, colors)
    painter.end()
    return image


def png_data(charts: Sequence[Chart]) -> bytes:
    """Return the plots as PNG data, in the colours of the screen."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    render_image(charts, charts[0].colors).save(buffer, "PNG")
    return bytes(buffer.data().data())


def _resolution(charts: Sequence[Chart]) -> int:
    """Return the resolution of the screen in dots per inch. The axes are drawn for this resolution and would be out of
    scale at another one."""
    return charts[0].view.logicalDpiX()


def svg_data(charts: Sequence[Chart]) -> bytes:
    """Return the plots as an SVG document."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(_resolution(charts))
    size = _total_size(charts)
    generator.setSize(QSize(round(size.width()), round(size.height())))
    generator.setViewBox(QRectF(0.0, 0.0, size.width(), size.height()))
    generator.setTitle("Kinetostat plot")
    painter = QPainter(generator)
    draw_charts(painter, charts, LIGHT)
    painter.end()
    return bytes(buffer.data().data())


def pdf_data(charts: Sequence[Chart]) -> bytes:
    """Return the plots as a PDF page."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_resolution(charts))
    size = _total_size(charts) / _resolution(charts)
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Inch))
    writer.setPageMargins(QMarginsF(0.0, 0.0, 0.0, 0.0))
    writer.setTitle("Kinetostat plot")
    painter = QPainter(writer)
    draw_charts(painter, charts, LIGHT)
    painter.end()
    return bytes(buffer.data().data())


# ------------------------------------------------------------------------------- numbers


def table_text(charts: Sequence[Chart], separator: str = ",") -> Iterator[str]:
    """Yield the columns of all curves as text, with units in the header. Each run has its own time column; cells beyond
    its end are empty. Can be called from any thread."""
    columns: list[tuple[str, Array]] = []
    curves = [curve for chart in charts for curve in _named_curves(chart)]
    runs = list(dict.fromkeys(curve.key[0] for curve in curves))
    for number in runs:
        own = {curve.label: curve for curve in curves if curve.key[0] == number}
        first = next(iter(own.values()))
        tail = f" ({first.run})" if len(runs) > 1 else ""
        columns.append((f"time [s]{tail}", first.times))
        acrosses = {
            chart.plot.x: next(c for c in _named_curves(chart) if c.key[0] == number)
            for chart in charts
            if not chart.plot.is_over_time and any(c.key[0] == number for c in _named_curves(chart))
        }
        columns += [(_column_heading(x, c.x_unit, tail), c.x) for x, c in acrosses.items()]
        columns += [(_column_heading(name, c.unit_label, tail), displayed_column(c)) for name, c in own.items()]
    return _table_rows(columns, separator)


def displayed_column(curve: Curve) -> Any:
    """Return the numbers (n,) of a curve, or the names of its states."""
    return np.array(curve.words)[curve.y.astype(int)] if curve.words else curve.y


def _table_rows(columns: Sequence[tuple[str, Array]], separator: str) -> Iterator[str]:
    yield separator.join(_quote_cell(name, separator) for name, _ in columns) + "\n"
    for first_row in range(0, max((len(values) for _, values in columns), default=0), BLOCK):
        pieces = (map(str, values[first_row : first_row + BLOCK].tolist()) for _, values in columns)
        yield "".join(separator.join(row) + "\n" for row in zip_longest(*pieces, fillvalue=""))


def _column_heading(name: str, unit: str, suffix: str) -> str:
    return f"{name} [{unit}]{suffix}" if unit else f"{name}{suffix}"


def _quote_cell(text: str, separator: str) -> str:
    return f'"{text}"' if separator in text or '"' in text else text

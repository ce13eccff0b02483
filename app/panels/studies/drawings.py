"""Pictures of a study's results, drawn in a rectangle: maps, scatter plots, histograms, percentile bands, tornado
charts, parallel coordinates.

Each gives the rows that it shows as points, so that a click finds one: (rows (n,), pixels (n, 2)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPen, QPolygonF

from app.widgets.picture_frame import BOTTOM, ELIDED, AxesFrame, PictureColors, scale_color, with_opacity

if TYPE_CHECKING:
    from core.studies.study_result import StudyResult

Array = NDArray[np.float64]

MOST_POINTS, MOST_LINES, MOST_CURVES = 4000, 400, 2000
"""Largest numbers of rows drawn; of more rows, evenly spaced ones are chosen."""
BINS = 40
QUANTILES = (0.05, 0.5, 0.95)
MOST_OF_MATRIX = 5
"""Largest number of rows and columns of a scatter matrix."""
BAR = 74.0
"""Width of the colour scale next to a map, pixels."""


class PictureContent(NamedTuple):
    """Data and selections that a picture shows."""

    result: StudyResult
    of: str
    """The recorded number or curve that is drawn."""
    x: str
    y: str
    row: int = -1
    """Index of the selected row."""


class RowPoints(NamedTuple):
    """Rows of a study with their positions in the picture."""

    rows: NDArray[np.int64]
    pixels: Array


NO_POINTS = RowPoints(np.zeros(0, dtype=np.int64), np.zeros((0, 2)))


def title_with_unit(result: StudyResult, name: str) -> str:
    """Return the name of a quantity followed by its unit."""
    unit = result.unit(name)
    return f"{name}, {unit}" if unit else name


def thin_rows(rows: NDArray[np.int64], max_count: int) -> NDArray[np.int64]:
    """Return at most the given number of rows, evenly spaced."""
    return rows if len(rows) <= max_count else rows[np.linspace(0, len(rows) - 1, max_count).astype(np.int64)]


def split_by_outcome(result: StudyResult) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the rows that succeeded and of those that failed."""
    done = result.rows.done
    return np.flatnonzero(result.good), np.flatnonzero(done & ~result.good)


def _value_range(values: Array) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


# ------------------------------------------------------------------------------------------------ pictures


def draw_map(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw a number as colours versus two varied quantities; cells of failed rows are hatched."""
    result = content.result
    found = result.map(content.of, content.x, content.y)
    low, high = _value_range(found.values)
    sides = [_cell_edges(each) for each in (found.x, found.y)]
    frame = AxesFrame(rect.adjusted(0, 0, -BAR, 0), *((each[0], each[-1]) for each in sides), tight=True)
    x = frame.to_pixels(sides[0], np.zeros(len(sides[0])))[:, 0]
    y = frame.to_pixels(np.zeros(len(sides[1])), sides[1])[:, 1]
    for j in range(len(found.y)):
        for i in range(len(found.x)):
            cell = QRectF(QPointF(x[i], y[j + 1]), QPointF(x[i + 1], y[j])).adjusted(0, 0, 0.5, 0.5)
            value, failed = found.values[j, i], found.failed[j, i]
            if np.isfinite(value):
                painter.fillRect(cell, scale_color((value - low) / (high - low) if high > low else 0.5))
            if failed > 0.0:
                hatch = with_opacity(ink.failed, 110 + int(145 * failed))
                painter.fillRect(cell, QBrush(hatch, Qt.BrushStyle.BDiagPattern))
    frame.draw(painter, ink, content.x, content.y)
    _draw_colour_scale(painter, rect, low, high, title_with_unit(result, content.of), ink)
    good, bad = split_by_outcome(result)
    rows = np.concatenate([good, bad])
    return RowPoints(rows, frame.to_pixels(result.varied[content.x][rows], result.varied[content.y][rows]))


def _cell_edges(centres: Array) -> Array:
    if len(centres) == 1:
        half = 0.5 * (abs(centres[0]) or 1.0)
        return np.array([centres[0] - half, centres[0] + half])
    middle = 0.5 * (centres[1:] + centres[:-1])
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def _draw_colour_scale(
    painter: QPainter, rect: QRectF, low: float, high: float, title: str, ink: PictureColors
) -> None:
    bar = QRectF(rect.right() - BAR + 8.0, rect.top() + 28.0, 12.0, max(rect.height() - BOTTOM - 34.0, 10.0))
    steps = max(int(bar.height()), 1)
    for k in range(steps):
        part = QRectF(
            bar.left(), bar.bottom() - (k + 1) * bar.height() / steps, bar.width(), bar.height() / steps + 0.5
        )
        painter.fillRect(part, scale_color(k / steps))
    metrics = QFontMetricsF(painter.font())
    painter.setPen(ink.text)
    painter.drawText(
        QRectF(rect.right() - BAR, rect.top() + 6.0, BAR, 18.0), 0, metrics.elidedText(title, ELIDED, BAR - 4.0)
    )
    painter.setPen(ink.muted)
    painter.drawText(QPointF(bar.right() + 4.0, bar.top() + 8.0), f"{high:.4g}")
    painter.drawText(QPointF(bar.right() + 4.0, bar.bottom()), f"{low:.4g}")


def draw_scatter(
    painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors, labels: bool = True
) -> RowPoints:
    """Draw a number versus one varied quantity; failed rows are crosses at the lower edge."""
    result = content.result
    good, bad = (thin_rows(each, MOST_POINTS) for each in split_by_outcome(result))
    x, y = result.column(content.x), result.column(content.of)
    frame = AxesFrame(rect, _value_range(x[np.concatenate([good, bad])]), _value_range(y[good]), labels=labels)
    pixels = frame.to_pixels(x[good], y[good])
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(with_opacity(ink.data, 220 if len(good) < 300 else 130))
    size = (3.0 if len(good) < 300 else 2.0) if labels else 1.4
    for px, py in pixels:
        painter.drawEllipse(QPointF(px, py), size, size)
    low = frame.to_pixels(x[bad], np.full(len(bad), frame.y[0])) - [0.0, 5.0]
    painter.setPen(QPen(ink.failed, 1.3))
    for px, py in low:
        painter.drawLines([QLineF(px - 3, py - 3, px + 3, py + 3), QLineF(px - 3, py + 3, px + 3, py - 3)])
    frame.draw(painter, ink, title_with_unit(result, content.x), title_with_unit(result, content.of))
    found = RowPoints(np.concatenate([good, bad]), np.concatenate([pixels, low]))
    _draw_ring(painter, found, content.row, ink)
    return found


def _draw_ring(painter: QPainter, points: RowPoints, row: int, ink: PictureColors) -> None:
    """Draw a ring around the selected row."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(ink.chosen, 2.0))
    for px, py in points.pixels[points.rows == row]:
        painter.drawEllipse(QPointF(px, py), 6.0, 6.0)


def draw_matrix(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw a scatter matrix of all varied and recorded quantities, with histograms on the diagonal."""
    result = content.result
    names = [*result.varied, *result.recorded][:MOST_OF_MATRIX]
    if content.of not in names and content.of in result.recorded:
        names[-1] = content.of
    n = len(names)
    width, height = (rect.width() - 8.0) / n, (rect.height() - 8.0) / n
    metrics = QFontMetricsF(painter.font())
    for j, up in enumerate(names):
        for i, across in enumerate(names):
            cell = QRectF(rect.left() + 4.0 + i * width, rect.top() + 4.0 + j * height, width - 4.0, height - 4.0)
            if i == j:
                _draw_bars(painter, cell, result.column(up)[split_by_outcome(result)[0]], ink)
                painter.setPen(ink.text)
                words = metrics.elidedText(up, ELIDED, cell.width() - 8.0)
                painter.drawText(cell.adjusted(5, 3, -3, 0), Qt.AlignmentFlag.AlignLeft, words)
            else:
                draw_scatter(painter, cell, PictureContent(result, up, across, "", content.row), ink, labels=False)
    return NO_POINTS


def _draw_bars(painter: QPainter, rect: QRectF, values: Array, ink: PictureColors) -> None:
    counts, edges = np.histogram(values, bins=16) if len(values) else (np.zeros(1), np.array([0.0, 1.0]))
    frame = AxesFrame(rect, (edges[0], edges[-1]), (0.0, 1.35 * max(counts.max(), 1)), tight=True, labels=False)
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        bar = QRectF(frame.to_pixel(low, count), frame.to_pixel(high, 0.0))
        painter.fillRect(bar.adjusted(0.5, 0, -0.5, 0), with_opacity(ink.data, 120))
    frame.draw(painter, ink)


def draw_histogram(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw the distribution of a number with its mean and quantiles."""
    result = content.result
    values = result.column(content.of)[split_by_outcome(result)[0]]
    counts, edges = np.histogram(values, bins=BINS if len(values) > BINS else 12)
    frame = AxesFrame(rect, (edges[0], edges[-1]), (0.0, 1.18 * max(counts.max(), 1)), tight=True)
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        bar = QRectF(frame.to_pixel(low, count), frame.to_pixel(high, 0.0))
        painter.fillRect(bar.adjusted(0.5, 0, -0.5, 0), with_opacity(ink.data, 170))
    quantiles = np.quantile(values, QUANTILES)
    painter.setPen(QPen(ink.chosen, 1.4, Qt.PenStyle.DashLine))
    for value in quantiles:
        painter.drawLine(frame.to_pixel(value, frame.y[0]), frame.to_pixel(value, frame.y[1]))
    summary = result.summary(content.of)
    words = f"mean {summary.mean:.5g} ± {summary.error:.2g}; 5 %, 50 %, 95 %: " + ", ".join(
        f"{value:.5g}" for value in quantiles
    )
    frame.draw(painter, ink, title_with_unit(result, content.of))
    painter.setPen(ink.text)
    inside = frame.rect.adjusted(6.0, 3.0, -6.0, 0.0)
    painter.drawText(inside, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, words)
    return NO_POINTS


def draw_band(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw curves versus time: some of them, their median, and the band from 5 % to 95 %."""
    result = content.result
    time, curves = result.curve(content.of)
    good = thin_rows(split_by_outcome(result)[0], MOST_CURVES)
    curves = curves[good]
    frame = AxesFrame(rect, (time[0], time[-1]), _value_range(curves), tight=False)
    low, middle, high = np.quantile(curves, QUANTILES, axis=0)
    painter.setPen(QPen(with_opacity(ink.data, 45), 1.0))
    for curve in curves[:: max(1, len(curves) // 60)]:
        painter.drawPolyline(_polyline(frame.to_pixels(time, curve)))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(with_opacity(ink.data, 70))
    painter.drawPolygon(_polyline(np.concatenate([frame.to_pixels(time, low), frame.to_pixels(time, high)[::-1]])))
    painter.setPen(QPen(ink.chosen, 2.0))
    painter.drawPolyline(_polyline(frame.to_pixels(time, middle)))
    unit = next((column.unit for column in result.rows.columns if column.curve == content.of), "")
    frame.draw(painter, ink, "t, s", f"{content.of}, {unit}" if unit else content.of)
    return NO_POINTS


def _polyline(points: Array) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


def draw_tornado(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw the mean of a number for low and for high values of each varied quantity, largest effect first."""
    result = content.result
    found = result.tornado(content.of)
    centre = result.summary(content.of).mean
    values = np.array([[each.low, each.high] for each in found])
    height = min(26.0, max((rect.height() - BOTTOM - 8.0) / max(len(found), 1), 3.0))
    names = min(120.0, 0.35 * rect.width())
    frame = AxesFrame(rect.adjusted(names - 50.0, 0, -6.0, 0), _value_range(np.append(values, centre)), (0.0, 1.0))
    frame.draw(painter, ink, title_with_unit(result, content.of))
    painter.fillRect(frame.rect.adjusted(-56.0, 0.0, -frame.rect.width() - 1.0, 0.0), ink.base)
    metrics = QFontMetricsF(painter.font())
    for k, each in enumerate(found):
        top = frame.rect.top() + 4.0 + k * height
        for value, color in ((each.low, ink.data), (each.high, ink.chosen)):
            a, b = sorted((frame.to_pixel(centre, 0).x(), frame.to_pixel(value, 0).x()))
            painter.fillRect(QRectF(a, top + 2.0, b - a, height - 4.0), with_opacity(color, 190))
        painter.setPen(ink.text)
        words = metrics.elidedText(each.name, ELIDED, names - 8.0)
        label = QRectF(rect.left() + 2.0, top, frame.rect.left() - rect.left() - 8.0, height)
        painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
    painter.setPen(QPen(ink.muted, 1.0))
    painter.drawLine(frame.to_pixel(centre, 0.0), frame.to_pixel(centre, 1.0))
    legend = frame.rect.adjusted(0, 0, -5.0, -3.0)
    painter.drawText(legend, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, "low: blue, high: orange")
    return NO_POINTS


def draw_parallel(painter: QPainter, rect: QRectF, content: PictureContent, ink: PictureColors) -> RowPoints:
    """Draw parallel coordinates: a line for each row across an axis for each number, coloured by one of them; failed
    rows are dashed."""
    result = content.result
    names = [*result.varied, *result.recorded]
    good, bad = (thin_rows(each, MOST_LINES) for each in split_by_outcome(result))
    box = rect.adjusted(34.0, 24.0, -34.0, -22.0)
    columns = {name: result.column(name) for name in names}
    ends = {name: _value_range(columns[name][np.concatenate([good, bad])]) for name in names}
    x = np.linspace(box.left(), box.right(), max(len(names), 2))[: len(names)]

    def heights(rows: NDArray[np.int64], name: str) -> Array:
        low, high = ends[name]
        part = (columns[name][rows] - low) / (high - low) if high > low else np.full(len(rows), 0.5)
        return np.asarray(box.bottom() - np.nan_to_num(part) * box.height(), dtype=float)

    low, high = ends.get(content.of, (0.0, 1.0))
    for rows, failed in ((good, False), (bad, True)):
        lines = np.stack([heights(rows, name) for name in names], axis=1) if len(rows) else np.zeros((0, len(names)))
        for row, line in zip(rows, lines, strict=True):
            color = ink.failed if failed else scale_color((columns[content.of][row] - low) / ((high - low) or 1.0))
            painter.setPen(
                QPen(with_opacity(color, 150), 1.0, Qt.PenStyle.DashLine if failed else Qt.PenStyle.SolidLine)
            )
            painter.drawPolyline(_polyline(np.column_stack([x, line])))
    if content.row >= 0:
        painter.setPen(QPen(ink.chosen, 2.5))
        chosen = np.array([heights(np.array([content.row]), name)[0] for name in names])
        painter.drawPolyline(_polyline(np.column_stack([x, chosen])))
    metrics = QFontMetricsF(painter.font())
    room = box.width() / max(len(names) - 1, 1)
    for at, name in zip(x, names, strict=True):
        painter.setPen(QPen(ink.line, 1.4))
        painter.drawLine(QPointF(at, box.top()), QPointF(at, box.bottom()))
        painter.setPen(ink.text)
        words = metrics.elidedText(name, ELIDED, max(room - 4.0, 24.0))
        painter.drawText(QRectF(at - 60.0, rect.bottom() - 20.0, 120.0, 18.0), Qt.AlignmentFlag.AlignHCenter, words)
        painter.setPen(ink.muted)
        painter.drawText(
            QRectF(at - 40.0, rect.top() + 5.0, 80.0, 16.0), Qt.AlignmentFlag.AlignHCenter, f"{ends[name][1]:.4g}"
        )
    return NO_POINTS


class PictureKind(NamedTuple):
    """Kind of picture: its title, drawing function, and the quantities that can be selected."""

    title: str
    draw: Callable[[QPainter, QRectF, PictureContent, PictureColors], RowPoints]
    of: str = "numbers"
    """Kind of quantity drawn, numbers or curves; empty if it shows all."""
    x: bool = False
    y: bool = False


PICTURES = {
    "scatter": PictureKind("Points", draw_scatter, x=True),
    "map": PictureKind("Map", draw_map, x=True, y=True),
    "histogram": PictureKind("Histogram", draw_histogram),
    "tornado": PictureKind("Tornado", draw_tornado),
    "matrix": PictureKind("Scatter matrix", draw_matrix),
    "parallel": PictureKind("Parallel coordinates", draw_parallel),
    "band": PictureKind("Curves", draw_band, of="curves"),
}

"""Box with ticks and numbers around a region of space: the fixed ranges of a view, or the frame of a pose sequence.

Numbers stand upright at the edges that lie outermost in the picture, whichever way one looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, hypot
from typing import NamedTuple

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkBillboardTextActor3D, vtkPolyDataMapper, vtkRenderer

from core.model.formula.numerals import format_readable
from core.model.units import display_unit
from viz.camera import CameraView, project
from viz.look import ColourScheme
from viz.meshes.polydata import line_mesh
from viz.placement import Array, box_corners, longest_edge
from viz.scene.labels import escape_label, format_text
from viz.scene.surroundings import grid_spacing

LETTERS = 12
"""Size of the numbers."""
TICKS = 6
"""Approximate number of ticks along an axis."""
TICK = 0.02
"""Length of a tick, relative to the box's longest edge."""
GAP = 8.0
"""Distance between an edge, its numbers, and the axis name, pixels."""
WIDTH = 0.6
"""Assumed width of a letter, relative to its height."""
BESIDE = 92.0
"""Approximate space for numbers and axis name outside the box, pixels."""
SHORTEST = 60.0
"""Length of an edge on the screen, in pixels, below which it has no numbers."""


class BoxEdge(NamedTuple):
    """Edge of the box from a to b (3,) along an axis 0 … 2; `inward` (3,) points into an adjacent face."""

    axis: int
    a: Array
    b: Array
    inward: Array


def box_edges(bounds: Sequence[float]) -> list[BoxEdge]:
    """Return the twelve edges."""
    points = box_corners(bounds)
    found = []
    for axis in range(3):
        for i in range(8):
            if not (i >> axis) & 1:
                across = next(k for k in (2, 1, 0) if k != axis)
                inward = points[i ^ (1 << across)] - points[i]
                found.append(BoxEdge(axis, points[i], points[i | (1 << axis)], inward))
    return found


def round_ticks(low: float, high: float) -> list[float]:
    """Return about `TICKS` round numbers in a range."""
    if not high > low:
        return []
    step = grid_spacing((high - low) / (TICKS - 1) * 1.25)
    return [step * k for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def size_with_margin(size: tuple[int, int], pixel_ratio: float) -> float:
    """Return the size of the picture relative to the box (pixels) that leaves space for numbers and axis names."""
    beside = BESIDE * pixel_ratio
    return 1.0 / max(1.0 - 2.0 * beside / min(size), 0.4)


class RangeBox:
    """Lines of the box, with ticks and numbers."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: ColourScheme) -> None:
        self.bounds: tuple[float, ...] = ()
        self.fixed: tuple[float, ...] = ()
        """The part of space that views show; () for everything."""
        self.numbers = True
        self.unit = display_unit("length")
        """In which the numbers are."""
        self._front, self._look, self._ratio = front, look, 1.0
        self._lines = vtkActor()
        self._lines.SetMapper(vtkPolyDataMapper())
        self._lines.GetProperty().LightingOff()
        self._lines.PickableOff()
        self._lines.SetVisibility(False)
        renderer.AddActor(self._lines)
        self._texts: list[vtkBillboardTextActor3D] = []

    def show_range(self, ranges: Sequence[float]) -> None:
        """Show this region of space, (xmin, xmax, ymin, ymax, zmin, zmax) in m, as a box with numbers; () hides it."""
        self.fixed = tuple(float(x) for x in ranges)
        self.draw_box(self.fixed)

    def show_ranges_in_unit(self, ranges: Sequence[Sequence[float]], millimetres: bool) -> None:
        """Show the region (low, high) along x, y, z, in m, with numbers in m or mm."""
        self.unit = display_unit("length", millimetres=millimetres)
        self.show_range([end for pair in ranges for end in pair])

    def show_frame(self, bounds: Sequence[float]) -> None:
        """Show a box without numbers around a pose sequence; () removes it. Fixed ranges have their own box."""
        if not self.fixed:
            self.draw_box(bounds, numbers=False)

    @property
    def frame_bounds(self) -> tuple[tuple[float, ...], ...]:
        """Frame of a pose sequence, into which views are fitted; empty while ranges are fixed."""
        return (self.bounds,) if self.bounds and not self.fixed else ()

    @property
    def visible_texts(self) -> list[str]:
        """Return the numbers and axis names that are visible."""
        return [text.GetInput() for text in self._texts if text.GetVisibility()]

    def draw_box(self, bounds: Sequence[float], numbers: bool = True) -> None:
        """Draw the box (xmin, xmax, ymin, ymax, zmin, zmax); () removes it. `numbers`: False for a box without ticks
        and numbers."""
        self.bounds, self.numbers = tuple(float(x) for x in bounds), numbers
        self._lines.SetVisibility(bool(self.bounds))
        for text in self._texts:
            text.SetVisibility(False)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self._look = look
        self._lines.GetProperty().SetColor(*look.resolve_colour("joint"))
        self._lines.GetProperty().SetOpacity(0.7)
        for text in self._texts:
            format_text(text.GetTextProperty(), look, look.resolve_colour("text"), round(LETTERS * self._ratio))

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> None:
        """Move the numbers to the outermost edges in the current view."""
        if not self.bounds:
            return
        if pixel_ratio != self._ratio:
            self._ratio = pixel_ratio
            self.paint(self._look)
        every = box_edges(self.bounds)
        segments = [(edge.a, edge.b) for edge in every]
        labels: list[tuple[Array, str, Array]] = []
        if self.numbers:
            middle = np.array(project(view, size, box_corners(self.bounds).mean(axis=0)))
            for axis in range(3):
                best = _outermost_edge([edge for edge in every if edge.axis == axis], view, size, middle)
                if best is not None:
                    marks, words = self._edge_ticks(*best)
                    segments += marks
                    labels += words
        self._draw_lines(segments)
        self._write_labels(labels)

    def _edge_ticks(
        self, edge: BoxEdge, outward: Array
    ) -> tuple[list[tuple[Array, Array]], list[tuple[Array, str, Array]]]:
        """Return ticks and texts of one edge; `outward` (2,) is the direction away from the box in the picture."""
        factor = self.unit.factor
        low, high = edge.a[edge.axis] / factor, edge.b[edge.axis] / factor
        tick = edge.inward / max(float(np.linalg.norm(edge.inward)), 1e-12) * TICK * longest_edge(self.bounds)
        marks, words = [], []
        values = round_ticks(low, high)
        numbers = [format_readable(f"{value:.6g}") for value in values]
        name = f"{'xyz'[edge.axis]} ({self.unit.symbol})"
        reach = max((_text_half_extent(text, outward) for text in numbers), default=0.0)
        for value, text in zip(values, numbers, strict=True):
            place = edge.a.copy()
            place[edge.axis] = value * factor
            marks.append((place, place + tick))
            words.append((place, text, (GAP + reach) * outward))
        words.append(
            ((edge.a + edge.b) / 2.0, name, (2.0 * (GAP + reach) + _text_half_extent(name, outward)) * outward)
        )
        return marks, words

    def _draw_lines(self, segments: list[tuple[Array, Array]]) -> None:
        points = np.array(segments).reshape(-1, 3)
        self._lines.GetMapper().SetInputData(line_mesh(points, np.arange(len(points)).reshape(-1, 2)))

    def _write_labels(self, labels: list[tuple[Array, str, Array]]) -> None:
        while len(self._texts) < len(labels):
            self._texts.append(self._create_text_actor())
        for text in self._texts[len(labels) :]:
            text.SetVisibility(False)
        for text, (place, words, offset) in zip(self._texts, labels, strict=False):
            text.SetVisibility(True)
            text.SetInput(escape_label(words))
            text.SetPosition(*place)
            text.SetDisplayOffset(*(round(self._ratio * x) for x in offset))

    def _create_text_actor(self) -> vtkBillboardTextActor3D:
        text = vtkBillboardTextActor3D()
        text.PickableOff()
        text.UseBoundsOff()
        style = text.GetTextProperty()
        format_text(style, self._look, self._look.resolve_colour("text"), round(LETTERS * self._ratio))
        style.SetJustificationToCentered()
        style.SetVerticalJustificationToCentered()
        self._front.AddActor(text)
        return text


def _text_half_extent(text: str, outward: Array) -> float:
    """Return the distance from the centre of a text to its boundary in a direction (2,), pixels."""
    half = np.array([len(text) * WIDTH, 1.0]) * LETTERS / 2.0
    return float(np.abs(outward) @ half)


def _outermost_edge(
    parallel_edges: list[BoxEdge], view: CameraView, size: tuple[int, int], middle: Array
) -> tuple[BoxEdge, Array] | None:
    """Return that one of parallel edges which is farthest from the centre of the box in the picture (of two equal ones
    the lower or left one), and the direction (2,) away from the centre, y up; None for edges along the line of sight.
    """
    best: tuple[float, BoxEdge, Array] | None = None
    for edge in parallel_edges:
        a, b = (np.array(project(view, size, point)) for point in (edge.a, edge.b))
        along = b - a
        length = hypot(*along)
        if not length > SHORTEST:  # nan: behind the eye
            continue
        normal = np.array([-along[1], along[0]]) / length
        distance = float(normal @ ((a + b) / 2.0 - middle))
        outward = normal * (1.0 if distance >= 0.0 else -1.0)
        preferred = abs(distance) * (1.02 if outward[1] - outward[0] > 0.0 else 1.0)
        if best is None or preferred > best[0]:
            best = preferred, edge, outward * np.array([1.0, -1.0])
    return None if best is None else best[1:]

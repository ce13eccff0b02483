"""Box with ticks and numbers around a region of space: the ranges of a view, or the frame of a sequence.

Numbers stand upright at the edges that lie outermost in the picture, whichever way one looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, hypot
from typing import NamedTuple

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkBillboardTextActor3D, vtkPolyDataMapper, vtkRenderer

from core.model.formula.numerals import readable
from core.model.units import display
from viz.camera import View, project
from viz.look import Look
from viz.meshes.polydata import wire
from viz.placement import Array, corners, extent
from viz.scene.labels import as_letters, write
from viz.scene.surroundings import spacing

LETTERS = 12
"""Size of the numbers."""
TICKS = 6
"""Approximate number of ticks along an axis."""
TICK = 0.02
"""Length of a tick, relative to the box's longest edge."""
GAP = 8.0
"""Distance between an edge, its numbers, and the axis name, pixels."""
WIDTH = 0.6
"""Width of a letter, relative to its height."""
BESIDE = 92.0
"""Approximate space for numbers and name next to the box, pixels."""
SHORTEST = 60.0
"""Length on the screen below which an edge has no numbers, pixels."""


class Edge(NamedTuple):
    """Edge of the box from a to b (3,) along an axis 0 … 2; `inward` (3,) points into an adjacent face."""

    axis: int
    a: Array
    b: Array
    inward: Array


def edges(bounds: Sequence[float]) -> list[Edge]:
    """Return the twelve edges."""
    points = corners(bounds)
    found = []
    for axis in range(3):
        for i in range(8):
            if not (i >> axis) & 1:
                across = next(k for k in (2, 1, 0) if k != axis)
                inward = points[i ^ (1 << across)] - points[i]
                found.append(Edge(axis, points[i], points[i | (1 << axis)], inward))
    return found


def ticks(low: float, high: float) -> list[float]:
    """Return about `TICKS` round numbers within a range."""
    if not high > low:
        return []
    step = spacing((high - low) / (TICKS - 1) * 1.25)
    return [step * k for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def room(size: tuple[int, int], pixel_ratio: float) -> float:
    """Return the picture size relative to the box (pixels) that leaves room for numbers and names."""
    beside = BESIDE * pixel_ratio
    return 1.0 / max(1.0 - 2.0 * beside / min(size), 0.4)


class RangeBox:
    """Lines of the box, its ticks and numbers."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: Look) -> None:
        self.bounds: tuple[float, ...] = ()
        self.fixed: tuple[float, ...] = ()
        """The part of space that views show; () for everything."""
        self.numbers = True
        self.unit = display("length")
        """In which the numbers are."""
        self._front, self._look, self._ratio = front, look, 1.0
        self._lines = vtkActor()
        self._lines.SetMapper(vtkPolyDataMapper())
        self._lines.GetProperty().LightingOff()
        self._lines.PickableOff()
        self._lines.SetVisibility(False)
        renderer.AddActor(self._lines)
        self._texts: list[vtkBillboardTextActor3D] = []

    def fix(self, ranges: Sequence[float]) -> None:
        """Show this region of space, (xmin, xmax, ymin, ymax, zmin, zmax) in m, as a box with numbers; () hides it."""
        self.fixed = tuple(float(x) for x in ranges)
        self.show(self.fixed)

    def fix_ranges(self, ranges: Sequence[Sequence[float]], millimetres: bool) -> None:
        """Show the region (low, high) along x, y, z, m, with the numbers in m or mm."""
        self.unit = display("length", millimetres=millimetres)
        self.fix([end for pair in ranges for end in pair])

    def frame(self, bounds: Sequence[float]) -> None:
        """Show a bare box around a sequence; () removes it. Fixed ranges have their own box."""
        if not self.fixed:
            self.show(bounds, numbers=False)

    @property
    def framed(self) -> tuple[tuple[float, ...], ...]:
        """Frame of a sequence, to which views are fitted; none with fixed ranges."""
        return (self.bounds,) if self.bounds and not self.fixed else ()

    @property
    def words(self) -> list[str]:
        """Return the visible numbers and names."""
        return [text.GetInput() for text in self._texts if text.GetVisibility()]

    def show(self, bounds: Sequence[float], numbers: bool = True) -> None:
        """Draw the box (xmin, xmax, ymin, ymax, zmin, zmax); () removes it. `numbers` False leaves a bare box."""
        self.bounds, self.numbers = tuple(float(x) for x in bounds), numbers
        self._lines.SetVisibility(bool(self.bounds))
        for text in self._texts:
            text.SetVisibility(False)

    def paint(self, look: Look) -> None:
        """Apply the colours of a look."""
        self._look = look
        self._lines.GetProperty().SetColor(*look.colour("joint"))
        self._lines.GetProperty().SetOpacity(0.7)
        for text in self._texts:
            write(text.GetTextProperty(), look, look.colour("text"), round(LETTERS * self._ratio))

    def fit(self, view: View, size: tuple[int, int], pixel_ratio: float) -> None:
        """Move the numbers to the outermost edges in the present view."""
        if not self.bounds:
            return
        if pixel_ratio != self._ratio:
            self._ratio = pixel_ratio
            self.paint(self._look)
        every = edges(self.bounds)
        segments = [(edge.a, edge.b) for edge in every]
        labels: list[tuple[Array, str, Array]] = []
        if self.numbers:
            middle = np.array(project(view, size, corners(self.bounds).mean(axis=0)))
            for axis in range(3):
                best = _outermost([edge for edge in every if edge.axis == axis], view, size, middle)
                if best is not None:
                    marks, words = self._edge_ticks(*best)
                    segments += marks
                    labels += words
        self._draw(segments)
        self._write(labels)

    def _edge_ticks(
        self, edge: Edge, outward: Array
    ) -> tuple[list[tuple[Array, Array]], list[tuple[Array, str, Array]]]:
        """Return ticks and texts of one edge; `outward` (2,) is the direction away from the box in the picture."""
        factor = self.unit.factor
        low, high = edge.a[edge.axis] / factor, edge.b[edge.axis] / factor
        tick = edge.inward / max(float(np.linalg.norm(edge.inward)), 1e-12) * TICK * extent(self.bounds)
        marks, words = [], []
        values = ticks(low, high)
        numbers = [readable(f"{value:.6g}") for value in values]
        name = f"{'xyz'[edge.axis]} ({self.unit.symbol})"
        reach = max((_text_reach(text, outward) for text in numbers), default=0.0)
        for value, text in zip(values, numbers, strict=True):
            place = edge.a.copy()
            place[edge.axis] = value * factor
            marks.append((place, place + tick))
            words.append((place, text, (GAP + reach) * outward))
        words.append(((edge.a + edge.b) / 2.0, name, (2.0 * (GAP + reach) + _text_reach(name, outward)) * outward))
        return marks, words

    def _draw(self, segments: list[tuple[Array, Array]]) -> None:
        points = np.array(segments).reshape(-1, 3)
        self._lines.GetMapper().SetInputData(wire(points, np.arange(len(points)).reshape(-1, 2)))

    def _write(self, labels: list[tuple[Array, str, Array]]) -> None:
        while len(self._texts) < len(labels):
            self._texts.append(self._new_actor())
        for text in self._texts[len(labels) :]:
            text.SetVisibility(False)
        for text, (place, words, offset) in zip(self._texts, labels, strict=False):
            text.SetVisibility(True)
            text.SetInput(as_letters(words))
            text.SetPosition(*place)
            text.SetDisplayOffset(*(round(self._ratio * x) for x in offset))

    def _new_actor(self) -> vtkBillboardTextActor3D:
        text = vtkBillboardTextActor3D()
        text.PickableOff()
        text.UseBoundsOff()
        style = text.GetTextProperty()
        write(style, self._look, self._look.colour("text"), round(LETTERS * self._ratio))
        style.SetJustificationToCentered()
        style.SetVerticalJustificationToCentered()
        self._front.AddActor(text)
        return text


def _text_reach(text: str, outward: Array) -> float:
    """Return the distance from the centre of a text to its rim, in a direction (2,), pixels."""
    half = np.array([len(text) * WIDTH, 1.0]) * LETTERS / 2.0
    return float(np.abs(outward) @ half)


def _outermost(found: list[Edge], view: View, size: tuple[int, int], middle: Array) -> tuple[Edge, Array] | None:
    """Return the one of parallel edges that is farthest from the box's centre in the picture (the lower or left of two
    equal ones), and the direction (2,) away from the centre, y up; None for edges along the line of sight."""
    best: tuple[float, Edge, Array] | None = None
    for edge in found:
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

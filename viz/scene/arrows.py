"""Arrows in the scene; moved arrows keep their actors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.drawlist import geometry as g
from viz.look import Colour, Look
from viz.meshes.meshes import mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import along
from viz.scene.figures import shine

SECOND_HEAD = 0.86
"""End of the second head of a double arrow, as a share of its length."""
THINNEST, THICKEST = 0.16, 0.4
"""Arrow lengths, relative to the machine, beyond which the thickness no longer changes."""


class VectorGlyph(NamedTuple):
    """Arrow from `origin` (3,) by `vector` (3,), m. `double` : with two heads, as for rotational quantities; `opacity`
    : 1 is opaque, less is transparent."""

    origin: ArrayLike
    vector: ArrayLike
    colour: Colour = "accent"
    double: bool = False
    opacity: float = 1.0


class Arrows:
    """All arrows, grouped by independent sources."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.renderer, self.look = renderer, look
        self._shown: dict[str, list[tuple[vtkActor, Colour]]] = {}

    def show(self, source: str, glyphs: Sequence[VectorGlyph | tuple], size: float | None = None) -> None:
        """Show the arrows of a source; zero-length ones are omitted. size (m) : of the machine, which limits their
        thickness."""
        pool = [actor for actor, _ in self._shown.pop(source, [])]
        shown: list[tuple[vtkActor, Colour]] = []
        for glyph in (VectorGlyph(*each) for each in glyphs):
            vector = np.asarray(glyph.vector, dtype=float)
            length = float(np.linalg.norm(vector))
            if length <= 0.0 or not np.isfinite(length):
                continue
            for share in (1.0, SECOND_HEAD) if glyph.double else (1.0,):
                actor = pool.pop() if pool else self._actor()
                self._place_arrow(
                    actor, glyph, share * length, length if size is None else _limited_length(length, size)
                )
                shine(actor, self.look.colour(glyph.colour))
                actor.GetProperty().SetOpacity(glyph.opacity)
                shown.append((actor, glyph.colour))
        for actor in pool:
            self.renderer.RemoveActor(actor)
        if shown:
            self._shown[source] = shown

    def _actor(self) -> vtkActor:
        actor = vtkActor()
        actor.SetMapper(vtkPolyDataMapper())
        actor.GetMapper().ScalarVisibilityOff()
        actor.GetMapper().SetInputData(mesh(g.Arrow(1.0, 0.018, 0.055, 0.17)))
        self.renderer.AddActor(actor)
        return actor

    def _place_arrow(self, actor: vtkActor, glyph: VectorGlyph, length: float, width: float) -> None:
        scale = np.diag([width, width, length, 1.0])
        actor.SetUserMatrix(vtk_matrix(along(glyph.vector, glyph.origin) @ scale))

    def paint(self, look: Look) -> None:
        """Apply the colours of a look."""
        self.look = look
        for shown in self._shown.values():
            for actor, colour in shown:
                shine(actor, look.colour(colour))

    @property
    def actors(self) -> list[vtkActor]:
        """Return all visible actors."""
        return [actor for shown in self._shown.values() for actor, _ in shown]

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources with visible arrows."""
        return tuple(self._shown)


def _limited_length(length: float, size: float) -> float:
    return min(max(length, THINNEST * size), THICKEST * size)

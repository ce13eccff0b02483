"""Transparent copies of the machine in other poses; moved copies keep their actors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkActor, vtkRenderer

from viz.drawlist.draw_list import Item, items
from viz.drawlist.spans import Spans
from viz.look import Look
from viz.scene.figures import Figure, Poses, transparent_copy

if TYPE_CHECKING:
    from core.model import Model

OPACITY = 0.28
ROLES = ("shape", "link", "joint")
"""Roles of items shown in a copy."""


class _Copy:
    """Transparent copy of the machine."""

    def __init__(
        self, renderer: vtkRenderer, drawn: tuple[Item, ...], names: frozenset[str], opacity: float, look: Look
    ) -> None:
        self.renderer, self.drawn, self.names, self.opacity = renderer, drawn, names, opacity
        shown = (item for item in drawn if item.shown and item.role in ROLES and item.frame in names)
        self.figures = [Figure(transparent_copy(item, opacity), look) for item in shown]
        self.spans = Spans([figure.item for figure in self.figures])
        self._array: ArrayLike | None = None
        for figure in self.figures:
            renderer.AddActor(figure.actor)

    def fits(self, drawn: tuple[Item, ...], names: frozenset[str], opacity: float) -> bool:
        """Return True if the same actors, moved, can show these items."""
        return drawn is self.drawn and names == self.names and opacity == self.opacity

    def move(self, names: Sequence[str], array: ArrayLike) -> None:
        """Move to poses (n, 4, 4) of these names; skipped if the array is the same object as before."""
        if array is self._array:
            return
        self._array = array
        poses: Poses = dict(zip(names, np.asarray(array, dtype=float), strict=True))
        for figure, pose in zip(self.figures, self.spans.poses(poses), strict=True):
            figure.put(pose, pose.ravel().tolist())

    def remove(self) -> None:
        for figure in self.figures:
            self.renderer.RemoveActor(figure.actor)


class Ghosts:
    """All copies, grouped by independent sources (a result, other runs …)."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.renderer, self.look = renderer, look
        self._copies: dict[str, list[_Copy]] = {}
        self._drawn: dict[str, dict[object, tuple[object, tuple[Item, ...]]]] = {}

    def show(
        self,
        source: str,
        names: Sequence[str],
        arrays: Sequence[ArrayLike],
        machines: Sequence[tuple[Model | None, Mapping[str, float], tuple[Item, ...]]],
        opacity: float = OPACITY,
        layers: bool = True,
    ) -> None:
        """Show the copies of a source: poses (n, 4, 4) of `names` for each; machines : model and parameter values to
        draw, or the items themselves if the model is None; `layers` : True to draw links in layers."""
        kept = self._copies.pop(source, [])
        made: list[_Copy] = []
        known, before = frozenset(names), self._drawn.pop(source, {})
        used: dict[object, tuple[object, tuple[Item, ...]]] = {}
        for array, (model, values, own) in zip(arrays, machines, strict=True):
            drawn = own
            if model is not None:
                key = id(model), tuple(sorted(values.items())), layers
                if key not in used:
                    used[key] = before.get(key) or (model, items(model, dict(values), layers))
                drawn = used[key][1]
            copy = next((c for c in kept if c.fits(drawn, known, opacity)), None)
            if copy is None:
                copy = _Copy(self.renderer, drawn, known, opacity, self.look)
            else:
                kept.remove(copy)
            copy.move(names, array)
            made.append(copy)
        for copy in kept:
            copy.remove()
        if made:
            self._copies[source], self._drawn[source] = made, used

    def paint(self, look: Look) -> None:
        """Apply the colours of a look."""
        self.look = look
        for figure in self._figures:
            figure.paint(look)

    @property
    def _figures(self) -> list[Figure]:
        return [figure for copies in self._copies.values() for copy in copies for figure in copy.figures]

    @property
    def actors(self) -> list[vtkActor]:
        """Return all visible actors."""
        return [figure.actor for figure in self._figures]

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources with visible copies."""
        return tuple(self._copies)

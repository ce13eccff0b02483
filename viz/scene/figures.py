"""Actors of a draw list: made once per item, kept while the item stays equal, then only moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.drawlist.item import Item
from viz.drawlist.spans import Spans
from viz.look import LIGHT, Look
from viz.meshes.meshes import mesh
from viz.placement import Array, matrix

Poses = Mapping[str, ArrayLike]
"""Name of a body or frame → (4, 4) world ← that frame."""


class Figure:
    """One item and its actor."""

    def __init__(self, item: Item, look: Look) -> None:
        self.item = item
        self.data = mesh(item.geometry)
        self.mapper = vtkPolyDataMapper()
        self.mapper.SetInputData(self.data)
        self.matrix = vtkMatrix4x4()
        self.actor = vtkActor()
        self.actor.SetMapper(self.mapper)
        self.actor.SetUserMatrix(self.matrix)
        self.pose = np.eye(4)
        self.place = matrix(item.placement)
        self.paint(look)

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        own_colours = self.data.GetPointData().GetScalars() is not None and not self.item.paint_over
        self.mapper.SetScalarVisibility(own_colours)
        shine(self.actor, look.colour(self.item.colour), self.item.role)
        self.actor.GetProperty().SetOpacity(self.item.opacity)

    @property
    def bounds(self) -> tuple[float, ...]:
        """The box (xmin, xmax, ymin, ymax, zmin, zmax) around it where it is now, m; meaningless without points."""
        return self.actor.GetBounds()

    def put(self, pose: Array, row: Sequence[float]) -> None:
        """Move the actor; `row` is the pose as sixteen numbers."""
        self.pose = pose
        self.matrix.DeepCopy(row)


def shine(actor: vtkActor, colour: tuple[float, float, float], role: str = "shape") -> None:
    """Give an actor a colour and the soft material of its role."""
    surface = actor.GetProperty()
    surface.SetColor(*colour)
    surface.SetInterpolationToPhong()
    surface.SetAmbient(0.2)
    surface.SetDiffuse(0.84)
    surface.SetSpecular({"joint": 0.28, "shape": 0.16, "link": 0.14, "inertia": 0.1}.get(role, 0.1))
    surface.SetSpecularPower(32.0)
    if role in ("frame", "com"):
        surface.SetAmbient(0.35)
        surface.SetDiffuse(0.7)
    surface.SetLineWidth(1.6)


IN_FRONT = ("com", "frame")
"""Roles drawn in front of the machine, which would hide them."""
WORDS = ("label", "dimension")
"""Roles that are words: `Labels` writes them."""
STANDING = ("ground", "shape", "link", "joint")
"""Roles of what stands on the ground."""


class Figures:
    """All actors of a draw list, in a renderer and one in front of it."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: Look = LIGHT) -> None:
        self.renderer, self.front = renderer, front
        self.look = look
        self.table: dict[str, Figure] = {}
        self.items: tuple[Item, ...] = ()
        self.is_shown: Callable[[Item], bool] = lambda item: item.shown
        self._places = np.zeros((0, 4, 4))
        self._stiff: list[Figure] = []
        self._stretched: list[Figure] = []
        self._spans = Spans(())
        self._poses: Poses = {}

    def reconcile(self, items: tuple[Item, ...], poses: Poses) -> None:
        """Draw these items at poses: unchanged ones keep their actors, others are made, replaced or dropped."""
        self.items, self._poses = items, poses
        self.refresh()

    def refresh(self) -> None:
        """Follow changes of what is to be shown."""
        wanted = {item.id: item for item in self.items if item.role not in WORDS and self.is_shown(item)}
        for name in [n for n, figure in self.table.items() if n not in wanted or not _same(figure, wanted[n])]:
            figure = self.table.pop(name)
            self._layer(figure.item).RemoveActor(figure.actor)
        for name, item in wanted.items():
            known = self.table.get(name)
            if known is None:
                figure = self.table[name] = Figure(item, self.look)
                self._layer(item).AddActor(figure.actor)
            elif known.item != item:
                known.item = item
                known.place = matrix(item.placement)
                known.paint(self.look)
        self._arrange()
        self.move(self._poses)

    def _layer(self, item: Item) -> vtkRenderer:
        return self.front if item.role in IN_FRONT else self.renderer

    def _arrange(self) -> None:
        self._stiff = [figure for figure in self.table.values() if figure.item.is_stiff]
        self._stretched = [figure for figure in self.table.values() if not figure.item.is_stiff]
        self._spans = Spans([figure.item for figure in self._stretched])
        self._places = np.array([figure.place for figure in self._stiff]).reshape(-1, 4, 4)

    def move(self, poses: Poses) -> None:
        """Put every actor where its frame is now. Frames without a pose stay at the world's origin."""
        self._poses = poses
        identity = np.eye(4)
        if self._stiff:
            frames = np.array([poses.get(figure.item.frame, identity) for figure in self._stiff], dtype=float)
            placed = frames @ self._places
            for figure, pose, row in zip(self._stiff, placed, placed.reshape(-1, 16).tolist(), strict=True):
                figure.put(pose, row)
        if self._stretched:
            placed = self._spans.poses(poses)
            for figure, pose, row in zip(self._stretched, placed, placed.reshape(-1, 16).tolist(), strict=True):
                figure.put(pose, row)

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        self.look = look
        for figure in self.table.values():
            figure.paint(look)

    @property
    def lowest(self) -> float:
        """Height of the lowest point of what stands on the ground, m; 0 if there is nothing."""
        standing = (each for each in self.table.values() if each.item.role in STANDING)
        return min((each.bounds[4] for each in standing if each.data.GetNumberOfPoints()), default=0.0)

    def of(self, ref: object) -> list[Figure]:
        """The figures of an element."""
        return [figure for figure in self.table.values() if figure.item.ref == ref]


def _same(figure: Figure, item: Item) -> bool:
    """True if the actor can stay: what differs, if anything, is only the place or the colour."""
    return figure.item.geometry == item.geometry and figure.item.role == item.role


def ghostly(item: Item, opacity: float) -> Item:
    """The item as a see-through copy."""
    return replace(item, opacity=opacity * item.opacity, ref=None)

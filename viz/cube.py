"""The orientation cube in the upper right corner: shows where the axes point; its faces, edges and corners can be
picked to look from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer
from vtkmodules.vtkRenderingFreeType import vtkVectorText

from viz import camera
from viz import geometry as g
from viz.camera import View
from viz.figures import shine
from viz.look import Look
from viz.meshes import mesh
from viz.picking import Target, nearest
from viz.placement import Array, shifted
from viz.polydata import moved, with_normals

SIDE = 108
"""Pixels of the corner."""
MARGIN = 6
RIM = 0.3
"""Parts of the half edge nearer than this to an edge belong to the edge."""
FACES = {
    "FRONT": ((1, 0, 0), (0, 0, 1)),
    "BACK": ((-1, 0, 0), (0, 0, 1)),
    "RIGHT": ((0, 1, 0), (0, 0, 1)),
    "LEFT": ((0, -1, 0), (0, 0, 1)),
    "TOP": ((1, 0, 0), (0, 1, 0)),
    "BOTTOM": ((1, 0, 0), (0, -1, 0)),
}
"""Directions right and up of the writing on each face."""
_BODY = g.Box((2.0, 2.0, 2.0), 0.16)
_AXES = g.Triad(1.55)
Direction = tuple[int, int, int]


class Cube:
    """The cube and its own small renderer."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.renderer = renderer
        self.visible = True
        self.hovered: Direction | None = None
        self._view = View(parallel=True)
        self._corner = (0, 0, 1)
        self._body, self._axes, self._lit = _actor(_BODY), _actor(_AXES), _actor(g.Box((1.0, 1.0, 1.0)))
        self._axes.SetPosition(-1.12, -1.12, -1.12)
        self._lit.SetVisibility(False)
        self._letters = [_writing(text, right, up) for text, (right, up) in FACES.items()]
        for actor in (self._body, self._axes, self._lit, *self._letters):
            renderer.AddActor(actor)
        self.paint(look)

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        shine(self._body, look.colour("cube"))
        shine(self._axes, look.colour("joint"), "frame")
        shine(self._lit, look.colour("cube_hover"))
        for letters in self._letters:
            surface = letters.GetProperty()
            surface.SetColor(*look.colour("text"))
            surface.SetAmbient(1.0)
            surface.SetDiffuse(0.0)

    def fit(self, view: View, size: tuple[int, int], pixel_ratio: float, visible: bool) -> None:
        """Turn with the view; keep the corner's size in pixels."""
        side, margin = round(SIDE * pixel_ratio), round(MARGIN * pixel_ratio)
        self.visible = visible and size[0] > 3 * side and size[1] > 2 * side
        self.renderer.SetDraw(self.visible)
        self._corner = (size[0] - margin - side, margin, side)
        left, top, _ = self._corner
        low = size[1] - top - side
        self.renderer.SetViewport(left / size[0], low / size[1], (left + side) / size[0], (low + side) / size[1])
        reach = 2.05 / np.tan(camera.FIELD_OF_VIEW / 2.0)
        self._view = replace(view, target=(0.0, 0.0, 0.0), distance=float(reach), parallel=True)
        camera.apply(self._view, self.renderer.GetActiveCamera())
        self.renderer.ResetCameraClippingRange()

    def pick(self, x: float, y: float) -> Direction | None:
        """The direction of the face, edge or corner under a pixel, each component −1, 0 or 1."""
        left, top, side = self._corner
        if not self.visible or not (left <= x <= left + side and top <= y <= top + side):
            return None
        ray = camera.ray(self._view, (side, side), x - left, y - top)
        met = nearest(ray, [Target(_BODY, np.eye(4), None)])
        if met is None:
            return None
        a, b, c = (int(np.sign(u)) if abs(u) > 1.0 - RIM else 0 for u in met.position)
        return a, b, c

    def hover(self, direction: Direction | None) -> None:
        """Light up a face, an edge or a corner."""
        if direction == self.hovered:
            return
        self.hovered = direction
        self._lit.SetVisibility(direction is not None)
        if direction is not None:
            way = np.array(direction, dtype=float)
            middle = 2.0 * (1.0 - RIM)
            self._lit.SetScale(*np.where(way != 0.0, RIM + 0.03, middle))
            self._lit.SetPosition(*(way * (1.0 - RIM / 2.0 + 0.0)))


def _actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


def _writing(text: str, right: Direction, up: Direction) -> vtkActor:
    """The name of a face, just above it."""
    letters = vtkVectorText()
    letters.SetText(text)
    letters.Update()
    x0, x1, y0, y1, _, _ = letters.GetOutput().GetBounds()
    scale = min(1.42 / (x1 - x0), 0.42 / (y1 - y0))
    pose: Array = np.eye(4)
    x, y = np.array(right, dtype=float), np.array(up, dtype=float)
    pose[:3, 0], pose[:3, 1], pose[:3, 2] = x, y, np.cross(x, y)
    pose[:3, 3] = 1.035 * np.cross(x, y)
    centred = pose @ np.diag([scale, scale, scale, 1.0]) @ shifted(-(x0 + x1) / 2.0, -(y0 + y1) / 2.0, 0.0)
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(with_normals(moved(letters.GetOutput(), centred)))
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor

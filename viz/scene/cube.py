"""Orientation cube in the upper right corner: it shows the directions of the axes; clicking a face, edge or corner
selects the view from there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkFiltersSources import vtkPlaneSource
from vtkmodules.vtkRenderingCore import (
    vtkActor,
    vtkPolyDataMapper,
    vtkRenderer,
    vtkTextProperty,
    vtkTextRenderer,
    vtkTexture,
)

from viz import camera
from viz.camera import CameraView
from viz.drawlist import geometry as g
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.scene.figures import set_material
from viz.scene.picking import PickTarget, nearest_hit

SIDE = 108
"""Side of the cube's viewport, pixels."""
MARGIN = 6
RIM = 0.3
"""Distance from an edge, in half edges, within which the pointer picks the edge rather than the face."""
FACES = {
    "FRONT": ((1, 0, 0), (0, 0, 1)),
    "BACK": ((-1, 0, 0), (0, 0, 1)),
    "RIGHT": ((0, 1, 0), (0, 0, 1)),
    "LEFT": ((0, -1, 0), (0, 0, 1)),
    "TOP": ((1, 0, 0), (0, 1, 0)),
    "BOTTOM": ((1, 0, 0), (0, -1, 0)),
}
"""Directions to the right and upward of the text on each face."""
_BODY = g.Box((2.0, 2.0, 2.0), 0.16)
_AXES = g.Triad(1.55, heads=True)
Direction = tuple[int, int, int]


def has_room_for_cube(width: float, height: float) -> bool:
    """Return True if a picture of this size, in logical pixels, has enough space for the cube."""
    return width > 3 * SIDE and height > 2 * SIDE


class OrientationCube:
    """Orientation cube with a renderer of its own."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.renderer = renderer
        self.visible = True
        self.hovered: Direction | None = None
        self._view = CameraView(parallel=True)
        self._corner = (0, 0, 1)
        self._body, self._axes, self._lit = (
            _create_actor(_BODY),
            _create_actor(_AXES),
            _create_actor(g.Box((1.0, 1.0, 1.0))),
        )
        self._axes.SetPosition(-1.12, -1.12, -1.12)
        self._lit.SetVisibility(False)
        self._letters = [_create_face_text(text, right, up) for text, (right, up) in FACES.items()]
        for actor in (self._body, self._axes, self._lit, *self._letters):
            renderer.AddActor(actor)
        self.paint(look)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        set_material(self._body, look.resolve_colour("cube"))
        set_material(self._axes, look.resolve_colour("joint"), "frame")
        set_material(self._lit, look.resolve_colour("cube_hover"))
        for letters in self._letters:
            surface = letters.GetProperty()
            surface.SetColor(*look.resolve_colour("text"))
            surface.SetAmbient(1.0)
            surface.SetDiffuse(0.0)

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float, visible: bool) -> None:
        """Turn the cube with the view, at a constant size in pixels."""
        side, margin = round(SIDE * pixel_ratio), round(MARGIN * pixel_ratio)
        self.visible = visible and has_room_for_cube(size[0] / pixel_ratio, size[1] / pixel_ratio)
        self.renderer.SetDraw(self.visible)
        self._corner = (size[0] - margin - side, margin, side)
        left, top, _ = self._corner
        low = size[1] - top - side
        self.renderer.SetViewport(left / size[0], low / size[1], (left + side) / size[0], (low + side) / size[1])
        reach = 2.05 / np.tan(camera.FIELD_OF_VIEW / 2.0)
        self._view = replace(view, target=(0.0, 0.0, 0.0), distance=float(reach), parallel=True)
        camera.apply_to_camera(self._view, self.renderer.GetActiveCamera())
        self.renderer.ResetCameraClippingRange()

    def pick(self, x: float, y: float) -> Direction | None:
        """Return the direction of the face, edge or corner at a pixel, with components −1, 0 or 1."""
        left, top, side = self._corner
        if not self.visible or not (left <= x <= left + side and top <= y <= top + side):
            return None
        ray = camera.line_of_sight(self._view, (side, side), x - left, y - top)
        met = nearest_hit(ray, [PickTarget(_BODY, np.eye(4), None)])
        if met is None:
            return None
        a, b, c = (int(np.sign(u)) if abs(u) > 1.0 - RIM else 0 for u in met.position)
        return a, b, c

    def hover(self, direction: Direction | None) -> None:
        """Highlight a face, an edge or a corner."""
        if direction == self.hovered:
            return
        self.hovered = direction
        self._lit.SetVisibility(direction is not None)
        if direction is not None:
            outward = np.array(direction, dtype=float)
            middle = 2.0 * (1.0 - RIM)
            self._lit.SetScale(*np.where(outward != 0.0, RIM + 0.03, middle))
            self._lit.SetPosition(*(outward * (1.0 - RIM / 2.0)))


def _create_actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(get_mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


def _create_face_text(text: str, right: Direction, up: Direction) -> vtkActor:
    """Return the name of a face as an image just above the face; an image is smooth without multisampling."""
    letters, dimensions = vtkImageData(), [0, 0]
    style = vtkTextProperty()
    style.SetFontFamilyToArial()
    style.SetFontSize(48)
    style.SetColor(1.0, 1.0, 1.0)
    style.BoldOn()
    vtkTextRenderer.GetInstance().RenderString(style, text, letters, dimensions, 72)
    x, y = np.array(right, dtype=float), np.array(up, dtype=float)
    height = 0.5 * letters.GetDimensions()[1] / dimensions[1]
    width = height * letters.GetDimensions()[0] / letters.GetDimensions()[1]
    shrink = min(1.0, 1.5 / (width * dimensions[0] / letters.GetDimensions()[0]))
    x, y = shrink * width * x, shrink * height * y
    # the letters fill the lower left part of the image
    share = np.array(dimensions) / letters.GetDimensions()[:2]
    corner = 1.02 * np.cross(right, up) - share[0] / 2.0 * x - share[1] / 2.0 * y
    plane = vtkPlaneSource()
    plane.SetOrigin(*corner)
    plane.SetPoint1(*(corner + x))
    plane.SetPoint2(*(corner + y))
    texture = vtkTexture()
    texture.SetInputData(letters)
    texture.InterpolateOn()
    texture.MipmapOn()
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(plane.GetOutputPort())
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.SetTexture(texture)
    actor.ForceTranslucentOn()
    actor.GetProperty().BackfaceCullingOn()
    return actor

"""Handle of a plane: an arrow along the normal moves the plane, two rings rotate it, an outline shows its position.

Of constant size on the screen, in front of everything, yellow under the pointer.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from core.later import dataclass
from viz.camera import CameraView, Ray, metres_per_pixel
from viz.drawlist import geometry as g
from viz.drawlist.joint_handles import HandleGrip
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import line_mesh, vtk_matrix
from viz.placement import Array
from viz.scene.picking import PickTarget, nearest_hit

RING = 58.0
"""Radius of a ring, pixels."""
ARROW = 84.0
"""Length of the arrow, pixels."""


@dataclass(frozen=True)
class PlanePart:
    """Draggable part of the handle. kind : slide or turn; axis : 0 and 1 are the axes of the plane, 2 its normal;
    drawn, gripped : form that is drawn, and form used for picking (pixels)."""

    name: str
    kind: Literal["turn", "slide"]
    axis: int
    colour: str
    drawn: g.Geometry
    gripped: g.Geometry


PARTS = (
    PlanePart("move", "slide", 2, "z", g.Arrow(ARROW, 2.2, 7.5, 20.0), g.Arrow(ARROW + 6.0, 8.0, 11.0, 28.0)),
    PlanePart("turn about u", "turn", 0, "x", g.Arc(RING, 2.3), g.Arc(RING, 8.0)),
    PlanePart("turn about v", "turn", 1, "y", g.Arc(RING, 2.3), g.Arc(RING, 8.0)),
)


class PlanePosition(NamedTuple):
    """Position of the handle. centre : (3,) m; axes : (2, 3) unit vectors of the plane; half : half side of its
    outline, m."""

    centre: Array
    axes: Array
    half: float

    @property
    def axes_and_normal(self) -> Array:
        """Axes and normal of the plane as columns (3, 3)."""
        return np.column_stack([*self.axes, np.cross(self.axes[0], self.axes[1])])

    def moved_by(self, part: PlanePart, amount: float) -> PlanePosition:
        """Return the position after a part has been dragged by an amount, m or rad."""
        frame = self.axes_and_normal
        if part.kind == "slide":
            return self._replace(centre=self.centre + amount * frame[:, part.axis])
        other = 1 - part.axis
        c, s = np.cos(amount), np.sin(amount)
        axis, turned = frame[:, part.axis], frame[:, other]
        axes = self.axes.copy()
        axes[other] = c * turned + s * np.cross(axis, turned)
        return self._replace(axes=axes)


class PlaneHandle:
    """Handle of one plane, or hidden."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.place: PlanePosition | None = None
        self.lit: PlanePart | None = None
        self._look, self._scale = look, 1.0
        self._actors = {part.name: _create_actor(part.drawn) for part in PARTS}
        self._frame = vtkActor()
        square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(line_mesh(square, np.array([[0, 1], [1, 2], [2, 3], [3, 0]])))
        self._frame.SetMapper(mapper)
        self._frame.PickableOff()
        for actor in (*self._actors.values(), self._frame):
            actor.SetVisibility(False)
            renderer.AddActor(actor)

    def show_handle(self, place: PlanePosition | None, framed: bool = False) -> None:
        """Show the handle at a position (None: hide it); framed : True to draw the outline of the plane as well."""
        self.place = place
        for actor in self._actors.values():
            actor.SetVisibility(place is not None)
        self._frame.SetVisibility(place is not None and framed)
        if place is None:
            self.lit = None

    def highlight(self, part: PlanePart | None) -> None:
        """Highlight the part that is hovered or dragged."""
        if part is not self.lit:
            self.lit = part
            self.paint(self._look)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self._look = look
        for part in PARTS:
            colour = look.resolve_colour("dragged" if part is self.lit else part.colour)
            self._actors[part.name].GetProperty().SetColor(*colour)
        self._frame.GetProperty().SetColor(*look.resolve_colour("dragged"))
        self._frame.GetProperty().SetLighting(False)

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> None:
        """Keep the size on the screen constant."""
        if self.place is None:
            return
        self._scale = metres_per_pixel(view, size, self.place.centre) * pixel_ratio
        for part in PARTS:
            self._actors[part.name].SetUserMatrix(vtk_matrix(self._part_pose(part)))
        half = self.place.half
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = self.place.axes_and_normal * np.array([half, half, 1.0]), self.place.centre
        self._frame.SetUserMatrix(vtk_matrix(frame))
        self._frame.GetProperty().SetLineWidth(2.0 * pixel_ratio)

    def _part_pose(self, part: PlanePart) -> Array:
        """Return the pose (4, 4) of a part, with z along its axis."""
        assert self.place is not None
        frame, pose = self.place.axes_and_normal, np.eye(4)
        order = [(part.axis + 1) % 3, (part.axis + 2) % 3, part.axis]
        pose[:3, :3], pose[:3, 3] = frame[:, order] * self._scale, self.place.centre
        return pose

    def pick(self, ray: Ray) -> PlanePart | None:
        """Return the part that a ray meets."""
        if self.place is None:
            return None
        met = nearest_hit(ray, [PickTarget(part.gripped, self._part_pose(part), part) for part in PARTS])
        return met.meaning if met is not None else None  # type: ignore[return-value]

    def create_grip(self, part: PlanePart) -> HandleGrip:
        """Return the data for dragging a part."""
        assert self.place is not None
        return HandleGrip(part.kind, self.place.centre, self.place.axes_and_normal[:, part.axis], RING * self._scale)


def _create_actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(get_mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.PickableOff()
    actor.GetProperty().SetAmbient(0.55)
    actor.GetProperty().SetDiffuse(0.5)
    return actor

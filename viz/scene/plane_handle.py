"""Handle of a plane: an arrow along its normal moves it, two rings rotate it; an outline shows its position.

Of constant size on the screen, in front of everything, yellow under the pointer.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from core.later import dataclass
from viz.camera import Ray, View, metres_per_pixel
from viz.drawlist import geometry as g
from viz.drawlist.joint_handles import Grip
from viz.look import Look
from viz.meshes.meshes import mesh
from viz.meshes.polydata import vtk_matrix, wire
from viz.placement import Array
from viz.scene.picking import Target, nearest

RING = 58.0
"""Radius of a ring, pixels."""
ARROW = 84.0
"""Length of the arrow, pixels."""


@dataclass(frozen=True)
class PlanePart:
    """Draggable part of the handle. kind : slide or turn; axis : 0, 1 the axes of the plane, 2 its normal; drawn,
    gripped : drawn form, and form for picking (pixels)."""

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


class PlanePlace(NamedTuple):
    """Position of the handle. centre : (3,) m; axes : (2, 3) unit vectors of the plane; half : half side of its
    outline, m."""

    centre: Array
    axes: Array
    half: float

    @property
    def frame(self) -> Array:
        """Axes and normal as columns (3, 3)."""
        return np.column_stack([*self.axes, np.cross(self.axes[0], self.axes[1])])

    def moved(self, part: PlanePart, amount: float) -> PlanePlace:
        """Return the position after a drag of a part by an amount, m or rad."""
        frame = self.frame
        if part.kind == "slide":
            return self._replace(centre=self.centre + amount * frame[:, part.axis])
        other = 1 - part.axis
        c, s = np.cos(amount), np.sin(amount)
        axis, turned = frame[:, part.axis], frame[:, other]
        axes = self.axes.copy()
        axes[other] = c * turned + s * np.cross(axis, turned)
        return self._replace(axes=axes)


class PlaneHandle:
    """Handle of at most one plane."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.place: PlanePlace | None = None
        self.lit: PlanePart | None = None
        self._look, self._scale = look, 1.0
        self._actors = {part.name: _actor(part.drawn) for part in PARTS}
        self._frame = vtkActor()
        square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(wire(square, np.array([[0, 1], [1, 2], [2, 3], [3, 0]])))
        self._frame.SetMapper(mapper)
        self._frame.PickableOff()
        for actor in (*self._actors.values(), self._frame):
            actor.SetVisibility(False)
            renderer.AddActor(actor)

    def show(self, place: PlanePlace | None, framed: bool = False) -> None:
        """Show the handle at a position (None: hide it); framed : True to draw the plane's outline, too."""
        self.place = place
        for actor in self._actors.values():
            actor.SetVisibility(place is not None)
        self._frame.SetVisibility(place is not None and framed)
        if place is None:
            self.lit = None

    def light(self, part: PlanePart | None) -> None:
        """Highlight the hovered or dragged part."""
        if part is not self.lit:
            self.lit = part
            self.paint(self._look)

    def paint(self, look: Look) -> None:
        """Apply the colours of a look."""
        self._look = look
        for part in PARTS:
            colour = look.colour("dragged" if part is self.lit else part.colour)
            self._actors[part.name].GetProperty().SetColor(*colour)
        self._frame.GetProperty().SetColor(*look.colour("dragged"))
        self._frame.GetProperty().SetLighting(False)

    def fit(self, view: View, size: tuple[int, int], pixel_ratio: float) -> None:
        """Keep the size on the screen constant."""
        if self.place is None:
            return
        self._scale = metres_per_pixel(view, size, self.place.centre) * pixel_ratio
        for part in PARTS:
            self._actors[part.name].SetUserMatrix(vtk_matrix(self._pose(part)))
        half = self.place.half
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = self.place.frame * np.array([half, half, 1.0]), self.place.centre
        self._frame.SetUserMatrix(vtk_matrix(frame))
        self._frame.GetProperty().SetLineWidth(2.0 * pixel_ratio)

    def _pose(self, part: PlanePart) -> Array:
        """Return the pose (4, 4) of a part, with z along its axis."""
        assert self.place is not None
        frame, pose = self.place.frame, np.eye(4)
        order = [(part.axis + 1) % 3, (part.axis + 2) % 3, part.axis]
        pose[:3, :3], pose[:3, 3] = frame[:, order] * self._scale, self.place.centre
        return pose

    def pick(self, ray: Ray) -> PlanePart | None:
        """Return the part that a ray meets."""
        if self.place is None:
            return None
        met = nearest(ray, [Target(part.gripped, self._pose(part), part) for part in PARTS])
        return met.meaning if met is not None else None  # type: ignore[return-value]

    def grip(self, part: PlanePart) -> Grip:
        """Return the data for dragging a part."""
        assert self.place is not None
        return Grip(part.kind, self.place.centre, self.place.frame[:, part.axis], RING * self._scale)


def _actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.PickableOff()
    actor.GetProperty().SetAmbient(0.55)
    actor.GetProperty().SetDiffuse(0.5)
    return actor

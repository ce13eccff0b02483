"""A handle of arrows and rings about the axes of a frame: of constant size on the screen, in front of everything,
yellow under the pointer. That of a frame of the machine has all six."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from core.later import dataclass
from viz.camera import CameraView, Ray, metres_per_pixel
from viz.drawlist import geometry as g
from viz.drawlist.joint_handles import HandleGrip
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import Array
from viz.scene.picking import PickTarget, nearest_hit

RING = 58.0
"""Radius of a ring, pixels."""
ARROW = 84.0
"""Length of an arrow, pixels."""


@dataclass(frozen=True)
class AxisPart:
    """Draggable part of a handle: an arrow along an axis, or a ring about it. axis : 0, 1, 2"""

    name: str
    kind: Literal["turn", "slide"]
    axis: int
    colour: str

    @property
    def drawn(self) -> g.Geometry:
        """Form that is drawn, pixels."""
        return g.Arrow(ARROW, 2.2, 7.5, 20.0) if self.kind == "slide" else g.Arc(RING, 2.3)

    @property
    def gripped(self) -> g.Geometry:
        """Form that is used for picking, pixels."""
        return g.Arrow(ARROW + 6.0, 8.0, 11.0, 28.0) if self.kind == "slide" else g.Arc(RING, 8.0)


class AxisHandle:
    """Arrows and rings at a place, or hidden."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme, parts: Sequence[AxisPart]) -> None:
        self.parts = tuple(parts)
        self.lit: AxisPart | None = None
        self.pose: tuple[Array, Array] | None = None
        """Centre (3,), m, and axes (3, 3) as columns; None while hidden."""
        self._look, self._scale = look, 1.0
        self._actors = {part.name: _create_actor(part.drawn) for part in self.parts}
        for actor in self._actors.values():
            actor.SetVisibility(False)
            renderer.AddActor(actor)
        self.paint(look)

    def show_at(self, centre: Array | None, axes: Array | None) -> None:
        """Show the handle at a centre (3,) with axes (3, 3) as columns (None: hide it)."""
        self.pose = None if centre is None or axes is None else (np.array(centre), np.array(axes))
        for actor in self._actors.values():
            actor.SetVisibility(self.pose is not None)
        if self.pose is None:
            self.lit = None

    def highlight(self, part: AxisPart | None) -> None:
        """Highlight the part that is hovered or dragged."""
        if part is not self.lit:
            self.lit = part
            self.paint(self._look)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self._look = look
        for part in self.parts:
            colour = look.resolve_colour("dragged" if part is self.lit else part.colour)
            self._actors[part.name].GetProperty().SetColor(*colour)

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> None:
        """Keep the size on the screen constant."""
        if self.pose is None:
            return
        self._scale = metres_per_pixel(view, size, self.pose[0]) * pixel_ratio
        for part in self.parts:
            self._actors[part.name].SetUserMatrix(vtk_matrix(self._part_pose(part)))

    def _part_pose(self, part: AxisPart) -> Array:
        """Return the pose (4, 4) of a part, with z along its axis."""
        assert self.pose is not None
        centre, axes = self.pose
        pose = np.eye(4)
        order = [(part.axis + 1) % 3, (part.axis + 2) % 3, part.axis]
        pose[:3, :3], pose[:3, 3] = axes[:, order] * self._scale, centre
        return pose

    def pick(self, ray: Ray) -> AxisPart | None:
        """Return the part that a ray meets."""
        if self.pose is None:
            return None
        met = nearest_hit(ray, [PickTarget(part.gripped, self._part_pose(part), part) for part in self.parts])
        return met.meaning if met is not None else None  # type: ignore[return-value]

    def create_grip(self, part: AxisPart) -> HandleGrip:
        """Return the data for dragging a part."""
        assert self.pose is not None
        centre, axes = self.pose
        return HandleGrip(part.kind, centre, axes[:, part.axis], RING * self._scale)


class FrameHandle(AxisHandle):
    """Handle of a frame of the machine: it moves along and turns about each of three axes."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        slides = [AxisPart(f"move along {axis}", "slide", k, axis) for k, axis in enumerate("xyz")]
        turns = [AxisPart(f"turn about {axis}", "turn", k, axis) for k, axis in enumerate("xyz")]
        super().__init__(renderer, look, (*slides, *turns))


def _create_actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(get_mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.PickableOff()
    actor.GetProperty().SetAmbient(0.55)
    actor.GetProperty().SetDiffuse(0.5)
    return actor

"""Handle of a plane: an arrow along the normal moves the plane, two rings rotate it, an outline shows its position."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.camera import CameraView
from viz.look import ColourScheme
from viz.meshes.polydata import line_mesh, vtk_matrix
from viz.placement import Array
from viz.scene.axis_handle import AxisHandle, AxisPart

PARTS = (
    AxisPart("move", "slide", 2, "z"),
    AxisPart("turn about u", "turn", 0, "x"),
    AxisPart("turn about v", "turn", 1, "y"),
)
"""Axes 0 and 1 are those of the plane, 2 is its normal."""


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

    def moved_by(self, part: AxisPart, amount: float) -> PlanePosition:
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


class PlaneHandle(AxisHandle):
    """Handle of one plane, or hidden."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.place: PlanePosition | None = None
        self._frame = vtkActor()
        super().__init__(renderer, look, PARTS)
        square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(line_mesh(square, np.array([[0, 1], [1, 2], [2, 3], [3, 0]])))
        self._frame.SetMapper(mapper)
        self._frame.PickableOff()
        self._frame.SetVisibility(False)
        renderer.AddActor(self._frame)

    def show_handle(self, place: PlanePosition | None, framed: bool = False) -> None:
        """Show the handle at a position (None: hide it); framed : True to draw the outline of the plane as well."""
        self.place = place
        self.show_at(*((None, None) if place is None else (place.centre, place.axes_and_normal)))
        self._frame.SetVisibility(place is not None and framed)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        super().paint(look)
        self._frame.GetProperty().SetColor(*look.resolve_colour("dragged"))
        self._frame.GetProperty().SetLighting(False)

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> None:
        """Keep the size on the screen constant."""
        super().fit(view, size, pixel_ratio)
        if self.place is None:
            return
        half = self.place.half
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = self.place.axes_and_normal * np.array([half, half, 1.0]), self.place.centre
        self._frame.SetUserMatrix(vtk_matrix(frame))
        self._frame.GetProperty().SetLineWidth(2.0 * pixel_ratio)

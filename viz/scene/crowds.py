"""Many figures of one form, drawn at once: the form is handed to OpenGL one time, with all places and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkDataArray, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper, vtkRenderer

from viz.placement import Array

if TYPE_CHECKING:
    from viz.look import Look
    from viz.scene.figures import Figure

MANY = 8
"""Figures of one form from which on they are a crowd."""


class Crowd:
    """The one actor of figures that are alike but for pose and colour."""

    def __init__(self, renderer: vtkRenderer, figures: Sequence[Figure], look: Look) -> None:
        self.renderer, self.figures = renderer, figures
        count = len(figures)
        self._points = np.zeros((count, 3), dtype=np.float32)
        self._turns = np.zeros((count, 4), dtype=np.float32)
        self._stretches = np.ones((count, 3), dtype=np.float32)
        self._colours = np.zeros((count, 4), dtype=np.uint8)
        self._places = vtkPolyData()
        points = vtkPoints()
        points.SetData(_shared(self._points))
        self._places.SetPoints(points)
        self._places.GetPointData().AddArray(_shared(self._turns, "turn"))
        self._places.GetPointData().AddArray(_shared(self._stretches, "stretch"))
        self._places.GetPointData().SetScalars(_shared(self._colours, "colour"))
        self.actor = vtkActor()
        self._fine = self._coarse = self._mapper(figures[0].data)
        self.actor.SetMapper(self._fine)
        self.paint(look)
        renderer.AddActor(self.actor)

    def _mapper(self, form: vtkPolyData) -> vtkGlyph3DMapper:
        mapper = vtkGlyph3DMapper()
        mapper.SetInputData(self._places)
        mapper.SetSourceData(form)
        mapper.SetOrientationModeToQuaternion()
        mapper.SetOrientationArray("turn")
        mapper.SetScaleModeToScaleByVectorComponents()
        mapper.SetScaleArray("stretch")
        return mapper

    def remove(self) -> None:
        """Draw them no more."""
        self.renderer.RemoveActor(self.actor)

    def move(self) -> None:
        """Follow the poses of the figures."""
        poses = np.array([figure.pose for figure in self.figures])
        stretches = np.linalg.norm(poses[:, :3, :3], axis=1)
        self._points[:] = poses[:, :3, 3]
        self._stretches[:] = stretches
        self._turns[:] = quaternions(poses[:, :3, :3] / np.maximum(stretches, 1e-300)[:, None, :])
        self._changed()

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        self.actor.GetProperty().DeepCopy(self.figures[0].actor.GetProperty())
        colours = np.array([look.colour(figure.item.colour) for figure in self.figures])
        self._colours[:, :3], self._colours[:, 3] = np.round(255.0 * colours), 255
        self._changed()

    def coarsen(self, on: bool) -> None:
        """Show stand-ins, or the forms themselves."""
        if on and self._coarse.GetSource() is not self.figures[0].stand_in:
            self._coarse = self._mapper(self.figures[0].stand_in)
        self.actor.SetMapper(self._coarse if on else self._fine)

    def _changed(self) -> None:
        for array in range(self._places.GetPointData().GetNumberOfArrays()):
            self._places.GetPointData().GetArray(array).Modified()
        self._places.GetPoints().Modified()
        self._places.Modified()


def quaternions(rotations: Array) -> Array:
    """(n, 4) unit quaternions w, x, y, z of rotation matrices (n, 3, 3): of the rows of 4 q qᵀ, which is linear in the
    matrix, the one that is longest is taken."""
    r = rotations.transpose(1, 2, 0)
    w, x, y, z = 1 + r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    xy, xz, yz = r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] + r[1, 2]
    xx = 1 + r[0, 0] - r[1, 1] - r[2, 2]
    yy = 1 - r[0, 0] + r[1, 1] - r[2, 2]
    zz = 1 - r[0, 0] - r[1, 1] + r[2, 2]
    products = np.array([[w, x, y, z], [x, xx, xy, xz], [y, xy, yy, yz], [z, xz, yz, zz]])
    longest = np.argmax([w, xx, yy, zz], axis=0)
    rows = products[longest, :, np.arange(len(longest))]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _shared(numbers: np.ndarray, name: str = "") -> vtkDataArray:
    """VTK's view of an array."""
    array = numpy_to_vtk(numbers, deep=False)
    array.SetName(name)
    return array

"""Working plane for drawing: a grid with spacing of 1, 2 or 5 times a power of ten, and its two axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.look import Look
from viz.meshes.polydata import coloured, vtk_matrix, wire
from viz.placement import Array

STRONG = 5
"""Number of lines from one strong line to the next."""
FAINT, FULL = 0.32, 0.75
"""Shares of the look's opacity for ordinary and strong grid lines."""
IN_FRONT = -200.0
"""Depth offset by which grid lines are drawn in front of a coplanar face."""
AXES = ("x", "z")
"""Colours of the first and second axis."""


def lines(low: Array, high: Array, step: float) -> tuple[Array, Array]:
    """Return ends (n, 2, 3) of the grid lines over a rectangle (u, v; m), and a mask (n,) of strong lines."""
    ends, strong = [], []
    for axis in (0, 1):
        first, last = np.ceil(low[axis] / step), np.floor(high[axis] / step)
        for k in np.arange(first, last + 1.0):
            line = np.zeros((2, 3))
            line[:, axis] = k * step
            line[:, 1 - axis] = low[1 - axis], high[1 - axis]
            ends.append(line)
            strong.append(bool(k % STRONG == 0))
    return np.array(ends).reshape(-1, 2, 3), np.array(strong, dtype=bool)


class WorkingPlane:
    """Actor of the grid, hidden until `show`."""

    def __init__(self, renderer: vtkRenderer) -> None:
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(vtkPolyData())
        mapper.SetResolveCoincidentTopologyToPolygonOffset()  # a face of a shape may lie in the plane
        mapper.SetRelativeCoincidentTopologyLineOffsetParameters(0.0, IN_FRONT)
        self._actor = vtkActor()
        self._actor.SetMapper(mapper)
        self._actor.GetProperty().LightingOff()
        self._actor.PickableOff()
        self._actor.SetVisibility(False)
        renderer.AddActor(self._actor)
        self._key: object = None

    def show(
        self, X_WD: ArrayLike, low: ArrayLike, high: ArrayLike, step: float, look: Look, axes: bool = True
    ) -> None:
        """Show a grid over a rectangle of a plane. X_WD : (4, 4) world ← u, v, normal; low, high : corners (u, v), m;
        axes : True to draw the lines through the origin as axes"""
        X = np.asarray(X_WD, dtype=float)
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        key = (X.tobytes(), low.tobytes(), high.tobytes(), step, look.name, axes)
        if key == self._key:
            return
        self._key = key
        ends, strong = lines(low, high, step)
        colours = np.empty((len(ends), 4))
        colours[:, :3] = look.colour("grid")
        colours[:, 3] = look.grid_opacity * np.where(strong, FULL, FAINT)
        for axis, colour in enumerate(AXES):
            own = np.all(np.abs(ends[:, :, 1 - axis]) < 1e-9 * step, axis=1) if axes else np.zeros(len(ends), bool)
            colours[own, :3], colours[own, 3] = look.colour(colour), 0.9
        segments = np.arange(2 * len(ends)).reshape(-1, 2)
        data = coloured(wire(ends.reshape(-1, 3), segments), np.repeat(colours, 2, axis=0))
        self._actor.GetMapper().SetInputData(data)
        self._actor.GetMapper().SetScalarVisibility(True)
        self._actor.SetUserMatrix(vtk_matrix(X))
        self._actor.SetVisibility(True)

    @property
    def shown(self) -> bool:
        """True if the grid is visible."""
        return self._key is not None

    def hide(self) -> None:
        """Hide the grid."""
        self._key = None
        self._actor.SetVisibility(False)

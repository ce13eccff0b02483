"""Surroundings of the machine: the ground grid, which fades into the distance, world axes, gravity, and lights; and the
working plane for drawing, a grid with a spacing of 1, 2 or 5 times a power of ten."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkLight, vtkPolyDataMapper, vtkRenderer

from core.model import Model
from viz.drawlist import geometry as g
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import line_mesh, set_colours, vtk_matrix
from viz.placement import Array, evaluate_vector, frame_along
from viz.scene.figures import set_material

LINES = 24
"""Grid lines on each side of the centre."""

LIGHTS = (
    ((-0.5, 0.75, 1.0), 0.74, (1.0, 0.985, 0.96)),
    ((1.0, 0.2, 0.9), 0.42, (0.94, 0.97, 1.0)),
    ((0.0, -0.9, 0.7), 0.2, (1.0, 0.97, 0.94)),
    ((0.1, 0.8, -0.8), 0.3, (1.0, 1.0, 1.0)),
)
"""Key, fill, floor and rim light: direction in camera axes (right, up, toward the eye), strength, and colour."""
STRONG = 5
"""Every how many lines a line of the grid is strong."""
FAINT, FULL = 0.32, 0.75
"""Shares of the look's opacity for ordinary and strong grid lines."""
IN_FRONT = -200.0
"""Depth offset by which grid lines are drawn in front of coplanar faces."""
AXES = ("x", "z")
"""Colours of the first and second axis of the working plane."""


def grid_spacing(length: float) -> float:
    """Return the largest round number (1, 2 or 5 times a power of ten) that is below a length, m."""
    power = 10.0 ** floor(log10(max(length, 1e-9)))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= length * (1.0 + 1e-12))


def grid_lines(
    step: float, center: Array, height: float, colour: tuple[float, float, float], opacity: float
) -> vtkPolyData:
    """Return lines at multiples of `step` (every fifth stronger), fading out with distance from `center` (2,)."""
    middle = np.round(center / step)
    count = 2 * LINES + 1
    offsets, cuts = np.meshgrid(np.arange(-LINES, LINES + 1.0), np.linspace(-LINES, LINES, count), indexing="ij")
    fade = np.clip(1.0 - np.hypot(offsets, cuts) / LINES, 0.0, 1.0) ** 1.4
    points, colours = np.zeros((2, count, count, 3)), np.empty((2, count, count, 4))
    colours[..., :3] = colour
    for axis in (0, 1):
        points[axis, ..., axis], points[axis, ..., 1 - axis] = offsets, cuts
        strong = np.where(np.round(middle[axis] + offsets) % 5 == 0, 1.0, 0.45)
        colours[axis, ..., 3] = opacity * strong * fade
    place = np.array([*(middle * step), height])
    starts = np.arange(2 * count * count).reshape(2 * count, count)[:, :-1].ravel()
    segments = np.column_stack([starts, starts + 1])
    return set_colours(line_mesh(points.reshape(-1, 3) * [step, step, 1.0] + place, segments), colours.reshape(-1, 4))


class Surroundings:
    """Actors around the machine."""

    def __init__(self, renderer: vtkRenderer) -> None:
        self.renderer = renderer
        self._grid = _create_actor()
        self._grid.GetProperty().LightingOff()
        self._axes = _create_actor()
        self._gravity = _create_actor()
        self._key: object = None
        self._size = 1.0
        self.has_gravity = False
        for actor in (self._grid, self._axes, self._gravity):
            actor.PickableOff()
            renderer.AddActor(actor)

    def fit_to_machine(
        self, model: Model, values: dict[str, float], size: float, floor_height: float, look: ColourScheme
    ) -> None:
        """Scale grid, axes and gravity arrow for a machine of the given size (m), with the floor at the given height
        (m)."""
        key = (model.world, size, floor_height, look.name, tuple(values.items()))
        if key == self._key:
            return
        self._key = key
        step = grid_spacing(size / 6.0)
        data = grid_lines(step, np.zeros(2), floor_height, look.resolve_colour("grid"), look.grid_opacity)
        self._grid.GetMapper().SetInputData(data)
        self._grid.GetMapper().SetScalarVisibility(True)
        self._size = size
        self._fit_axes()
        set_material(self._axes, look.resolve_colour("joint"), "frame")
        self._show_gravity(model, values, size, look)

    def _fit_axes(self) -> None:
        """Scale the world axes to the machine; they are created when first shown."""
        if self._axes.GetVisibility():
            self._axes.GetMapper().SetInputData(get_mesh(g.Triad(0.22 * self._size)))

    def _show_gravity(self, model: Model, values: dict[str, float], size: float, look: ColourScheme) -> None:
        gravity = model.world.gravity
        place = np.array([-0.36, -0.3, 0.7]) * size
        direction = evaluate_vector(gravity.acceleration, values)
        if gravity.kind == "point":
            direction = evaluate_vector(gravity.center, values) - place
        self.has_gravity = gravity.kind != "none" and bool(np.any(direction))
        arrow = g.Arrow(0.28 * size, 0.006 * size, 0.02 * size, 0.07 * size)
        self._gravity.GetMapper().SetInputData(get_mesh(arrow))
        self._gravity.SetUserMatrix(vtk_matrix(frame_along(direction, place)))
        set_material(self._gravity, look.resolve_colour("gravity"))

    def set_visible_parts(self, ground: bool, axes: bool, gravity: bool) -> None:
        """Show or hide ground, axes and gravity arrow."""
        self._grid.SetVisibility(ground)
        self._axes.SetVisibility(axes)
        self._fit_axes()
        self._gravity.SetVisibility(gravity and self.has_gravity)


def _create_actor() -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(vtkPolyData())
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


def set_soft_lights(renderer: vtkRenderer, strength: float) -> None:
    """Replace the lights of a renderer by soft lights that are fixed to the camera."""
    renderer.RemoveAllLights()
    renderer.AutomaticLightCreationOff()
    for place, intensity, colour in LIGHTS:
        light = vtkLight()
        light.SetLightTypeToCameraLight()
        light.SetPosition(*place)
        light.SetFocalPoint(0.0, 0.0, 0.0)
        light.SetIntensity(intensity * strength)
        light.SetColor(*colour)
        renderer.AddLight(light)


def plane_grid_lines(low: Array, high: Array, step: float) -> tuple[Array, Array]:
    """Return the end points (n, 2, 3) of the grid lines over a rectangle (u, v; m), and a mask (n,) of strong lines."""
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
    """Grid of the working plane, hidden until it is shown."""

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

    def show_grid(
        self, X_WD: ArrayLike, low: ArrayLike, high: ArrayLike, step: float, look: ColourScheme, axes: bool = True
    ) -> None:
        """Show a grid over a rectangle of a plane. X_WD : (4, 4) world ← u, v, normal; low, high : corners (u, v), m;
        axes : True to draw the lines through the origin as axes"""
        X = np.asarray(X_WD, dtype=float)
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        key = (X.tobytes(), low.tobytes(), high.tobytes(), step, look.name, axes)
        if key == self._key:
            return
        self._key = key
        ends, strong = plane_grid_lines(low, high, step)
        colours = np.empty((len(ends), 4))
        colours[:, :3] = look.resolve_colour("grid")
        colours[:, 3] = look.grid_opacity * np.where(strong, FULL, FAINT)
        for axis, colour in enumerate(AXES):
            own = np.all(np.abs(ends[:, :, 1 - axis]) < 1e-9 * step, axis=1) if axes else np.zeros(len(ends), bool)
            colours[own, :3], colours[own, 3] = look.resolve_colour(colour), 0.9
        segments = np.arange(2 * len(ends)).reshape(-1, 2)
        data = set_colours(line_mesh(ends.reshape(-1, 3), segments), np.repeat(colours, 2, axis=0))
        self._actor.GetMapper().SetInputData(data)
        self._actor.GetMapper().SetScalarVisibility(True)
        self._actor.SetUserMatrix(vtk_matrix(X))
        self._actor.SetVisibility(True)

    @property
    def is_visible(self) -> bool:
        """True if the grid is visible."""
        return self._key is not None

    def hide_grid(self) -> None:
        """Hide the grid."""
        self._key = None
        self._actor.SetVisibility(False)

"""Surroundings of the machine: the ground grid that fades into the distance, world axes, gravity, lights."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkLight, vtkPolyDataMapper, vtkRenderer

from core.model import Model
from viz.drawlist import geometry as g
from viz.look import Look
from viz.meshes.meshes import mesh
from viz.meshes.polydata import coloured, vtk_matrix, wire
from viz.placement import Array, along, numbers
from viz.scene.figures import shine

LINES = 24
"""Grid lines on each side of the centre."""


def spacing(length: float) -> float:
    """Return the largest round number (1, 2 or 5 times a power of ten) below a length, m."""
    power = 10.0 ** floor(log10(max(length, 1e-9)))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= length * (1.0 + 1e-12))


def grid(step: float, center: Array, height: float, colour: tuple[float, float, float], opacity: float) -> vtkPolyData:
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
    return coloured(wire(points.reshape(-1, 3) * [step, step, 1.0] + place, segments), colours.reshape(-1, 4))


class Surroundings:
    """Actors around the machine."""

    def __init__(self, renderer: vtkRenderer) -> None:
        self.renderer = renderer
        self._grid = _actor()
        self._grid.GetProperty().LightingOff()
        self._axes = _actor()
        self._gravity = _actor()
        self._key: object = None
        self._size = 1.0
        self.has_gravity = False
        for actor in (self._grid, self._axes, self._gravity):
            actor.PickableOff()
            renderer.AddActor(actor)

    def show(self, model: Model, values: dict[str, float], size: float, floor_height: float, look: Look) -> None:
        """Fit grid, axes and gravity arrow to a machine of a size (m) that stands at a height (m)."""
        key = (model.world, size, floor_height, look.name, tuple(values.items()))
        if key == self._key:
            return
        self._key = key
        step = spacing(size / 6.0)
        data = grid(step, np.zeros(2), floor_height, look.colour("grid"), look.grid_opacity)
        self._grid.GetMapper().SetInputData(data)
        self._grid.GetMapper().SetScalarVisibility(True)
        self._size = size
        self._fit_axes()
        shine(self._axes, look.colour("joint"), "frame")
        self._show_gravity(model, values, size, look)

    def _fit_axes(self) -> None:
        """Scale the axes to the machine; they are created when first shown."""
        if self._axes.GetVisibility():
            self._axes.GetMapper().SetInputData(mesh(g.Triad(0.22 * self._size)))

    def _show_gravity(self, model: Model, values: dict[str, float], size: float, look: Look) -> None:
        gravity = model.world.gravity
        place = np.array([-0.36, -0.3, 0.7]) * size
        direction = numbers(gravity.acceleration, values)
        if gravity.kind == "point":
            direction = numbers(gravity.center, values) - place
        self.has_gravity = gravity.kind != "none" and bool(np.any(direction))
        arrow = g.Arrow(0.28 * size, 0.006 * size, 0.02 * size, 0.07 * size)
        self._gravity.GetMapper().SetInputData(mesh(arrow))
        self._gravity.SetUserMatrix(vtk_matrix(along(direction, place)))
        shine(self._gravity, look.colour("gravity"))

    def toggle(self, ground: bool, axes: bool, gravity: bool) -> None:
        """Show or hide the parts."""
        self._grid.SetVisibility(ground)
        self._axes.SetVisibility(axes)
        self._fit_axes()
        self._gravity.SetVisibility(gravity and self.has_gravity)


def _actor() -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(vtkPolyData())
    actor = vtkActor()
    actor.SetMapper(mapper)
    return actor


LIGHTS = (
    ((-0.5, 0.75, 1.0), 0.74, (1.0, 0.985, 0.96)),
    ((1.0, 0.2, 0.9), 0.42, (0.94, 0.97, 1.0)),
    ((0.0, -0.9, 0.7), 0.2, (1.0, 0.97, 0.94)),
    ((0.1, 0.8, -0.8), 0.3, (1.0, 1.0, 1.0)),
)
"""Key, fill, floor and rim light: direction in camera axes (right, up, toward the eye), strength, colour."""


def light_up(renderer: vtkRenderer, strength: float) -> None:
    """Replace the lights of a renderer by soft ones fixed to the camera."""
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

"""Map in the scene: points or squares coloured by value, the surface around cells, and border lines."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.look import ColourScheme, map_colours
from viz.meshes.polydata import cell_array, line_mesh, set_colours, surface_mesh, vtk_points
from viz.placement import Array

Form = Literal["points", "squares", "surface"]
POINT = 6.0
"""Size of a point, pixels."""
SEEN_THROUGH = {"points": 1.0, "squares": 0.72, "surface": 0.4}
"""Opacity for each way of showing the map."""
LIFT = 2e-3
"""Offset by which squares are drawn behind the borders, relative to a cell."""


class MapPicture(NamedTuple):
    """Map to display. points (n, 3) m; values (n,); low, high : ends of the scale; size : of cells, m; axes (2, 3) of
    the plane of the map, None in space; filled : cells (i, j, k) inside the surface, with the corner of the first;
    borders (m, 2, 3) m; the points are in the order of the filled cells; solid : filled cells and the enclosed gaps,
    which the surface does not show; parted : True if the values are differences; plain : True if the values carry no
    information."""

    points: Array
    values: Array
    low: float
    high: float
    size: float
    axes: Array | None
    filled: NDArray[np.bool_]
    corner: Array
    borders: Array
    solid: NDArray[np.bool_]
    parted: bool = False
    plain: bool = False


class MapFigures:
    """Actors of one map."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self._renderer, self._look = renderer, look
        self._glyph: MapPicture | None = None
        self._form: Form = "points"
        self._places, self._borders = _create_actor(), _create_actor()
        self.pixel_ratio = 1.0
        for actor in (self._places, self._borders):
            actor.SetVisibility(False)

    def show_map(self, map_picture: MapPicture | None, form: Form = "points") -> None:
        """Show a map; None hides it."""
        self._glyph, self._form = map_picture, form
        for actor in (self._places, self._borders) if map_picture is not None else ():
            self._renderer.AddActor(actor)  # once, however often it is said
        self._places.SetVisibility(map_picture is not None and len(map_picture.points) > 0)
        self._borders.SetVisibility(map_picture is not None and len(map_picture.borders) > 0)
        self.paint(self._look)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self._look = look
        glyph = self._glyph
        if glyph is None:
            return
        self._places.GetMapper().SetInputData(self._build_polydata(glyph))
        property_ = self._places.GetProperty()
        property_.SetOpacity(SEEN_THROUGH[self._form])
        property_.SetPointSize(POINT * self.pixel_ratio)
        property_.SetRenderPointsAsSpheres(False)
        property_.SetLighting(self._form == "surface")
        if len(glyph.borders):
            ends = np.arange(2 * len(glyph.borders)).reshape(-1, 2)
            self._borders.GetMapper().SetInputData(line_mesh(glyph.borders.reshape(-1, 3), ends))
            self._borders.GetMapper().ScalarVisibilityOff()
            self._borders.GetProperty().SetColor(*look.resolve_colour("text"))
            self._borders.GetProperty().SetLineWidth(2.2 * self.pixel_ratio)
            self._borders.GetProperty().SetLighting(False)

    def _build_polydata(self, map_picture: MapPicture) -> vtkPolyData:
        shades = self._point_colours(map_picture)
        if self._form == "points":
            found = vtkPolyData()
            found.SetPoints(vtk_points(map_picture.points))
            found.SetVerts(cell_array(np.arange(len(map_picture.points)).reshape(-1, 1)))
            return set_colours(found, shades)
        corners, owner = _square_corners(map_picture) if self._form == "squares" else _face_corners(map_picture)
        faces = np.arange(4 * len(corners)).reshape(-1, 4)
        return set_colours(surface_mesh(corners.reshape(-1, 3), faces), np.repeat(shades[owner], 4, axis=0))

    def _point_colours(self, map_picture: MapPicture) -> Array:
        """Return the colours (n, 3) of the points."""
        if map_picture.plain:
            return np.tile(self._look.resolve_colour("ellipsoid"), (len(map_picture.points), 1))
        return map_colours(map_picture.values, map_picture.low, map_picture.high, self._look.name, map_picture.parted)

    @property
    def has_transparent_part(self) -> bool:
        """True if a visible part is transparent."""
        return self._glyph is not None and SEEN_THROUGH[self._form] < 1.0

    @property
    def visible_actors(self) -> list[vtkActor]:
        """Return all visible actors."""
        return [actor for actor in (self._places, self._borders) if actor.GetVisibility()]


def _square_corners(map_picture: MapPicture) -> tuple[Array, NDArray[np.intp]]:
    """Return the corners (n, 4, 3) of the squares of filled cells, and for each the index of its point."""
    assert map_picture.axes is not None
    first, second = map_picture.axes
    middles = map_picture.corner + (np.argwhere(map_picture.filled) + 0.5)[:, :2] @ (
        map_picture.size * map_picture.axes
    )
    back = LIFT * map_picture.size * np.cross(first, second)
    half = 0.5 * map_picture.size
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    corners = np.stack([middles + half * (a * first + b * second) - back for a, b in signs], axis=1)
    return corners, np.arange(len(middles))


def _face_corners(map_picture: MapPicture) -> tuple[Array, NDArray[np.intp]]:
    """Return the corners (n, 4, 3) of the faces between filled and empty cells, and for each the index of its point."""
    number = np.cumsum(map_picture.filled.ravel()).reshape(map_picture.filled.shape) - 1
    corners, owners = [], []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for side in (0, 1):
            beside = np.roll(map_picture.solid, 1 - 2 * side, axis=axis)
            open_ = map_picture.filled & ~beside
            places = np.argwhere(open_) + side * np.eye(3, dtype=int)[axis]
            order = (0 * u, u, u + v, v) if side else (0 * u, v, u + v, u)
            corners.append(map_picture.corner + map_picture.size * (places[:, None, :] + np.array(order)))
            owners.append(number[open_])
    return np.concatenate(corners), np.concatenate(owners)


def _create_actor() -> vtkActor:
    actor = vtkActor()
    actor.SetMapper(vtkPolyDataMapper())
    actor.PickableOff()
    return actor

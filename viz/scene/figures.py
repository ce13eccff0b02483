"""Actors of a draw list: created once per item, and only moved while the item is unchanged. Many figures with the same
form share an actor (`SharedActor`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkDataArray, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper, vtkPolyDataMapper, vtkRenderer

from viz.drawlist.item import Item, SpanBatch
from viz.look import LIGHT, ColourScheme
from viz.meshes.meshes import get_mesh, get_simplified_mesh, is_solid
from viz.placement import Array, to_matrix

Poses = Mapping[str, ArrayLike]
"""Poses (4, 4) world ← frame by name of body or frame."""

MANY = 8
"""Number of figures with the same form from which they share an actor."""
IN_FRONT = ("com", "frame")
"""Roles that are drawn in front of the machine, which would otherwise hide them."""
WORDS = ("label", "dimension")
"""Roles of texts, which are drawn by `Labels`."""
STANDING = ("ground", "shape", "link", "joint")
"""Roles of items that may stand on the ground."""


class Figure:
    """Item of the draw list with its actor, which is used while the figure does not share one."""

    def __init__(self, item: Item, look: ColourScheme) -> None:
        self.item = item
        self.data = get_mesh(item.geometry)
        self.mapper = vtkPolyDataMapper()
        self.mapper.SetInputData(self.data)
        self.matrix = vtkMatrix4x4()
        self.actor = vtkActor()
        self.actor.SetMapper(self.mapper)
        self.actor.SetUserMatrix(self.matrix)
        self.pose = np.eye(4)
        self.place = to_matrix(item.placement)
        self.alone = False
        self._coarse = vtkPolyDataMapper()
        self.paint(look)

    @property
    def simplified_mesh(self) -> vtkPolyData:
        """Simplified mesh of the form."""
        return get_simplified_mesh(self.item.geometry)

    @property
    def crowd_key(self) -> tuple[object, ...] | None:
        """Properties that figures must share to be drawn by one actor; None if this figure needs an actor of its
        own."""
        own_colours = self.data.GetPointData().GetScalars() is not None
        return None if own_colours or self.item.opacity < 1.0 else (self.item.geometry, self.item.role)

    def use_simplified_mesh(self, on: bool) -> None:
        """Switch between the simplified and the full mesh."""
        if on and self._coarse.GetInput() is not self.simplified_mesh:
            self._coarse.SetInputData(self.simplified_mesh)
        self.actor.SetMapper(self._coarse if on else self.mapper)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        own_colours = self.data.GetPointData().GetScalars() is not None and not self.item.paint_over
        for mapper in (self.mapper, self._coarse):
            mapper.SetScalarVisibility(own_colours)
        set_material(self.actor, look.resolve_colour(self.item.colour), self.item.role)
        self.actor.GetProperty().SetOpacity(self.item.opacity)
        self.actor.GetProperty().SetBackfaceCulling(self.item.opacity >= 1.0 and is_solid(self.item.geometry))

    @property
    def bounds(self) -> tuple[float, ...]:
        """Current bounding box (xmin, xmax, ymin, ymax, zmin, zmax), m; undefined if the form has no points."""
        return self.actor.GetBounds()

    def move_to(self, pose: Array, row: Sequence[float]) -> None:
        """Move the actor; `row` is the pose as sixteen numbers."""
        self.pose = pose
        self.matrix.DeepCopy(row)


def set_material(actor: vtkActor, colour: tuple[float, float, float], role: str = "shape") -> None:
    """Set the colour of an actor and the soft material that belongs to its role."""
    surface = actor.GetProperty()
    surface.SetColor(*colour)
    surface.SetInterpolationToPhong()
    surface.SetAmbient(0.2)
    surface.SetDiffuse(0.84)
    surface.SetSpecular({"joint": 0.28, "shape": 0.16, "link": 0.14, "inertia": 0.1}.get(role, 0.1))
    surface.SetSpecularPower(32.0)
    if role in ("frame", "com"):
        surface.SetAmbient(0.35)
        surface.SetDiffuse(0.7)
    surface.SetLineWidth(1.6)


class SharedActor:
    """Actor shared by figures that differ only in pose and colour."""

    def __init__(self, renderer: vtkRenderer, figures: Sequence[Figure], look: ColourScheme) -> None:
        self.renderer, self.figures = renderer, figures
        count = len(figures)
        self._points = np.zeros((count, 3), dtype=np.float32)
        self._turns = np.zeros((count, 4), dtype=np.float32)
        self._stretches = np.ones((count, 3), dtype=np.float32)
        self._colours = np.zeros((count, 4), dtype=np.uint8)
        self._places = vtkPolyData()
        points = vtkPoints()
        points.SetData(_shared_array(self._points))
        self._places.SetPoints(points)
        self._places.GetPointData().AddArray(_shared_array(self._turns, "turn"))
        self._places.GetPointData().AddArray(_shared_array(self._stretches, "stretch"))
        self._places.GetPointData().SetScalars(_shared_array(self._colours, "colour"))
        self.actor = vtkActor()
        self._fine = self._coarse = self._create_mapper(figures[0].data)
        self.actor.SetMapper(self._fine)
        self.paint(look)
        renderer.AddActor(self.actor)

    def _create_mapper(self, form: vtkPolyData) -> vtkGlyph3DMapper:
        mapper = vtkGlyph3DMapper()
        mapper.SetInputData(self._places)
        mapper.SetSourceData(form)
        mapper.SetOrientationModeToQuaternion()
        mapper.SetOrientationArray("turn")
        mapper.SetScaleModeToScaleByVectorComponents()
        mapper.SetScaleArray("stretch")
        return mapper

    def remove(self) -> None:
        """Remove the actor."""
        self.renderer.RemoveActor(self.actor)

    def update_poses(self) -> None:
        """Update the poses of the figures."""
        poses = np.array([figure.pose for figure in self.figures])
        stretches = np.linalg.norm(poses[:, :3, :3], axis=1)
        self._points[:] = poses[:, :3, 3]
        self._stretches[:] = stretches
        self._turns[:] = quaternions(poses[:, :3, :3] / np.maximum(stretches, 1e-300)[:, None, :])
        self._mark_modified()

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.actor.GetProperty().DeepCopy(self.figures[0].actor.GetProperty())
        colours = np.array([look.resolve_colour(figure.item.colour) for figure in self.figures])
        self._colours[:, :3], self._colours[:, 3] = np.round(255.0 * colours), 255
        self._mark_modified()

    def use_simplified_meshes(self, on: bool) -> None:
        """Switch between simplified and full meshes."""
        if on and self._coarse.GetSource() is not self.figures[0].simplified_mesh:
            self._coarse = self._create_mapper(self.figures[0].simplified_mesh)
        self.actor.SetMapper(self._coarse if on else self._fine)

    def _mark_modified(self) -> None:
        for array in range(self._places.GetPointData().GetNumberOfArrays()):
            self._places.GetPointData().GetArray(array).Modified()
        self._places.GetPoints().Modified()
        self._places.Modified()


def quaternions(rotations: Array) -> Array:
    """Convert rotation matrices (n, 3, 3) to unit quaternions w, x, y, z (n, 4), by normalising the longest row of 4 q
    qᵀ, which is linear in the matrix."""
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


def _shared_array(numbers: np.ndarray, name: str = "") -> vtkDataArray:
    """Return a VTK array that shares its memory with a NumPy array."""
    array = numpy_to_vtk(numbers, deep=False)
    array.SetName(name)
    return array


class Figures:
    """All actors of a draw list, in two renderers: one for the machine and one in front of it."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: ColourScheme = LIGHT) -> None:
        self.renderer, self.front = renderer, front
        self.look = look
        self.table: dict[str, Figure] = {}
        self.items: tuple[Item, ...] = ()
        self.is_shown: Callable[[Item], bool] = lambda item: item.shown
        self.glass = False
        """True if something is transparent."""
        self.coarse = False
        """True if simplified meshes are shown."""
        self.polygons = 0
        """Number of polygons in a picture without simplified meshes."""
        self._crowds: list[SharedActor] = []
        self._alone: list[Figure] = []
        self._places = np.zeros((0, 4, 4))
        self._stiff: list[Figure] = []
        self._stretched: list[Figure] = []
        self._spans = SpanBatch(())
        self._poses: Poses = {}

    def reconcile(self, items: tuple[Item, ...], poses: Poses) -> None:
        """Show these items at these poses: unchanged items keep their actors; other actors are created, replaced or
        removed."""
        self.items, self._poses = items, poses
        self.refresh()

    def refresh(self) -> None:
        """Update the visibility of the figures after a change of the display options."""
        wanted = {item.id: item for item in self.items if item.role not in WORDS and self.is_shown(item)}
        for name in [
            n for n, figure in self.table.items() if n not in wanted or not _can_keep_actor(figure, wanted[n])
        ]:
            self._set_alone(self.table.pop(name), False)
        for name, item in wanted.items():
            known = self.table.get(name)
            if known is None:
                self.table[name] = Figure(item, self.look)
            elif known.item != item:
                known.item = item
                known.place = to_matrix(item.placement)
                known.paint(self.look)
        self.glass = any(item.opacity < 1.0 for item in wanted.values())
        self.polygons = sum(figure.data.GetNumberOfPolys() for figure in self.table.values())
        self._prepare_poses()
        self._group_crowds()
        self.move(self._poses)

    def _set_alone(self, figure: Figure, alone: bool) -> None:
        """Set whether a figure is drawn by its own actor."""
        if alone != figure.alone:
            figure.alone = alone
            layer = self._renderer_for(figure.item)
            (layer.AddActor if alone else layer.RemoveActor)(figure.actor)

    def _group_crowds(self) -> None:
        """Let equal figures share an actor if there are many of them."""
        alike: dict[object, list[Figure]] = {}
        for figure in self.table.values():
            alike.setdefault(figure.crowd_key or figure, []).append(figure)
        crowds = [group for group in alike.values() if len(group) >= MANY]
        self._alone = [figure for group in alike.values() if len(group) < MANY for figure in group]
        kept = [crowd for crowd in self._crowds if crowd.figures in crowds]
        for crowd in self._crowds:
            if crowd not in kept:
                crowd.remove()
        known = [crowd.figures for crowd in kept]
        self._crowds = kept + [
            SharedActor(self._renderer_for(group[0].item), group, self.look) for group in crowds if group not in known
        ]
        for group in alike.values():
            for figure in group:
                self._set_alone(figure, len(group) < MANY)
        for crowd in kept:
            crowd.paint(self.look)
        self.use_simplified_meshes(self.coarse)

    def use_simplified_meshes(self, on: bool) -> None:
        """Switch between simplified and full meshes."""
        self.coarse = on
        for crowd in self._crowds:
            crowd.use_simplified_meshes(on)
        for figure in self._alone:
            figure.use_simplified_mesh(on)

    def _renderer_for(self, item: Item) -> vtkRenderer:
        return self.front if item.role in IN_FRONT else self.renderer

    def _prepare_poses(self) -> None:
        self._stiff = [figure for figure in self.table.values() if figure.item.moves_rigidly]
        self._stretched = [figure for figure in self.table.values() if not figure.item.moves_rigidly]
        self._spans = SpanBatch([figure.item for figure in self._stretched])
        self._places = np.array([figure.place for figure in self._stiff]).reshape(-1, 4, 4)

    def move(self, poses: Poses) -> None:
        """Move every figure to the pose of its frame. Frames without a pose are taken to be at the world's origin."""
        self._poses = poses
        identity = np.eye(4)
        if self._stiff:
            frames = np.array([poses.get(figure.item.frame, identity) for figure in self._stiff], dtype=float)
            placed = frames @ self._places
            for figure, pose, row in zip(self._stiff, placed, placed.reshape(-1, 16).tolist(), strict=True):
                figure.move_to(pose, row)
        if self._stretched:
            placed = self._spans.poses(poses)
            for figure, pose, row in zip(self._stretched, placed, placed.reshape(-1, 16).tolist(), strict=True):
                figure.move_to(pose, row)
        for crowd in self._crowds:
            crowd.update_poses()

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.look = look
        for figure in self.table.values():
            figure.paint(look)
        for crowd in self._crowds:
            crowd.paint(look)

    @property
    def lowest_height(self) -> float:
        """Height of the lowest point of items that may stand on the ground, m; 0 if there are none."""
        standing = (each for each in self.table.values() if each.item.role in STANDING)
        return min((each.bounds[4] for each in standing if each.data.GetNumberOfPoints()), default=0.0)

    def find_figures(self, ref: object) -> list[Figure]:
        """Return the figures of an element."""
        return [figure for figure in self.table.values() if figure.item.ref == ref]


def _can_keep_actor(figure: Figure, item: Item) -> bool:
    """Return True if a figure can keep its actor for a changed item, because at most the pose or the colour has
    changed."""
    return figure.item.geometry == item.geometry and figure.item.role == item.role


def transparent_copy(item: Item, opacity: float) -> Item:
    """Return a transparent copy of the item."""
    return replace(item, opacity=opacity * item.opacity, ref=None)

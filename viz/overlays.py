"""What functions show in the scene: ghosts of other poses, traces of points, ellipsoids, arrows.

Everything is given as plain arrays in world axes (m) and stays until it is given anew or cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz import geometry as g
from viz.figures import Figure, ghostly, shine, stretched
from viz.items import Item, items
from viz.look import Colour, Look
from viz.meshes import mesh
from viz.placement import Array, along, matrix
from viz.polydata import polyline, vtk_matrix, wire

if TYPE_CHECKING:
    from core.model import Model

FLAT = 2e-3
"""Radii below this share of the largest are drawn as zero: a disc or a line."""


_MASS = g.CenterMark(1.0)


class EllipsoidGlyph(NamedTuple):
    """center (3,) m; axes (3, 3), the unit axes as columns; radii (3,) m."""

    center: ArrayLike
    axes: ArrayLike
    radii: ArrayLike
    colour: Colour = "ellipsoid"


class VectorGlyph(NamedTuple):
    """An arrow from `origin` (3,) by `vector` (3,), m."""

    origin: ArrayLike
    vector: ArrayLike
    colour: Colour = "accent"


class Overlays:
    """The actors of all overlays."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: Look) -> None:
        self.renderer = renderer
        self.look = look
        self.model: Model | None = None
        self.items: tuple[Item, ...] = ()
        self._ghosts: list[Figure] = []
        self._traces: dict[str, vtkActor] = {}
        self._ellipsoids: list[_EllipsoidActors] = []
        self._vectors: list[vtkActor] = []
        self._mass = _actor()
        self._mass.GetMapper().SetInputData(mesh(_MASS))
        self._mass.GetMapper().ScalarVisibilityOn()
        self._mass.SetVisibility(False)
        shine(self._mass, look.colour("com_light"), "com")
        front.AddActor(self._mass)

    def clear(self) -> None:
        """Show none of them."""
        self.ghosts((), ())
        self.traces({})
        self.ellipsoids(())
        self.vectors(())

    # ------------------------------------------------------------------------------- ghosts

    def ghosts(
        self,
        names: Sequence[str],
        arrays: Sequence[ArrayLike],
        opacity: float = 0.28,
        parameters: Sequence[Mapping[str, float]] | None = None,
        model: Model | None = None,
    ) -> None:
        """See-through copies of the machine: `arrays` holds for each copy an (n, 4, 4) array of poses of `names`;
        `parameters` its parameter values and `model` the machine, where they differ from those shown."""
        for figure in self._ghosts:
            self.renderer.RemoveActor(figure.actor)
        self._ghosts = []
        drawn: dict[tuple, tuple[Item, ...]] = {}
        machine = model or self.model
        for k, array in enumerate(arrays):
            poses = dict(zip(names, np.asarray(array, dtype=float), strict=True))
            values = dict(parameters[k]) if parameters else {}
            key = tuple(sorted(values.items()))
            if key not in drawn:
                own = machine is not None and (values or model is not None)
                drawn[key] = items(machine, values) if own and machine is not None else self.items
            for item in drawn[key]:
                if item.shown and item.role in ("shape", "link", "joint") and item.frame in poses:
                    self._ghosts.append(_ghost(ghostly(item, opacity), poses, self.look))
        for figure in self._ghosts:
            self.renderer.AddActor(figure.actor)

    # ------------------------------------------------------------------------------- traces

    def traces(self, paths: Mapping[str, ArrayLike], colours: Mapping[str, Colour] | None = None) -> None:
        """Lines through the (n, 3) places points have been at, by any name."""
        for name in [name for name in self._traces if name not in paths]:
            self.renderer.RemoveActor(self._traces.pop(name))
        for name, path in paths.items():
            points = np.asarray(path, dtype=float).reshape(-1, 3)
            actor = self._traces.get(name)
            if actor is None:
                actor = self._traces[name] = _actor()
                self.renderer.AddActor(actor)
            actor.SetVisibility(len(points) > 1)
            if len(points) > 1:
                actor.GetMapper().SetInputData(polyline(points))
            _draw_line(actor, self.look.colour((colours or {}).get(name, "trace")), 2.6)

    # ------------------------------------------------------------------------------- ellipsoids

    def ellipsoids(self, glyphs: Sequence[EllipsoidGlyph | tuple], opacity: float = 0.32) -> None:
        """Ellipsoids (discs and lines where radii vanish), with their principal circles and semi-axes."""
        while len(self._ellipsoids) > len(glyphs):
            self._ellipsoids.pop().remove()
        while len(self._ellipsoids) < len(glyphs):
            self._ellipsoids.append(_EllipsoidActors(self.renderer))
        for actors, glyph in zip(self._ellipsoids, glyphs, strict=True):
            actors.put(EllipsoidGlyph(*glyph), self.look, opacity)

    # ------------------------------------------------------------------------------- mass

    def mass_center(self, place: ArrayLike | None, radius: float) -> None:
        """A larger quartered ball at the centre of mass of the whole machine; None hides it."""
        self._mass.SetVisibility(place is not None)
        if place is not None:
            x, y, z = np.asarray(place, dtype=float)
            self._mass.SetPosition(x, y, z)
            self._mass.SetScale(radius)

    # ------------------------------------------------------------------------------- vectors

    def vectors(self, glyphs: Sequence[VectorGlyph | tuple]) -> None:
        """Arrows; those without length are left out."""
        for actor in self._vectors:
            self.renderer.RemoveActor(actor)
        self._vectors = []
        for origin, vector, colour in (VectorGlyph(*glyph) for glyph in glyphs):
            length = float(np.linalg.norm(np.asarray(vector, dtype=float)))
            if length <= 0.0 or not np.isfinite(length):
                continue
            actor = _actor()
            actor.GetMapper().SetInputData(mesh(g.Arrow(1.0, 0.018, 0.055, 0.17)))
            actor.SetUserMatrix(vtk_matrix(along(vector, origin) @ np.diag([length, length, length, 1.0])))
            shine(actor, self.look.colour(colour))
            self._vectors.append(actor)
            self.renderer.AddActor(actor)

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        self.look = look
        for figure in self._ghosts:
            figure.paint(look)
        for actor in self._traces.values():
            _draw_line(actor, look.colour("trace"), 2.6)
        for actors in self._ellipsoids:
            actors.paint(look)

    @property
    def actors(self) -> list[vtkActor]:
        """Everything shown, for fitting the view."""
        own = [figure.actor for figure in self._ghosts] + list(self._traces.values()) + self._vectors
        return own + [actor for actors in self._ellipsoids for actor in actors.shown]


class _EllipsoidActors:
    """Surface and lines of one ellipsoid; moved, not made anew, when its numbers change."""

    def __init__(self, renderer: vtkRenderer) -> None:
        self._renderer = renderer
        self._surface, self._lines = _actor(), _actor()
        self._glyph: EllipsoidGlyph | None = None
        self._opacity = 1.0
        for actor in (self._surface, self._lines):
            renderer.AddActor(actor)

    def remove(self) -> None:
        for actor in (self._surface, self._lines):
            self._renderer.RemoveActor(actor)

    @property
    def shown(self) -> list[vtkActor]:
        return [actor for actor in (self._surface, self._lines) if actor.GetVisibility()]

    def put(self, glyph: EllipsoidGlyph, look: Look, opacity: float) -> None:
        self._glyph, self._opacity = glyph, opacity
        radii = np.abs(np.asarray(glyph.radii, dtype=float))
        axes = np.asarray(glyph.axes, dtype=float)
        order = np.argsort(-radii)
        largest = float(radii[order[0]])
        visible = np.isfinite(radii).all() and largest > 0.0
        self._surface.SetVisibility(bool(visible))
        self._lines.SetVisibility(bool(visible))
        if not visible:
            return
        thick = int((radii > FLAT * largest).sum())  # 3: solid, 2: disc, 1: line
        frame = np.eye(4)
        frame[:3, :3] = axes[:, order]
        if np.linalg.det(frame[:3, :3]) < 0.0:
            frame[:3, 2] *= -1.0
        frame[:3, 3] = np.asarray(glyph.center, dtype=float)
        stretch = np.where(np.arange(3) < thick, radii[order], 1e-4 * largest)
        pose = vtk_matrix(frame @ np.diag([*stretch, 1.0]))
        self._surface.SetVisibility(thick > 1)
        self._surface.GetMapper().SetInputData(mesh(g.Sphere(1.0) if thick == 3 else g.Sector(0.0, 1.0)))
        self._lines.GetMapper().SetInputData(_circles(thick))
        for actor in (self._surface, self._lines):
            actor.SetUserMatrix(pose)
        self._surface.GetProperty().SetBackfaceCulling(thick == 3)
        self.paint(look)

    def paint(self, look: Look) -> None:
        if self._glyph is not None:
            colour = look.colour(self._glyph.colour)
            shine(self._surface, colour)
            self._surface.GetProperty().SetOpacity(self._opacity)
            _draw_line(self._lines, tuple(0.8 * c for c in colour), 1.5)


def _circles(thick: int) -> object:
    """Lines of a unit ball (three circles and axes), disc (circle and two axes) or segment."""
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    points: list[Array] = []
    lines: list[list[int]] = []
    pairs = {3: ((0, 1), (1, 2), (0, 2)), 2: ((0, 1),), 1: ()}[thick]
    for i, j in pairs:
        ring = np.zeros((73, 3))
        ring[:, i], ring[:, j] = np.cos(turn), np.sin(turn)
        lines += [[len(points) + k, len(points) + k + 1] for k in range(72)]
        points += list(ring)
    for i in range(thick):
        lines.append([len(points), len(points) + 1])
        points += [np.eye(3)[i], -np.eye(3)[i]]
    return wire(np.array(points), lines)


def _ghost(item: Item, poses: Mapping[str, ArrayLike], look: Look) -> Figure:
    figure = Figure(item, look)
    identity = np.eye(4)
    pose = (
        stretched(item, poses) if item.until else np.asarray(poses.get(item.frame, identity)) @ matrix(item.placement)
    )
    figure.put(pose, pose.ravel().tolist())
    return figure


def _actor() -> vtkActor:
    actor = vtkActor()
    actor.SetMapper(vtkPolyDataMapper())
    actor.GetMapper().ScalarVisibilityOff()
    return actor


def _draw_line(actor: vtkActor, colour: tuple[float, ...], width: float) -> None:
    surface = actor.GetProperty()
    surface.LightingOff()
    surface.SetColor(*colour[:3])
    surface.SetLineWidth(width)

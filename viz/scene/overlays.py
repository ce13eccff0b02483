"""Overlays for results of functions and for runs: ghosts at other poses, paths of points, ellipsoids, arrows.

Everything is given as plain arrays in world axes (m) and stays until its source gives it again, or it is cleared. Moved
ghosts keep their actors; recorded paths grow at every movement of the scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer

from viz.camera import Ray
from viz.drawlist import geometry as g
from viz.drawlist.draw_list import Item, build_draw_list
from viz.drawlist.item import SpanBatch
from viz.look import Colour, ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import line_mesh, polyline, vtk_matrix
from viz.placement import Array
from viz.scene.figures import Figure, Poses, set_material, transparent_copy
from viz.scene.picking import PickTarget, nearest_hit
from viz.scene.vectors import SceneArrows, VectorGlyph

if TYPE_CHECKING:
    from core.model import Model


OPACITY = 0.28
ROLES = ("shape", "link", "joint")
"""Roles of the items that are shown in a transparent copy."""

FLAT = 2e-3
"""Radius, relative to the largest one, below which a radius is drawn as zero, so that the ellipsoid becomes a disc or a
line."""
_MASS = g.CenterMark(1.0)
LONGEST = 4000
"""Largest number of points of a path; above it, every second point of the older half is dropped."""
Point = tuple[float, float, float]
Followed = tuple[str, Point]
"""Point whose path is recorded: a frame, and the point (m) in its axes."""
ORIGIN: Point = (0.0, 0.0, 0.0)


class _TransparentCopy:
    """Transparent copy of the machine."""

    def __init__(
        self, renderer: vtkRenderer, drawn: tuple[Item, ...], names: frozenset[str], opacity: float, look: ColourScheme
    ) -> None:
        self.renderer, self.drawn, self.names, self.opacity = renderer, drawn, names, opacity
        shown = (item for item in drawn if item.shown and item.role in ROLES and item.frame in names)
        self.figures = [Figure(transparent_copy(item, opacity), look) for item in shown]
        self.spans = SpanBatch([figure.item for figure in self.figures])
        self._array: ArrayLike | None = None
        for figure in self.figures:
            renderer.AddActor(figure.actor)

    def can_show(self, drawn: tuple[Item, ...], names: frozenset[str], opacity: float) -> bool:
        """Return True if the existing actors, moved to other poses, can show these items."""
        return drawn is self.drawn and names == self.names and opacity == self.opacity

    def move(self, names: Sequence[str], array: ArrayLike) -> None:
        """Move the bodies and frames of these names to poses (n, 4, 4); skipped if the array is the same object as
        before."""
        if array is self._array:
            return
        self._array = array
        poses: Poses = dict(zip(names, np.asarray(array, dtype=float), strict=True))
        for figure, pose in zip(self.figures, self.spans.poses(poses), strict=True):
            figure.move_to(pose, pose.ravel().tolist())

    def remove(self) -> None:
        for figure in self.figures:
            self.renderer.RemoveActor(figure.actor)

    def pick_targets(self, meaning: object) -> list[PickTarget]:
        """Return the forms that a line of sight can meet, with what they mean."""
        return [PickTarget(figure.item.geometry, figure.pose, meaning) for figure in self.figures]


class GhostCopies:
    """All transparent copies of machines, grouped by independent sources (a result, other runs …)."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.renderer, self.look = renderer, look
        self._copies: dict[str, list[_TransparentCopy]] = {}
        self._drawn: dict[str, dict[object, tuple[object, tuple[Item, ...]]]] = {}

    def show_copies(
        self,
        source: str,
        names: Sequence[str],
        arrays: Sequence[ArrayLike],
        machines: Sequence[tuple[Model | None, Mapping[str, float], tuple[Item, ...]]],
        opacity: float = OPACITY,
        layers: bool = True,
    ) -> None:
        """Show the copies of a source, each at the poses (n, 4, 4) of `names`; machines : model and parameter values to
        be drawn, or the items themselves if the model is None; `layers` : True to draw links in layers."""
        kept = self._copies.pop(source, [])
        made: list[_TransparentCopy] = []
        known, before = frozenset(names), self._drawn.pop(source, {})
        used: dict[object, tuple[object, tuple[Item, ...]]] = {}
        for array, (model, values, own) in zip(arrays, machines, strict=True):
            drawn = own
            if model is not None:
                key = id(model), tuple(sorted(values.items())), layers
                if key not in used:
                    used[key] = before.get(key) or (model, build_draw_list(model, dict(values), layers))
                drawn = used[key][1]
            copy = next((c for c in kept if c.can_show(drawn, known, opacity)), None)
            if copy is None:
                copy = _TransparentCopy(self.renderer, drawn, known, opacity, self.look)
            else:
                kept.remove(copy)
            copy.move(names, array)
            made.append(copy)
        for copy in kept:
            copy.remove()
        if made:
            self._copies[source], self._drawn[source] = made, used

    def copy_met_by(self, ray: Ray, source: str) -> int | None:
        """Return the index of the copy of a source that a line of sight meets first; None if it meets none."""
        copies = enumerate(self._copies.get(source, ()))
        hit = nearest_hit(ray, (target for k, copy in copies for target in copy.pick_targets(k)))
        return None if hit is None else int(hit.meaning)  # type: ignore[call-overload]

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.look = look
        for figure in self._figures:
            figure.paint(look)

    @property
    def _figures(self) -> list[Figure]:
        return [figure for copies in self._copies.values() for copy in copies for figure in copy.figures]

    @property
    def visible_actors(self) -> list[vtkActor]:
        """Return all visible actors."""
        return [figure.actor for figure in self._figures]

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources with visible copies."""
        return tuple(self._copies)


class EllipsoidGlyph(NamedTuple):
    """Ellipsoid to be drawn: center (3,) m; axes (3, 3), with the unit axes as columns; radii (3,) m."""

    center: ArrayLike
    axes: ArrayLike
    radii: ArrayLike
    colour: Colour = "ellipsoid"


class Overlays:
    """Actors of all overlays."""

    def __init__(self, renderer: vtkRenderer, front: vtkRenderer, look: ColourScheme) -> None:
        self.renderer = renderer
        self.look = look
        self.model: Model | None = None
        self.items: tuple[Item, ...] = ()
        self.layers = True
        """True if links of planar machines are drawn in layers."""
        self._ghosts = GhostCopies(renderer, look)
        self._paths: dict[tuple[str, str], tuple[vtkActor, Colour]] = {}
        self._ellipsoids: list[_EllipsoidActors] = []
        self._arrows = SceneArrows(front, look)
        self._mass = _create_actor()
        self._mass.GetMapper().SetInputData(get_mesh(_MASS))
        self._mass.GetMapper().ScalarVisibilityOn()
        self._mass.SetVisibility(False)
        set_material(self._mass, look.resolve_colour("com_light"), "com")
        front.AddActor(self._mass)

    def clear(self) -> None:
        """Remove all overlays."""
        for source in self._ghosts.sources:
            self.show_ghosts((), (), source=source)
        for source in {source for source, _ in self._paths}:
            self.show_paths({}, source=source)
        self.show_ellipsoids(())
        for source in self._arrows.sources:
            self.show_vectors((), source=source)

    # ------------------------------------------------------------------------------- ghosts

    def show_ghosts(
        self,
        names: Sequence[str],
        arrays: Sequence[ArrayLike],
        opacity: float = OPACITY,
        parameters: Sequence[Mapping[str, float]] | None = None,
        model: Model | None = None,
        source: str = "result",
    ) -> None:
        """Show transparent copies of the machine. `arrays` has an (n, 4, 4) array of poses of `names` for each copy;
        `parameters` are its parameter values and `model` is the machine, if they differ from those displayed."""
        machine = model or self.model
        machines = []
        for k in range(len(arrays)):
            values = dict(parameters[k]) if parameters else {}
            own = machine if values or model is not None else None
            machines.append((own, values, self.items))
        self._ghosts.show_copies(source, names, arrays, machines, opacity, self.layers)

    def ghost_met_by(self, ray: Ray, source: str) -> int | None:
        """Return the index of the transparent copy of a source that a line of sight meets first; None if it meets
        none."""
        return self._ghosts.copy_met_by(ray, source)

    # ------------------------------------------------------------------------------- traces

    def show_paths(
        self, paths: Mapping[str, ArrayLike], colours: Mapping[str, Colour] | None = None, source: str = "trajectories"
    ) -> None:
        """Show lines through the recorded positions (n, 3) of points; the keys are arbitrary."""
        for key in [key for key in self._paths if key[0] == source and key[1] not in paths]:
            self.renderer.RemoveActor(self._paths.pop(key)[0])
        for name, path in paths.items():
            points = np.asarray(path, dtype=float).reshape(-1, 3)
            colour = (colours or {}).get(name, "trace")
            actor = self._paths[source, name][0] if (source, name) in self._paths else None
            if actor is None:
                actor = _create_actor()
                self.renderer.AddActor(actor)
            self._paths[source, name] = actor, colour
            actor.SetVisibility(len(points) > 1)
            if len(points) > 1:
                actor.GetMapper().SetInputData(polyline(points))
            _draw_line(actor, self.look.resolve_colour(colour), 2.6)

    # ------------------------------------------------------------------------------- ellipsoids

    def show_ellipsoids(self, glyphs: Sequence[EllipsoidGlyph | tuple], opacity: float = 0.32) -> None:
        """Show ellipsoids (discs and lines for zero radii), with their principal circles and semi-axes."""
        while len(self._ellipsoids) > len(glyphs):
            self._ellipsoids.pop().remove()
        while len(self._ellipsoids) < len(glyphs):
            self._ellipsoids.append(_EllipsoidActors(self.renderer))
        for actors, glyph in zip(self._ellipsoids, glyphs, strict=True):
            actors.show_ellipsoid(EllipsoidGlyph(*glyph), self.look, opacity)

    # ------------------------------------------------------------------------------- mass

    def show_mass_center(self, position: ArrayLike | None, radius: float) -> None:
        """Show a large quartered ball at the centre of mass of the whole machine; None hides it."""
        self._mass.SetVisibility(position is not None)
        if position is not None:
            x, y, z = np.asarray(position, dtype=float)
            self._mass.SetPosition(x, y, z)
            self._mass.SetScale(radius)

    # ------------------------------------------------------------------------------- vectors

    def show_vectors(self, glyphs: Sequence[VectorGlyph | tuple], source: str = "", size: float | None = None) -> None:
        """Show arrows in front of the machine; arrows of zero length are omitted. size : of the machine, m; it limits
        the thickness."""
        self._arrows.show_arrows(source, glyphs, size)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.look = look
        self._ghosts.paint(look)
        self._arrows.paint(look)
        for actor, colour in self._paths.values():
            _draw_line(actor, look.resolve_colour(colour), 2.6)
        for actors in self._ellipsoids:
            actors.paint(look)

    @property
    def has_transparent_part(self) -> bool:
        """True if a visible part is transparent."""
        return bool(self._ghosts.sources or self._ellipsoids)

    @property
    def visible_actors(self) -> list[vtkActor]:
        """Return all visible actors, for fitting the view."""
        own = [
            *self._ghosts.visible_actors,
            *(actor for actor, _ in self._paths.values()),
            *self._arrows.visible_actors,
        ]
        return own + [actor for actors in self._ellipsoids for actor in actors.visible_actors]


class _EllipsoidActors:
    """Surface and lines of one ellipsoid; if its values change, the actors are moved, not created again."""

    def __init__(self, renderer: vtkRenderer) -> None:
        self._renderer = renderer
        self._surface, self._lines = _create_actor(), _create_actor()
        self._glyph: EllipsoidGlyph | None = None
        self._opacity = 1.0
        for actor in (self._surface, self._lines):
            renderer.AddActor(actor)

    def remove(self) -> None:
        for actor in (self._surface, self._lines):
            self._renderer.RemoveActor(actor)

    @property
    def visible_actors(self) -> list[vtkActor]:
        return [actor for actor in (self._surface, self._lines) if actor.GetVisibility()]

    def show_ellipsoid(self, glyph: EllipsoidGlyph, look: ColourScheme, opacity: float) -> None:
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
        self._surface.GetMapper().SetInputData(get_mesh(g.Sphere(1.0) if thick == 3 else g.Sector(0.0, 1.0)))
        self._lines.GetMapper().SetInputData(_outline_lines(thick))
        for actor in (self._surface, self._lines):
            actor.SetUserMatrix(pose)
        self._surface.GetProperty().SetBackfaceCulling(thick == 3)
        self.paint(look)

    def paint(self, look: ColourScheme) -> None:
        if self._glyph is not None:
            colour = look.resolve_colour(self._glyph.colour)
            set_material(self._surface, colour)
            self._surface.GetProperty().SetOpacity(self._opacity)
            _draw_line(self._lines, tuple(0.8 * c for c in colour), 1.5)


def _outline_lines(dimension: int) -> object:
    """Return the outlines of a unit ball (three circles and axes), a disc (circle and two axes) or a segment."""
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    points: list[Array] = []
    lines: list[list[int]] = []
    pairs = {3: ((0, 1), (1, 2), (0, 2)), 2: ((0, 1),), 1: ()}[dimension]
    for i, j in pairs:
        ring = np.zeros((73, 3))
        ring[:, i], ring[:, j] = np.cos(turn), np.sin(turn)
        lines += [[len(points) + k, len(points) + k + 1] for k in range(72)]
        points += list(ring)
    for i in range(dimension):
        lines.append([len(points), len(points) + 1])
        points += [np.eye(3)[i], -np.eye(3)[i]]
    return line_mesh(np.array(points), lines)


def _create_actor() -> vtkActor:
    actor = vtkActor()
    actor.SetMapper(vtkPolyDataMapper())
    actor.GetMapper().ScalarVisibilityOff()
    return actor


def _draw_line(actor: vtkActor, colour: tuple[float, ...], width: float) -> None:
    surface = actor.GetProperty()
    surface.LightingOff()
    surface.SetColor(*colour[:3])
    surface.SetLineWidth(width)


class PointTracks:
    """Recorded paths of the origins of selected frames, and of points fixed to them."""

    def __init__(self) -> None:
        self._trajectories: dict[Followed, list[Array]] = {}
        self.paused = False
        """While True nothing is recorded, and no way is shown."""

    @property
    def followed_frames(self) -> tuple[str, ...]:
        """Frames whose paths are recorded."""
        return tuple(dict.fromkeys(frame for frame, _ in self._trajectories))

    @property
    def followed_points(self) -> tuple[Followed, ...]:
        """Points whose paths are recorded, with their frames."""
        return tuple(self._trajectories)

    @property
    def trajectories(self) -> dict[str, Array]:
        """Positions (n, 3) of each point, m; the key of a frame's origin is the frame's name. {} while recording is
        paused."""
        if self.paused:
            return {}
        return {
            frame if point == ORIGIN else f"{frame} {point}": np.array(trajectory).reshape(-1, 3)
            for (frame, point), trajectory in self._trajectories.items()
        }

    def follow_frames(self, *frames: str) -> None:
        """Record the paths of the origins of these frames, and of points chosen before on them; paths recorded so far
        are kept."""
        kept = [key for key in self._trajectories if key[1] != ORIGIN and key[0] in frames]
        own = [
            (name, ORIGIN)
            for name in frames
            if (name, ORIGIN) in self._trajectories or all(key[0] != name for key in kept)
        ]
        self._trajectories = {key: self._trajectories.get(key, []) for key in (*own, *kept)}

    def follow_point(self, frame: str, point: Point) -> None:
        """Also record the path of a point (m) in the axes of a frame."""
        self._trajectories.setdefault((frame, point), [])

    def clear_paths(self) -> None:
        """Clear all paths."""
        self._trajectories = {key: [] for key in self._trajectories}

    def record_positions(self, poses: Mapping[str, ArrayLike], step: float) -> bool:
        """Append the current positions if they have moved by at least `step` (m); return True if any was appended."""
        added = False
        if self.paused:
            return added
        for (frame, point), trajectory in self._trajectories.items():
            if frame not in poses:
                continue
            pose = np.asarray(poses[frame], dtype=float)
            place = pose[:3, 3] + pose[:3, :3] @ np.asarray(point)
            if not trajectory or float(np.linalg.norm(place - trajectory[-1])) >= step:
                trajectory.append(place.copy())
                added = True
            if len(trajectory) > LONGEST:
                trajectory[: LONGEST // 2] = trajectory[: LONGEST // 2 : 2]
        return added

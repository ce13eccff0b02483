"""Scene of one model in one render window: updated from draw lists, moved, picked, highlighted.

Pixels are device pixels counted from the upper left corner. The scene renders only when `render` is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import vtkmodules.vtkRenderingFreeType  # draws text
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  draws everything
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow, vtkTextActor

from core.model import WORLD, Model
from viz import camera, placement
from viz.camera import Ray, View
from viz.drawlist.draw_list import Item, Ref, meeting
from viz.drawlist.elements.sensor_looks import Readings, Words, in_si
from viz.drawlist.junction_items import guesses
from viz.drawlist.mass_items import Balance
from viz.drawlist.skeleton import Skeleton
from viz.look import LOOKS, LookName
from viz.meshes.mesh_files import problems_of
from viz.placement import Array
from viz.scene import quality
from viz.scene.cube import Cube
from viz.scene.figures import WORDS, Figure, Figures, Poses
from viz.scene.handles import Handles
from viz.scene.labels import Labels
from viz.scene.map_figures import MapFigures
from viz.scene.mark_figures import MarkFigures
from viz.scene.overlays import Overlays, Tracks
from viz.scene.plane_handle import PlaneHandle
from viz.scene.pointing import Hit, Outline, pick_figure, pick_handle
from viz.scene.prefetch import draw_list
from viz.scene.quality import Display, Quality
from viz.scene.range_box import RangeBox, room
from viz.scene.surroundings import Surroundings, WorkingPlane, light_up

EMPTY = (-0.5, 0.5, -0.5, 0.5, 0.0, 0.8)
"""Bounding box (xmin, xmax, ymin, ymax, zmin, zmax) of a scene without figures, m."""
DIM = 0.3
"""Opacity of dimmed parts."""


class Scene:
    """Everything drawn in one render window."""

    def __init__(
        self,
        window: vtkRenderWindow,
        look: LookName = "light",
        pixel_ratio: float = 1.0,
        fineness: Quality | None = None,
    ) -> None:
        """Create the scene. `fineness` None: by the capability of the graphics hardware, determined at the first
        render."""
        self.window = window
        self._fineness = fineness
        self.hasty = False  # whether the last picture was coarser than it could be
        self._seen: tuple[int, int] | None = None  # the size a smaller picture is enlarged to
        self.pixel_ratio = pixel_ratio
        self.palette = LOOKS[look]
        self.model: Model | None = None
        self.items: tuple[Item, ...] = ()
        self.view = View()
        self._values: Mapping[str, float] = {}
        self._meeting: frozenset[frozenset[str]] = frozenset()
        self.display = Display()
        self._selected: Ref | None = None
        self._hovered: Ref | None = None
        self._pointed: tuple[Ref, ...] = ()
        self._poses: Poses = {}
        self._homes: Poses = {}
        self.words: Words = in_si
        self._extent = 1.0
        self._balance: Balance | None = None
        self.tracks = Tracks()
        self.renderer, self.front, self.corner = self._renderers()
        self.figures = Figures(self.renderer, self.front, self.palette)
        self.figures.is_shown = lambda item: self.display.shows(item, self._selected)
        self.labels = Labels(self.front, self.palette)
        self.overlays = Overlays(self.renderer, self.front, self.palette)
        self.map = MapFigures(self.renderer, self.palette)
        self.cube = Cube(self.corner, self.palette)
        self.handles = Handles(self.front, self.palette)
        self.plane_handle = PlaneHandle(self.front, self.palette)
        self.mobility_marks = MarkFigures(self.front, self.palette)
        self.surroundings = Surroundings(self.renderer)
        self.working_plane = WorkingPlane(self.renderer)
        self._clear: Set[str] | None = None
        """Bodies and frames that are drawn as ever; None: all."""
        self.leave_room()
        self.range_box = RangeBox(self.renderer, self.front, self.palette)
        self._outlines = {name: Outline(self.renderer) for name in ("hover", "accent", "dragged")}
        self._refine()

    def _renderers(self) -> tuple[vtkRenderer, vtkRenderer, vtkRenderer]:
        """Return the machine's renderer, one in front of it for handles and labels that shares its camera, and the
        cube's."""
        self.window.SetNumberOfLayers(3)
        renderers = vtkRenderer(), vtkRenderer(), vtkRenderer()
        for layer, renderer in enumerate(renderers):
            renderer.SetLayer(layer)
            renderer.SetUseOIT(False)  # blending glass in the order of depth takes two passes over the whole picture
            self.window.AddRenderer(renderer)
        renderers[1].SetActiveCamera(renderers[0].GetActiveCamera())
        renderers[1].AddViewProp(vtkTextActor())  # draws nothing, but layers without props smooth nothing
        return renderers

    # ------------------------------------------------------------------------------- the model

    def show(self, model: Model, p: Mapping[str, float] | None = None) -> None:
        """Draw a model with parameter values `p`; unchanged items keep their actors."""
        self.keep_tracks(model)
        self.model = model
        self._values = model.values(p)
        self.items = self._draw_list_of(model, p)
        self._homes = guesses(model, self._values)
        self._poses = {**self._homes, **self._poses}
        self.figures.reconcile(self.items, self._poses)
        self.overlays.model, self.overlays.items = model, self.items
        self._balance = Balance(model, self._values)
        self.labels.measure = Readings(model, self._values, self.words)
        self.handles.use(Skeleton(model, self._values))
        self.handles.move(self._poses)
        self._after_change()

    def draws(self, model: Model, p: Mapping[str, float] | None = None) -> bool:
        """Return True if this model with these parameter values is drawn."""
        return self.model is model and self._values == model.values(p)

    @property
    def quality(self) -> Quality:
        """Rendering quality; "plain" until the first picture has shown the hardware's capability."""
        return self._fineness or "plain"

    @property
    def problems(self) -> tuple[str, ...]:
        """Return one sentence for each mesh file replaced by a placeholder."""
        return problems_of(self.items)

    def set_display(self, display: Display | None = None, **changes: Any) -> None:
        """Show or hide parts: `set_display(frames=True)`."""
        before = self.display.layers
        self.display = replace(display or self.display, **changes)
        self.overlays.layers = self.display.layers
        if self.model is not None and self.display.layers != before:
            self._rebuild_draw_list()
        self.figures.refresh()
        self._after_change()

    def keep_apart(self, model: Model, names: Sequence[str], arrays: ArrayLike) -> None:
        """Draw links of a planar machine that meet in a motion in separate layers: poses (k, n, 4, 4) of bodies and
        frames, valid until the next call. Without poses only links that meet in the reference configuration are
        separated."""
        motion = [dict(zip(names, pose, strict=True)) for pose in np.asarray(arrays, dtype=float)]
        found = meeting(model, None, motion) if motion else frozenset()
        if found != self._meeting:
            self._meeting = found
            if self.model is not None and self.display.layers:
                self._rebuild_draw_list()
                self._after_change()

    def dim_except(self, bodies: Set[str] | None) -> None:
        """Dim all parts except those of these bodies and frames, and of the world; None: dim nothing."""
        if bodies != self._clear:
            self._clear = bodies
            if self.model is not None:
                self._rebuild_draw_list()
                self._after_change()

    def _rebuild_draw_list(self) -> None:
        assert self.model is not None
        self.items = self.overlays.items = self._draw_list_of(self.model, self._values)
        self.figures.reconcile(self.items, self._poses)

    def _draw_list_of(self, model: Model, p: Mapping[str, float] | None) -> tuple[Item, ...]:
        found, clear = draw_list(model, p, self.display.layers, self._meeting), self._clear
        if clear is None:
            return found
        return tuple(
            item if item.frame in clear or item.frame == WORLD else replace(item, opacity=DIM * item.opacity)
            for item in found
        )

    def _after_change(self) -> None:
        self.labels.show(tuple(item for item in self.items if item.role in WORDS and self.display.shows(item)))
        self.labels.move(self._poses)
        self._highlight()
        self._fit_surroundings()
        self._move_mass_center()

    def move(self, poses: Poses | Sequence[str], arrays: ArrayLike | None = None) -> None:
        """Move bodies and frames: a mapping name → (4, 4), or names and an (n, 4, 4) array."""
        if arrays is not None:
            poses = dict(zip(poses, np.asarray(arrays, dtype=float), strict=True))
        assert isinstance(poses, Mapping)
        self._homes = {name: poses.get(name, home) for name, home in self._homes.items()}
        poses = self._poses = {**self._homes, **poses}
        self.figures.move(poses)
        self.labels.move(poses)
        self.handles.move(poses)
        self._move_mass_center()
        if self.tracks.record(poses, 2e-3 * self._extent):
            self.overlays.paths(self.tracks.trajectories)

    def follow(self, *frames: str) -> None:
        """Draw the paths of the origins of these bodies and frames from now on; without names, stop."""
        self.tracks.follow(*frames)
        self.tracks.record(self._poses, 2e-3 * self._extent)
        self.overlays.paths(self.tracks.trajectories)

    def keep_tracks(self, model: Model) -> None:
        """Drop the paths of another machine, and of frames that no longer exist."""
        if self.tracks.frames:
            same = self.model is not None and (self.model.name, self.model.origin) == (model.name, model.origin)
            names = model.expanded.index("frame") if same else {}
            self.follow(*(name for name in self.tracks.frames if name in names))

    def _move_mass_center(self) -> None:
        wanted = self.display.centers_of_mass and self._balance is not None
        center = self._balance.center(self._poses) if wanted and self._balance is not None else None
        radius = self.handles.skeleton.radius if self.handles.skeleton is not None else 0.0
        self.overlays.mass_center(center, 1.15 * radius)

    # ------------------------------------------------------------------------------- look

    def look(self, name: LookName) -> None:
        """Switch to the light or dark colours."""
        self.palette = LOOKS[name]
        self._paint()
        self._after_change()

    def _paint(self) -> None:
        look = self.palette
        plain = not self.renderer.GetUseSSAO()  # ambient occlusion draws no gradient
        self.renderer.SetGradientBackground(plain)
        self.renderer.SetBackgroundAlpha(1.0)
        self.renderer.SetBackground(*look.colour("horizon" if plain else "haze"))
        self.renderer.SetBackground2(*look.colour("sky"))
        for renderer in (self.renderer, self.front, self.corner):
            light_up(renderer, look.light)
        above = (self.labels, self.handles, self.plane_handle, self.cube, self.range_box, self.mobility_marks)
        for part in (self.figures, self.overlays, self.map, *above):
            part.paint(look)

    # ------------------------------------------------------------------------------- selection

    def show_handles(self, *joints: str) -> None:
        """Show the handles of these joints only."""
        self.handles.show(*joints)
        self.handles.move(self._poses)

    def select(self, ref: Ref | None) -> None:
        """Outline an element as selected."""
        self._selected = ref
        self.figures.refresh()
        self._highlight()

    def hover(self, ref: Ref | None) -> None:
        """Outline an element as under the pointer."""
        if ref != self._hovered:
            self._hovered = ref
            self._highlight()

    def point_out(self, *refs: Ref) -> None:
        """Outline these elements as referenced by a message, and no others."""
        if refs != self._pointed:
            self._pointed = refs
            self._highlight()

    @property
    def pointed_out(self) -> tuple[Ref, ...]:
        """Return the elements referenced by a message."""
        return self._pointed

    def _highlight(self) -> None:
        chosen = self._figures_of(self._selected)
        pointed_out = [figure for ref in self._pointed for figure in self._figures_of(ref) or self._carried(ref)]
        touched = [] if self._hovered == self._selected else self._figures_of(self._hovered)
        self._outlines["accent"].show(chosen, self.palette.colour("accent"))
        self._outlines["dragged"].show(pointed_out, self.palette.colour("dragged"))
        self._outlines["hover"].show(touched, self.palette.colour("hover"))

    def _carried(self, ref: Ref) -> list[Figure]:
        """Return the figures of the body carried by a joint that itself is not drawn."""
        joint = self.handles.skeleton.joint(ref[1]) if ref[0] == "joints" and self.handles.skeleton else None
        home = self.handles.skeleton.side(joint, "b")[0] if joint is not None and self.handles.skeleton else ""
        return self._figures_of(("bodies", home)) if home else []

    def _figures_of(self, ref: Ref | None) -> list[Figure]:
        if ref is None or self.model is None:
            return []
        if ref[0] == "chains" and any(chain.name == ref[1] for chain in self.model.chains):
            chain = self.model.chain(ref[1])
            names = {*chain.bodies, f"{chain.prefix}tool"}
            return [f for f in self.figures.table.values() if f.item.ref and f.item.ref[1] in names]
        found = self.figures.of(tuple(ref))
        return found if ref[0] == "frames" else [figure for figure in found if figure.item.role != "frame"]

    # ------------------------------------------------------------------------------- picking

    def pick(self, x: float, y: float, *, handles: bool = True) -> Hit | None:
        """Return the handle, body, joint or frame under a pixel; `handles` False ignores handles."""
        ray = self.ray(x, y)
        return (pick_handle(ray, self.handles) if handles else None) or pick_figure(ray, self.figures.table.values())

    def ray(self, x: float, y: float) -> Ray:
        """Return the line of sight through a pixel."""
        return camera.ray(self.view, self.size, x, y)

    def project(self, point: ArrayLike) -> tuple[float, float]:
        """Return the pixel of a point (3,)."""
        return camera.project(self.view, self.size, point)

    # ------------------------------------------------------------------------------- camera

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height of the displayed picture, in device pixels."""
        width, height = self._seen or self.window.GetSize()
        return max(width, 1), max(height, 1)

    def resize(self, width: int, height: int) -> None:
        """Change the picture size, in device pixels."""
        if (width, height) != self.size:
            self._seen = None
            self.window.SetSize(width, height)

    def bounds(self, ref: Ref | None = None, overlays: bool = False) -> Array:
        """Return the box (6,) (xmin, xmax, ymin, ymax, zmin, zmax) of an element or of the whole machine, m; with
        `overlays` also around ellipsoids, ghosts and the like."""
        figures = self._figures_of(ref) or [f for f in self.figures.table.values() if f.item.role != "inertia"]
        found = [figure.bounds for figure in figures if figure.data.GetNumberOfPoints()]
        if overlays and ref is None:
            found += [*(actor.GetBounds() for actor in self.overlays.actors), *self.range_box.framed]
            found += [actor.GetBounds() for actor in self.map.actors]
            found += [tuple(np.repeat(point, 2)) for point in self._beside]
        return placement.around(found or [EMPTY])

    def shows(self, ref: Ref) -> bool:
        """Return True if a part of an element is drawn."""
        return bool(self._figures_of(ref))

    def fit(self, ref: Ref | None = None) -> View:
        """Return the present view moved so that an element fills the picture, or the whole machine, or the fixed
        ranges."""
        width, height = self.size
        if self.range_box.fixed and ref is None:
            return camera.fit(self.view, self.range_box.fixed, width / height, room(self.size, self.pixel_ratio))
        return camera.fit(self.view, self.bounds(ref, overlays=True), width / height, self.margin)

    def leave_room(self, margin: float = camera.MARGIN, beside: Sequence[Array] = ()) -> None:
        """Set the size of the picture relative to its fitted content, and further points (3,) to be visible, m, to
        leave room for texts and drawings over the picture."""
        self.margin, self._beside = margin, beside

    def _fit_surroundings(self) -> None:
        if self.model is None:
            return
        size = placement.extent(self.bounds())
        if abs(np.log(max(size, 1e-6) / self._extent)) > 0.5:
            self._extent = max(size, 1e-6)
            self._refine()
        self.floor, d = min(0.0, self.figures.lowest), self.display
        self.surroundings.show(self.model, dict(self._values), _rounded(size), self.floor, self.palette)
        self.surroundings.toggle(d.ground, d.axes, d.gravity)

    floor = 0.0
    """Height of the ground grid: 0, or the machine's lowest point if that is below, m."""

    # ------------------------------------------------------------------------------- drawing

    def settle(self) -> None:
        """Fit the ground grid and its surroundings to the present pose (used after opening and editing)."""
        self._fit_surroundings()

    def transparent(self, on: bool) -> None:
        """Hide background and ground, for pictures with transparent background."""
        self.renderer.SetGradientBackground(not on)
        if on:
            self.set_display(ground=False)
            self.renderer.SetBackground(0.0, 0.0, 0.0)
            self.renderer.SetBackgroundAlpha(0.0)

    def close(self) -> None:
        """Release the graphics resources; the scene cannot be used afterwards."""
        for renderer in (self.corner, self.front, self.renderer):
            renderer.RemoveAllViewProps()
            self.window.RemoveRenderer(renderer)

    def render(self, hasty: bool = False) -> None:
        """Render the picture. `hasty` : faster with software rendering during motion: without anti-aliasing, with
        simplified meshes for many polygons, and at reduced resolution."""
        self.hasty = hasty and self.quality == "plain"
        coarse = self.hasty and self.figures.polygons > quality.MOST_POLYGONS
        if coarse != self.figures.coarse:
            self.figures.coarsen(coarse)
        self._shrink(quality.share(self.size, self.figures.polygons) if self.hasty else 1.0)
        self.prepare()
        quality.smooth(self.quality, hasty, self.front, self.corner)
        self.window.Render()
        if self._fineness is None:
            self._fineness = quality.quality_of_renderer(quality.renderer_name_of(self.window))
            self._refine()
            if self._fineness == "fine":
                self.window.Render()

    def _shrink(self, share: float) -> None:
        """Render at a share of the displayed resolution, along each side."""
        seen = self.size
        drawn = round(share * seen[0]), round(share * seen[1])
        if drawn != self.window.GetSize():
            self._seen = seen if share < 1.0 else None
            self.window.SetSize(*drawn)

    def _refine(self) -> None:
        renderers = self.renderer, self.front, self.corner
        quality.apply(self.quality, self.window, *renderers, self._extent)
        self._paint()

    def prepare(self) -> None:
        """Update everything that depends on the view, before a render."""
        camera.apply(self.view, self.renderer.GetActiveCamera())
        size = self.window.GetSize()
        ratio = self.pixel_ratio * size[1] / self.size[1]
        for outline in self._outlines.values():
            outline.fit(size, ratio)
        where = self.view, size, ratio
        for part in (self.handles, self.plane_handle, self.range_box):
            part.fit(*where)
        self.labels.fit(*where, self.mobility_marks.fit(*where))
        self.cube.fit(self.view, self.size, self.pixel_ratio, self.display.cube)
        self.renderer.SetUseOIT(self.figures.glass or self.overlays.glass or self.map.glass)
        self.renderer.ResetCameraClippingRange()


def _rounded(size: float) -> float:
    """Round a size to one or two digits, so that small movements have no effect."""
    return float(f"{size:.1g}") if np.isfinite(size) and size > 0.0 else 1.0

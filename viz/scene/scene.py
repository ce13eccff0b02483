"""Scene of one model in one render window: built from draw lists, moved, picked, highlighted.

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
from viz.camera import CameraView, Ray
from viz.drawlist.draw_list import Item, Ref, find_overlapping_links
from viz.drawlist.elements.sensor_looks import SensorLabels, Words, format_si
from viz.drawlist.junction_items import guessed_poses
from viz.drawlist.mass_items import MassDistribution
from viz.drawlist.skeleton import Skeleton
from viz.look import LOOKS, LookName
from viz.meshes.mesh_files import file_problems
from viz.placement import Array
from viz.scene import quality
from viz.scene.axis_handle import FrameHandle
from viz.scene.cube import OrientationCube
from viz.scene.figures import WORDS, Figure, Figures, Poses
from viz.scene.handles import JointHandles
from viz.scene.labels import Labels
from viz.scene.map_figures import MapFigures
from viz.scene.mark_figures import MobilityMarkFigures
from viz.scene.overlays import Overlays, PointTracks
from viz.scene.plane_handle import PlaneHandle
from viz.scene.pointing import Hit, Outline, pick_figure, pick_handle
from viz.scene.prefetch import get_draw_list
from viz.scene.quality import DisplayOptions, Quality
from viz.scene.range_box import RangeBox, size_with_margin
from viz.scene.surroundings import Surroundings, WorkingPlane, set_soft_lights

EMPTY = (-0.5, 0.5, -0.5, 0.5, 0.0, 0.8)
"""Bounding box (xmin, xmax, ymin, ymax, zmin, zmax) of a scene without figures, m."""
DIM = 0.3
"""Opacity of parts that are dimmed."""


class Scene:
    """Everything that is drawn in one render window."""

    def __init__(
        self,
        window: vtkRenderWindow,
        look: LookName = "light",
        pixel_ratio: float = 1.0,
        fineness: Quality | None = None,
    ) -> None:
        """Create the scene. If `fineness` is None, the quality depends on the graphics hardware, which is determined at
        the first render."""
        self.window = window
        self._fineness = fineness
        self.hasty = False  # whether the last picture was coarser than it could be
        self._seen: tuple[int, int] | None = None  # the size a smaller picture is enlarged to
        self.pixel_ratio = pixel_ratio
        self.palette = LOOKS[look]
        self.model: Model | None = None
        self.items: tuple[Item, ...] = ()
        self.view = CameraView()
        self._values: Mapping[str, float] = {}
        self._meeting: frozenset[frozenset[str]] = frozenset()
        self.display = DisplayOptions()
        self._selected: Ref | None = None
        self._hovered: Ref | None = None
        self._pointed: tuple[Ref, ...] = ()
        self._poses: Poses = {}
        self._homes: Poses = {}
        self.words: Words = format_si
        self._extent = 1.0
        self._balance: MassDistribution | None = None
        self.tracks = PointTracks()
        self.renderer, self.front, self.corner = self._renderers()
        self.figures = Figures(self.renderer, self.front, self.palette)
        self.figures.is_shown = lambda item: self.display.shows(item, self._selected)
        self.labels = Labels(self.front, self.palette)
        self.overlays = Overlays(self.renderer, self.front, self.palette)
        self.map = MapFigures(self.renderer, self.palette)
        self.cube = OrientationCube(self.corner, self.palette)
        self.handles = JointHandles(self.front, self.palette)
        self.plane_handle = PlaneHandle(self.front, self.palette)
        self.frame_handle = FrameHandle(self.front, self.palette)
        self.mobility_marks = MobilityMarkFigures(self.front, self.palette)
        self.surroundings = Surroundings(self.renderer)
        self.working_plane = WorkingPlane(self.renderer)
        self._clear: Set[str] | None = None
        """Bodies and frames that are drawn as ever; None: all."""
        self.set_fit_margin()
        self.range_box = RangeBox(self.renderer, self.front, self.palette)
        self._outlines = {name: Outline(self.renderer) for name in ("hover", "accent", "dragged")}
        self._apply_quality()

    def _renderers(self) -> tuple[vtkRenderer, vtkRenderer, vtkRenderer]:
        """Return the renderer of the machine, one in front of it for handles and labels, which shares its camera, and
        that of the orientation cube."""
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

    def show_model(self, model: Model, p: Mapping[str, float] | None = None) -> None:
        """Show a model with parameter values `p`; unchanged items keep their actors."""
        self.keep_tracks(model)
        self.model = model
        self._values = model.values(p)
        self.items = self._build_draw_list(model, p)
        self._homes = guessed_poses(model, self._values)
        self._poses = {**self._homes, **self._poses}
        self.figures.reconcile(self.items, self._poses)
        self.overlays.model, self.overlays.items = model, self.items
        self._balance = MassDistribution(model, self._values)
        self.labels.measure = SensorLabels(model, self._values, self.words)
        self.handles.set_skeleton(Skeleton(model, self._values))
        self.handles.move(self._poses)
        self._update_after_change()

    def is_drawing(self, model: Model, p: Mapping[str, float] | None = None) -> bool:
        """Return True if the scene shows this model with these parameter values."""
        return self.model is model and self._values == model.values(p)

    @property
    def quality(self) -> Quality:
        """Rendering quality; "plain" until the first render has determined the capability of the hardware."""
        return self._fineness or "plain"

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about mesh files that are drawn as placeholders, one per file."""
        return file_problems(self.items)

    def set_display(self, display: DisplayOptions | None = None, **changes: Any) -> None:
        """Show or hide parts: `set_display(frames=True)`."""
        before = self.display.layers
        self.display = replace(display or self.display, **changes)
        self.overlays.layers = self.display.layers
        if self.model is not None and self.display.layers != before:
            self._rebuild_draw_list()
        self.figures.refresh()
        self._update_after_change()

    def separate_moving_links(self, model: Model, names: Sequence[str], arrays: ArrayLike) -> None:
        """Draw the links of a planar machine in separate layers if they overlap in a motion, given as poses (k, n, 4,
        4) of bodies and frames; valid until the next call. Without poses, only links that overlap in the reference
        configuration are separated."""
        motion = [dict(zip(names, pose, strict=True)) for pose in np.asarray(arrays, dtype=float)]
        found = find_overlapping_links(model, None, motion) if motion else frozenset()
        if found != self._meeting:
            self._meeting = found
            if self.model is not None and self.display.layers:
                self._rebuild_draw_list()
                self._update_after_change()

    def dim_except(self, bodies: Set[str] | None) -> None:
        """Dim all parts except those of these bodies and frames and of the world; None: dim nothing."""
        if bodies != self._clear:
            self._clear = bodies
            if self.model is not None:
                self._rebuild_draw_list()
                self._update_after_change()

    def _rebuild_draw_list(self) -> None:
        assert self.model is not None
        self.items = self.overlays.items = self._build_draw_list(self.model, self._values)
        self.figures.reconcile(self.items, self._poses)

    def _build_draw_list(self, model: Model, p: Mapping[str, float] | None) -> tuple[Item, ...]:
        found, clear = get_draw_list(model, p, self.display.layers, self._meeting), self._clear
        if clear is None:
            return found
        return tuple(
            item if item.frame in clear or item.frame == WORLD else replace(item, opacity=DIM * item.opacity)
            for item in found
        )

    def _update_after_change(self) -> None:
        self.labels.show_labels(tuple(item for item in self.items if item.role in WORDS and self.display.shows(item)))
        self.labels.move(self._poses)
        self._update_outlines()
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
        if self.tracks.record_positions(poses, 2e-3 * self._extent):
            self.overlays.show_paths(self.tracks.trajectories)

    def follow_frames(self, *frames: str) -> None:
        """Record and draw the paths of the origins of these bodies and frames; without names, stop recording."""
        self.tracks.follow_frames(*frames)
        self.tracks.record_positions(self._poses, 2e-3 * self._extent)
        self.overlays.show_paths(self.tracks.trajectories)

    def keep_tracks(self, model: Model) -> None:
        """Remove the paths of another machine, and of frames that no longer exist."""
        if self.tracks.followed_frames:
            same = self.model is not None and (self.model.name, self.model.origin) == (model.name, model.origin)
            names = model.expanded.index("frame") if same else {}
            self.follow_frames(*(name for name in self.tracks.followed_frames if name in names))

    def _move_mass_center(self) -> None:
        wanted = self.display.centers_of_mass and self._balance is not None
        center = self._balance.mass_center(self._poses) if wanted and self._balance is not None else None
        radius = self.handles.skeleton.joint_radius if self.handles.skeleton is not None else 0.0
        self.overlays.show_mass_center(center, 1.15 * radius)

    # ------------------------------------------------------------------------------- look

    def set_colour_scheme(self, name: LookName) -> None:
        """Switch to the light or dark colour scheme."""
        self.palette = LOOKS[name]
        self._paint()
        self._update_after_change()

    def _paint(self) -> None:
        look = self.palette
        plain = not self.renderer.GetUseSSAO()  # ambient occlusion draws no gradient
        self.renderer.SetGradientBackground(plain)
        self.renderer.SetBackgroundAlpha(1.0)
        self.renderer.SetBackground(*look.resolve_colour("horizon" if plain else "haze"))
        self.renderer.SetBackground2(*look.resolve_colour("sky"))
        for renderer in (self.renderer, self.front, self.corner):
            set_soft_lights(renderer, look.light)
        above = (
            self.labels,
            self.handles,
            self.plane_handle,
            self.frame_handle,
            self.cube,
            self.range_box,
            self.mobility_marks,
        )
        for part in (self.figures, self.overlays, self.map, *above):
            part.paint(look)

    # ------------------------------------------------------------------------------- selection

    def show_handles(self, *joints: str) -> None:
        """Show the handles of these joints only."""
        self.handles.show_joints(*joints)
        self.handles.move(self._poses)

    def select(self, ref: Ref | None) -> None:
        """Outline an element as selected."""
        self._selected = ref
        self.figures.refresh()
        self._update_outlines()

    def hover(self, ref: Ref | None) -> None:
        """Outline an element as under the pointer."""
        if ref != self._hovered:
            self._hovered = ref
            self._update_outlines()

    def outline_referenced(self, *refs: Ref) -> None:
        """Outline the elements to which a message refers, and no others."""
        if refs != self._pointed:
            self._pointed = refs
            self._update_outlines()

    @property
    def referenced_elements(self) -> tuple[Ref, ...]:
        """Elements to which a message refers."""
        return self._pointed

    def _update_outlines(self) -> None:
        chosen = self._figures_of(self._selected)
        pointed_out = [
            figure for ref in self._pointed for figure in self._figures_of(ref) or self._carried_figures(ref)
        ]
        touched = [] if self._hovered == self._selected else self._figures_of(self._hovered)
        self._outlines["accent"].show_outlines(chosen, self.palette.resolve_colour("accent"))
        self._outlines["dragged"].show_outlines(pointed_out, self.palette.resolve_colour("dragged"))
        self._outlines["hover"].show_outlines(touched, self.palette.resolve_colour("hover"))

    def _carried_figures(self, ref: Ref) -> list[Figure]:
        """Return the figures of the body that is carried by a joint which is not drawn itself."""
        joint = self.handles.skeleton.find_joint(ref[1]) if ref[0] == "joints" and self.handles.skeleton else None
        home = self.handles.skeleton.joint_frame(joint, "b")[0] if joint is not None and self.handles.skeleton else ""
        return self._figures_of(("bodies", home)) if home else []

    def _figures_of(self, ref: Ref | None) -> list[Figure]:
        if ref is None or self.model is None:
            return []
        if ref[0] == "chains" and any(chain.name == ref[1] for chain in self.model.chains):
            chain = self.model.chain(ref[1])
            names = {*chain.bodies, f"{chain.prefix}tool"}
            return [f for f in self.figures.table.values() if f.item.ref and f.item.ref[1] in names]
        found = self.figures.find_figures(tuple(ref))
        return found if ref[0] == "frames" else [figure for figure in found if figure.item.role != "frame"]

    # ------------------------------------------------------------------------------- picking

    def pick(self, x: float, y: float, *, handles: bool = True) -> Hit | None:
        """Return the handle, body, joint or frame under a pixel; with `handles` False, handles are ignored."""
        ray = self.ray(x, y)
        return (pick_handle(ray, self.handles) if handles else None) or pick_figure(ray, self.figures.table.values())

    def ray(self, x: float, y: float) -> Ray:
        """Return the line of sight through a pixel."""
        return camera.line_of_sight(self.view, self.size, x, y)

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
            found += [*(actor.GetBounds() for actor in self.overlays.visible_actors), *self.range_box.frame_bounds]
            found += [actor.GetBounds() for actor in self.map.visible_actors]
            found += [tuple(np.repeat(point, 2)) for point in self._beside]
        return placement.enclosing_box(found or [EMPTY])

    def is_drawn(self, ref: Ref) -> bool:
        """Return True if a part of an element is drawn."""
        return bool(self._figures_of(ref))

    def fit(self, ref: Ref | None = None) -> CameraView:
        """Return the current view moved so that an element, or the whole machine, or the fixed ranges, fill the
        picture."""
        width, height = self.size
        if self.range_box.fixed and ref is None:
            return camera.fit(
                self.view, self.range_box.fixed, width / height, size_with_margin(self.size, self.pixel_ratio)
            )
        return camera.fit(self.view, self.bounds(ref, overlays=True), width / height, self.margin)

    def set_fit_margin(self, margin: float = camera.MARGIN, points: Sequence[Array] = ()) -> None:
        """Set the size of the picture relative to the content that is fitted into it, and further points (3,), in m,
        that must be visible, to leave space for texts and drawings over the picture."""
        self.margin, self._beside = margin, points

    def _fit_surroundings(self) -> None:
        if self.model is None:
            return
        size = placement.longest_edge(self.bounds())
        if abs(np.log(max(size, 1e-6) / self._extent)) > 0.5:
            self._extent = max(size, 1e-6)
            self._apply_quality()
        self.floor, d = min(0.0, self.figures.lowest_height), self.display
        self.surroundings.fit_to_machine(self.model, dict(self._values), _round_size(size), self.floor, self.palette)
        self.surroundings.set_visible_parts(d.ground, d.axes, d.gravity)

    floor = 0.0
    """Height of the ground grid: 0, or the machine's lowest point if that is below, m."""

    # ------------------------------------------------------------------------------- drawing

    def fit_surroundings(self) -> None:
        """Fit the ground grid and the surroundings to the current pose (used after opening and editing)."""
        self._fit_surroundings()

    def set_transparent_background(self, on: bool) -> None:
        """Hide background and ground, for pictures with a transparent background."""
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

    def render(self, fast: bool = False) -> None:
        """Render the picture. With `fast`, rendering in software is faster during motion: without anti-aliasing, with
        simplified meshes if there are many polygons, and at reduced resolution."""
        self.hasty = fast and self.quality == "plain"
        coarse = self.hasty and self.figures.polygons > quality.MOST_POLYGONS
        if coarse != self.figures.coarse:
            self.figures.use_simplified_meshes(coarse)
        self._set_resolution_share(
            quality.fast_resolution_share(self.size, self.figures.polygons) if self.hasty else 1.0
        )
        self.prepare_render()
        quality.set_antialiasing(self.quality, fast, self.front, self.corner)
        self.window.Render()
        if self._fineness is None:
            self._fineness = quality.quality_of_renderer(quality.get_renderer_name(self.window))
            self._apply_quality()
            if self._fineness == "fine":
                self.window.Render()

    def _set_resolution_share(self, share: float) -> None:
        """Render at a share of the displayed resolution, along each side."""
        seen = self.size
        drawn = round(share * seen[0]), round(share * seen[1])
        if drawn != self.window.GetSize():
            self._seen = seen if share < 1.0 else None
            self.window.SetSize(*drawn)

    def use_quality_of_films(self) -> None:
        """Render the pictures of a film: as still ones, but with edges that are smoothed afterwards where many samples
        per pixel are computed in software."""
        self.render()
        in_software = quality.quality_of_renderer(quality.get_renderer_name(self.window)) == "plain"
        self._fineness = "plain" if in_software else "picture"
        self._apply_quality()

    def _apply_quality(self) -> None:
        renderers = self.renderer, self.front, self.corner
        quality.apply_quality(self.quality, self.window, *renderers, self._extent)
        self._paint()

    def prepare_render(self) -> None:
        """Update everything that depends on the view, before rendering."""
        camera.apply_to_camera(self.view, self.renderer.GetActiveCamera())
        size = self.window.GetSize()
        ratio = self.pixel_ratio * size[1] / self.size[1]
        for outline in self._outlines.values():
            outline.fit(size, ratio)
        where = self.view, size, ratio
        for part in (self.handles, self.plane_handle, self.frame_handle, self.range_box):
            part.fit(*where)
        self.labels.fit(*where, self.mobility_marks.fit(*where))
        self.cube.fit(self.view, self.size, self.pixel_ratio, self.display.cube)
        self.renderer.SetUseOIT(
            self.figures.glass or self.overlays.has_transparent_part or self.map.has_transparent_part
        )
        self.renderer.ResetCameraClippingRange()


def _round_size(size: float) -> float:
    """Round a size to one or two significant digits, so that small movements have no effect."""
    return float(f"{size:.1g}") if np.isfinite(size) and size > 0.0 else 1.0

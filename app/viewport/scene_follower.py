"""Updates the scene from the session (model, pose, selection) and from theme and view settings; it never changes the
session.

An edited model is drawn in a turn of its own, before the next picture, or when somebody looks at the scene.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.revision import DocumentState, ElementRef
from viz.camera import contains_box
from viz.drawlist.junction_items import junction_poses
from viz.drawlist.layers import choose_motion_samples
from viz.placement import enclosing_box, longest_edge

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.model import Model
    from viz.scene.scene import Scene

DISPLAY = {
    "grid": "ground",
    "axes": "axes",
    "gravity": "gravity",
    "frames": "frames",
    "labels": "labels",
    "com": "centers_of_mass",
    "inertia": "inertia",
    "collision": "collision",
    "forces": "forces",
    "sensors": "sensors",
    "marks": "marks",
    "layers": "layers",
}
"""View settings and the display fields of the scene that they control."""


SMALL = 0.3
"""Size of the first body of a machine, relative to half the picture's height, below which the camera moves closer."""
NARROW = "\u202f"
"""The narrow space before a unit, which the scene's font lacks."""


def _added_elements(old: Model, new: Model) -> list[ElementRef]:
    """Return the elements of the new model that the old one lacks."""
    known = {(collection, element.name) for collection, element in old.elements()}
    return [
        ElementRef(collection, each.name) for collection, each in new.elements() if (collection, each.name) not in known
    ]


class SceneFollower:
    """Connects a viewport's scene to its session, settings and theme."""

    def __init__(self, view: Stage, scene: Scene) -> None:
        self._view, self._scene = view, scene
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.moved, self._on_pose_moved),
            (session.runs.changed, self._separate_links_for_run),
            (session.selected, self._on_selection_changed),
            (session.hovered, self._on_hover_changed),
            (session.pointed_out, self._on_highlight_changed),
            (view.settings.changed, self._on_setting_changed),
            (view.theme.changed, self._on_theme_changed),
        )
        self._later: deque[Callable[[], object]] = deque()
        """Changes that the scene does not show yet."""
        self._shown_p: dict[str, float] = {}
        self._document = session.document
        self._parted: tuple[int, int] | None = None
        """The run, and its version, whose poses the layers of links take into account."""
        self._settles = self._fits = False
        """True if ground and view wait for the pose of a model that was loaded or edited."""
        self._scene.words = lambda value, dimension: view.settings.format_value(value, dimension).replace(NARROW, " ")
        self._update_units()
        self._update_display()
        self._show_model()
        self._on_pose_moved()

    def close(self) -> None:
        """Disconnect from session, settings and theme."""
        self._life.close()
        self._later.clear()

    def call_when_up_to_date(self, function: Callable[[], object]) -> None:
        """Call a function once the scene shows the present document; a function that is already queued is not queued
        again."""
        if not self._later:
            function()
        elif function not in self._later:
            self._later.append(function)

    def update_scene_now(self) -> None:
        """Update the scene to the present document at once."""
        later, self._later = self._later, deque()
        while later:
            later.popleft()()

    def _perform_next_update(self, _seconds: float) -> bool:
        """Perform the next pending update of the scene, each in a separate turn of the event loop."""
        if self._later:
            self._later.popleft()()
        return not self._later

    def _show_model(self) -> None:
        session = self._view.session
        self._shown_p = dict(session.p)
        self._scene.handles.extra = session.mech.implicit_joints
        self._scene.show_model(session.model, self._shown_p)

    def _separate_links_for_run(self) -> None:
        """Once a run is complete, draw links side by side that would intersect during the run."""
        session = self._view.session
        record = session.runs.current
        if record is not None and record.growing:
            return
        run = None if record is None or record.run.model != session.model else record.run
        known = None if run is None or record is None else (record.id, record.version)
        if known == self._parted:
            return
        self._parted = known
        if run is None or not len(run.time):
            self._scene.separate_moving_links(session.model, (), np.zeros((0, 0, 4, 4)))
        else:
            q = run.q[choose_motion_samples(len(run.time))]
            arrays = run.mech.poses(q, dict(run.settings.parameters))
            self._scene.separate_moving_links(session.model, run.mech.frame_names, arrays)
        self._view.update()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            if self._show_model not in self._later:
                self._scene.keep_tracks(new.model)
                self._later += [self._show_model, self._separate_links_for_run]
            shared_slices().add(self._view.widget, self._perform_next_update)
            self._settles = True
            if old.model.origin != new.model.origin or self._document != self._view.session.document:
                self._document = self._view.session.document
                self._fits = True
            elif not self._view.gestures.tool.keeps_view and (
                added := _added_elements(old.model.expanded, new.model.expanded)
            ):
                first = not old.model.bodies + old.model.chains
                shared_slices().add(self._view.widget, lambda _seconds: self._bring_into_view(added, first))

    def _bring_into_view(self, added: list[ElementRef], first: bool) -> bool:
        """Move the camera smoothly if an added element is out of view, or if the first body appears too small."""
        self.update_scene_now()
        view, scene = self._view, self._scene
        boxes = [scene.bounds(ref) for ref in added if scene.is_drawn(ref)]
        small = first and boxes and longest_edge(enclosing_box(boxes)) < SMALL * scene.view.half_height
        if small or not all(contains_box(view.viewpoint.target_view, scene.size, box) for box in boxes):
            view.viewpoint.fit_view()
        return True

    def _on_pose_moved(self) -> None:
        self.call_when_up_to_date(self._update_pose)

    def _update_pose(self) -> None:
        view, session = self._view, self._view.session
        if dict(session.p) != self._shown_p:
            self._show_model()
        mech = session.mech
        poses = dict(zip(mech.frame_names, mech.poses(session.q, p=session.p), strict=True))
        self._scene.move({**poses, **junction_poses(mech, session.q, session.p, session.x)})
        if self._settles:
            self._settles = False
            self._scene.fit_surroundings()
        if self._fits:  # not before: a picture drawn meanwhile would show other poses, and be fitted to them
            self._fits = False
            view.viewpoint.fit_next_picture()
        view.update()

    def _on_selection_changed(self, ref: ElementRef | None) -> None:
        self._update_highlight(lambda scene: scene.select(ref))

    def _on_hover_changed(self, ref: ElementRef | None) -> None:
        self._update_highlight(lambda scene: scene.hover(ref))

    def _on_highlight_changed(self, refs: tuple[ElementRef, ...]) -> None:
        self._update_highlight(lambda scene: scene.outline_referenced(*refs))

    def _update_highlight(self, highlight: Callable[[Scene], object]) -> None:
        """Show hovered or highlighted elements in the scene."""

        def update_scene() -> None:
            highlight(self._scene)
            self._view.update()

        self.call_when_up_to_date(update_scene)

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("view/"):
            self._update_display()
            self._view.update()
        elif key.startswith("units/"):
            self._update_units()
            self._show_model()
            self._on_pose_moved()

    def _update_units(self) -> None:
        self._scene.range_box.unit = self._view.settings.display("length")

    def _update_display(self) -> None:
        settings = self._view.settings
        flags: dict[str, bool | None] = {field: settings.view_flag(flag) for flag, field in DISPLAY.items()}
        flags["joints"] = True if settings.view_flag("joints") else None
        self._scene.set_display(None, **flags)

    def _on_theme_changed(self, name: str) -> None:
        self._scene.set_colour_scheme("dark" if name == "dark" else "light")
        self._view.update()

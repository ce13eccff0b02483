"""Updates the scene from the session: model, pose, selection, theme, view settings. The scene changes nothing in the
session.

An edited model is drawn in a turn of its own, before the next picture, or when somebody looks at the scene.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Lifetime
from app.background.slices import slices
from app.document.revision import Ref, State
from viz.camera import sees
from viz.drawlist.junction_items import junctions
from viz.drawlist.layers import motion_samples
from viz.placement import around, extent

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
"""Settings flag → field of the scene's display."""


SMALL = 0.3
"""Size of the first part of a machine, relative to half the picture's height, below which the camera moves closer."""
NARROW = "\u202f"
"""The narrow space before a unit, which the scene's font lacks."""


def _added_elements(old: Model, new: Model) -> list[Ref]:
    """Return the elements of the new model that the old one lacks."""
    known = {(collection, element.name) for collection, element in old.elements()}
    return [Ref(collection, each.name) for collection, each in new.elements() if (collection, each.name) not in known]


class SceneFollower:
    """Connects a viewport's scene to its session, settings and theme."""

    def __init__(self, view: Stage, scene: Scene) -> None:
        self._view, self._scene = view, scene
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._document_changed),
            (session.moved, self._pose_moved),
            (session.runs.changed, self._run_finished),
            (session.selected, self._selection_changed),
            (session.hovered, self._hover_changed),
            (session.pointed_out, self._pointed_out),
            (view.settings.changed, self._settings),
            (view.theme.changed, self._look),
        )
        self._later: deque[Callable[[], object]] = deque()
        """Changes that the scene does not show yet."""
        self._shown_p: dict[str, float] = {}
        self._document = session.document
        self._parted: tuple[int, int] | None = None
        """The run, and its version, whose poses the layers of links take into account."""
        self._settles = self._fits = False
        """True if ground and view wait for the pose of a model that was loaded or edited."""
        self._scene.words = lambda value, dimension: view.settings.shown(value, dimension).replace(NARROW, " ")
        self._units()
        self._display()
        self._show()
        self._pose_moved()

    def close(self) -> None:
        """Disconnect from session, settings and theme."""
        self._life.close()
        self._later.clear()

    def afterwards(self, work: Callable[[], object]) -> None:
        """Call a function once the scene shows the present document; a function already queued is queued only once."""
        if not self._later:
            work()
        elif work not in self._later:
            self._later.append(work)

    def catch_up(self) -> None:
        """Update the scene to the present document at once."""
        later, self._later = self._later, deque()
        while later:
            later.popleft()()

    def _catch_up(self, _seconds: float) -> bool:
        """Perform the next pending update of the scene, in its own turn of the event loop."""
        if self._later:
            self._later.popleft()()
        return not self._later

    def _show(self) -> None:
        session = self._view.session
        self._shown_p = dict(session.p)
        self._scene.handles.extra = session.mech.implicit_joints
        self._scene.show(session.model, self._shown_p)

    def _run_finished(self) -> None:
        """Draw links that would intersect in the run side by side, once the run is complete."""
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
            self._scene.keep_apart(session.model, (), np.zeros((0, 0, 4, 4)))
        else:
            q = run.q[motion_samples(len(run.time))]
            arrays = run.mech.poses(q, dict(run.settings.parameters))
            self._scene.keep_apart(session.model, run.mech.frame_names, arrays)
        self._view.update()

    def _document_changed(self, old: State, new: State) -> None:
        if old.model is not new.model:
            if self._show not in self._later:
                self._scene.keep_tracks(new.model)
                self._later += [self._show, self._run_finished]
            slices().add(self._view.widget, self._catch_up)
            self._settles = True
            if old.model.origin != new.model.origin or self._document != self._view.session.document:
                self._document = self._view.session.document
                self._fits = True
            elif not self._view.gestures.tool.keeps_view and (
                added := _added_elements(old.model.expanded, new.model.expanded)
            ):
                first = not old.model.bodies + old.model.chains
                slices().add(self._view.widget, lambda _seconds: self._bring_into_view(added, first))

    def _bring_into_view(self, added: list[Ref], first: bool) -> bool:
        """Move the camera smoothly if an added element is out of view, or if the first part appears too small."""
        self.catch_up()
        view, scene = self._view, self._scene
        boxes = [scene.bounds(ref) for ref in added if scene.shows(ref)]
        small = first and boxes and extent(around(boxes)) < SMALL * scene.view.half_height
        if small or not all(sees(view.viewpoint.goal, scene.size, box) for box in boxes):
            view.viewpoint.fit()
        return True

    def _pose_moved(self) -> None:
        self.afterwards(self._move)

    def _move(self) -> None:
        view, session = self._view, self._view.session
        if dict(session.p) != self._shown_p:
            self._show()
        mech = session.mech
        poses = dict(zip(mech.frame_names, mech.poses(session.q, p=session.p), strict=True))
        self._scene.move({**poses, **junctions(mech, session.q, session.p, session.x)})
        if self._settles:
            self._settles = False
            self._scene.settle()
        if self._fits:  # not before: a picture drawn meanwhile would show other poses, and be fitted to them
            self._fits = False
            view.viewpoint.fit_next_picture()
        view.update()

    def _selection_changed(self, ref: Ref | None) -> None:
        self._show_pointed_out(lambda scene: scene.select(ref))

    def _hover_changed(self, ref: Ref | None) -> None:
        self._show_pointed_out(lambda scene: scene.hover(ref))

    def _pointed_out(self, refs: tuple[Ref, ...]) -> None:
        self._show_pointed_out(lambda scene: scene.point_out(*refs))

    def _show_pointed_out(self, out: Callable[[Scene], object]) -> None:
        """Show hovered or pointed-out elements in the scene."""

        def work() -> None:
            out(self._scene)
            self._view.update()

        self.afterwards(work)

    def _settings(self, key: str) -> None:
        if key.startswith("view/"):
            self._display()
            self._view.update()
        elif key.startswith("units/"):
            self._units()
            self._show()
            self._pose_moved()

    def _units(self) -> None:
        self._scene.range_box.unit = self._view.settings.display("length")

    def _display(self) -> None:
        settings = self._view.settings
        flags: dict[str, bool | None] = {field: settings.flag(flag) for flag, field in DISPLAY.items()}
        flags["joints"] = True if settings.flag("joints") else None
        self._scene.set_display(None, **flags)

    def _look(self, name: str) -> None:
        self._scene.look("dark" if name == "dark" else "light")
        self._view.update()

"""The view of a document (pose, camera, plots, paths, vectors) as plain data, to be saved and restored, and its named
views."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QInputDialog

from app.background.signals import Signal
from app.document.kept.companion import number, text, view_of
from app.document.revision import State, Step
from app.plotting.curves import Plot, Sheet
from viz.camera import View
from viz.scene.vectors import KINDS, Wanted

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel
    from app.viewport.run_scene import RunScene
    from app.viewport.stage import Stage


MOST = 500
"""Largest number of entries of a list that are restored."""


class Surroundings:
    """Saves and restores the view in sections; each has a function that saves it and one that restores it, which raises
    ValueError for invalid data."""

    def __init__(self, view: Stage, run_scene: RunScene, views: SavedViews, plots: Callable[[], PlotsPanel]) -> None:
        self._view, self._session, self._run_scene, self._sheets = view, view.session, run_scene, plots
        self._sections: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
            "camera": (self._saved_camera, self._look),
            "views": (views.kept, views.put_back),
            "plots": (self._saved_plots, self._restore_plots),
            "traces": (self._saved_paths, self._restore_paths),
            "vectors": (self._saved_vectors, self._restore_vectors),
            "locks": (lambda: sorted(self._session.locked), self._restore_locks),
        }

    def kept(self) -> dict[str, Any]:
        """Return all sections."""
        pose = {"pose": dict(self._session.state.pose)}
        return pose | {name: keep() for name, (keep, _) in self._sections.items()}

    def put_back(self, kept: Mapping[str, Any]) -> None:
        """Restore a saved view (the pose comes with the document); invalid data are ignored."""
        for name, (_, put) in self._sections.items():
            if name in kept:
                try:
                    put(kept[name])
                except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
                    words = f"What was kept of the {name} cannot be used; they start from the defaults."
                    self._session.message.emit("hint", words)

    # ------------------------------------------------------------------------------- camera

    def _saved_camera(self) -> dict[str, Any]:
        return dataclasses.asdict(self._view.viewpoint.goal)

    def _look(self, kept: Any) -> None:
        self._view.viewpoint.recall(view_of(kept))

    def _restore_locks(self, kept: Any) -> None:
        self._session.restore_locks(map(text, kept[:MOST]))

    # ------------------------------------------------------------------------------- plots

    def _saved_plots(self) -> dict[str, Any]:
        sheet = self._sheets().sheet
        rows = [{"channels": plot.channels, "x": plot.x, "aspect": plot.aspect} for plot in sheet.plots]
        return {"panels": rows, "active": sheet.active}

    def _restore_plots(self, kept: Any) -> None:
        rows = kept["panels"][:MOST]
        plots = tuple(
            Plot(tuple(map(text, row["channels"][:MOST])), text(row["x"]), number(row["aspect"])) for row in rows
        )
        if plots:
            self._sheets().show_sheet(Sheet(plots).activated(int(number(kept["active"]))))

    # ------------------------------------------------------------------------------- traces, vectors

    def _saved_paths(self) -> list[Any]:
        return [[frame, list(point)] for frame, point in self._view.scene.tracks.points]

    def _restore_paths(self, kept: Any) -> None:
        scene, known = self._view.scene, self._session.mech.frame_names
        points = [(text(frame), tuple(map(number, point))) for frame, point in kept[:MOST]]
        for frame, (x, y, z) in points:
            if frame in known:
                scene.tracks.follow_point(frame, (x, y, z))
        scene.follow(*scene.tracks.frames)

    def _saved_vectors(self) -> dict[str, Any]:
        shown = self._run_scene
        return {"kinds": sorted(shown.whole_kinds), "single": [list(each) for each in sorted(shown.single)]}

    def _restore_vectors(self, kept: Any) -> None:
        kinds = frozenset(kind for kind in kept["kinds"] if kind in KINDS)
        single = [Wanted(*map(text, each)) for each in kept["single"][:MOST] if each[0] in KINDS]
        self._run_scene.show(kinds, frozenset(single))


class SavedViews:
    """The saved views. `views`: name → view, in order of creation."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self._document = self._session.document
        self.views: Mapping[str, View] = {}
        self._session.changed.connect(self._document_changed)

    def close(self) -> None:
        """Disconnect from the session."""
        self._session.changed.disconnect(self._document_changed)

    def _document_changed(self, _old: State, _new: State) -> None:
        if self._document != self._session.document:
            self._document = self._session.document
            self._show_views({})

    def _show_views(self, views: Mapping[str, View]) -> None:
        self.views = views
        self.changed.emit()

    # ------------------------------------------------------------------------------- verbs

    def ask_name(self) -> None:
        """Ask for a name and save the present view under it."""
        first = next(name for k in range(1, len(self.views) + 2) if (name := f"View {k}") not in self.views)
        name, agreed = QInputDialog.getText(self._view.widget, "Save this view", "Name of the view", text=first)
        if agreed and name.strip():
            self.keep(name.strip())

    def keep(self, name: str) -> None:
        """Save the present view under a name, replacing one of that name."""
        self._put_views(f"Save view {name}", {**self.views, name: self._view.viewpoint.goal})

    def delete(self, name: str) -> None:
        """Delete a view, as an undo step."""
        self._put_views(f"Delete view {name}", {known: view for known, view in self.views.items() if known != name})

    def _put_views(self, label: str, after: Mapping[str, View]) -> None:
        before = self.views
        self._session.perform(label, Step(lambda: self._show_views(after), lambda: self._show_views(before)))

    def look(self, name: str) -> None:
        """Move the camera to a saved view."""
        self._view.viewpoint.fly_to(self.views[name])

    # ------------------------------------------------------------------------------- as plain data

    def kept(self) -> dict[str, Any]:
        """Return all views as plain data."""
        return {name: dataclasses.asdict(view) for name, view in self.views.items()}

    def put_back(self, kept: Mapping[str, Any]) -> None:
        """Restore views from plain data. Raises ValueError, KeyError or TypeError."""
        self._show_views({str(name)[:200]: view_of(view) for name, view in list(kept.items())[:200]})

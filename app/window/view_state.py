"""The view of a document (pose, camera, plots, paths, vectors) as plain data, to be saved and restored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.document.kept.companion import number, text, view_of
from app.plotting.sheets import Plot, Sheet
from viz.scene.vectors import KINDS, Wanted

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel
    from app.viewport.run_scene import RunScene
    from app.viewport.stage import Stage
    from app.window.saved_views import SavedViews

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

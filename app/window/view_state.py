"""What is seen with a document (pose, camera, plots, traces, vectors), as plain data that is kept and put back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.document.kept.companion import number, text, view_of
from app.plotting.sheets import Plot, Sheet
from viz.scene.vectors import KINDS, Wanted

if TYPE_CHECKING:
    from app.window.window import Window

MOST = 500
"""Entries of a list that are put back."""


class Surroundings:
    """Each section is kept by one function and put back by another, which raises ValueError for what it cannot use."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._sections: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
            "camera": (self._camera, self._look),
            "views": (lambda: window.views.kept(), lambda kept: window.views.put_back(kept)),
            "plots": (self._plots, self._plot),
            "traces": (self._traces, self._trace),
            "vectors": (self._vectors, self._show_vectors),
        }

    def kept(self) -> dict[str, Any]:
        """All sections."""
        pose = {"pose": dict(self._window.session.state.pose)}
        return pose | {name: keep() for name, (keep, _) in self._sections.items()}

    def put_back(self, kept: Mapping[str, Any]) -> None:
        """Show what was seen then (the pose comes with the document); what makes no sense is left as it is."""
        for name, (_, put) in self._sections.items():
            if name in kept:
                try:
                    put(kept[name])
                except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
                    words = f"What was kept of the {name} cannot be used; they begin anew."
                    self._window.session.message.emit("hint", words)

    # ------------------------------------------------------------------------------- camera

    def _camera(self) -> dict[str, Any]:
        return dataclasses.asdict(self._window.viewport.viewpoint.goal)

    def _look(self, kept: Any) -> None:
        self._window.viewport.viewpoint.recall(view_of(kept))

    # ------------------------------------------------------------------------------- plots

    def _plots(self) -> dict[str, Any]:
        sheet = self._window.plots.sheet
        rows = [{"channels": plot.channels, "x": plot.x, "aspect": plot.aspect} for plot in sheet.plots]
        return {"panels": rows, "active": sheet.active}

    def _plot(self, kept: Any) -> None:
        rows = kept["panels"][:MOST]
        plots = tuple(
            Plot(tuple(map(text, row["channels"][:MOST])), text(row["x"]), number(row["aspect"])) for row in rows
        )
        if plots:
            self._window.plots.show_sheet(Sheet(plots).activated(int(number(kept["active"]))))

    # ------------------------------------------------------------------------------- traces, vectors

    def _traces(self) -> list[Any]:
        return [[frame, list(point)] for frame, point in self._window.viewport.scene.tracks.points]

    def _trace(self, kept: Any) -> None:
        scene, known = self._window.viewport.scene, self._window.session.mech.frame_names
        points = [(text(frame), tuple(map(number, point))) for frame, point in kept[:MOST]]
        for frame, (x, y, z) in points:
            if frame in known:
                scene.tracks.follow_point(frame, (x, y, z))
        scene.follow(*scene.tracks.frames)

    def _vectors(self) -> dict[str, Any]:
        shown = self._window.viewport.run_scene
        return {"kinds": sorted(shown.whole_kinds), "single": [list(each) for each in sorted(shown.single)]}

    def _show_vectors(self, kept: Any) -> None:
        kinds = frozenset(kind for kind in kept["kinds"] if kind in KINDS)
        single = [Wanted(*map(text, each)) for each in kept["single"][:MOST] if each[0] in KINDS]
        self._window.viewport.run_scene.show(kinds, frozenset(single))

"""View state of a document (pose, camera, plots, paths, vectors) as plain data that can be saved and restored, and its
named views."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QInputDialog

from app.background.signals import Signal
from app.document.arm_configurations import arm_configurations_of
from app.document.element_state import element_state_of
from app.document.kept.companion import check_finite_number, limited_text, parse_view
from app.document.revision import DocumentState, UndoableAction
from app.plotting.curves import Plot, PlotSheet
from viz.camera import CameraView
from viz.scene.vectors import KINDS, RequestedArrow

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel
    from app.viewport.run_scene import RunDisplay
    from app.viewport.stage import Stage


MOST = 500
"""Largest number of list entries that are restored."""


class ViewState:
    """Saves and restores the view state in sections. Each section has a function that saves it, and one that restores
    it and raises ValueError for invalid data."""

    def __init__(self, view: Stage, run_scene: RunDisplay, views: SavedViews, plots: Callable[[], PlotsPanel]) -> None:
        self._view, self._session, self._run_scene, self._sheets = view, view.session, run_scene, plots
        configurations, state = arm_configurations_of(view.session), element_state_of(view.session)
        self._sections: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
            "camera": (self._camera_section, self._restore_camera),
            "views": (views.views_section, views.restore_views),
            "plots": (self._plots_section, self._restore_plots),
            "traces": (self._paths_section, self._restore_paths),
            "vectors": (self._vectors_section, self._restore_vectors),
            "configurations": (configurations.options_section, configurations.restore_options),
            "state": (state.options_section, state.restore_options),
            "locks": (lambda: sorted(self._session.locked_bodies), self._restore_locks),
        }

    def collect_sections(self) -> dict[str, Any]:
        """Return the data of all sections."""
        pose = {"pose": dict(self._session.state.pose)}
        return pose | {name: keep() for name, (keep, _) in self._sections.items()}

    def restore_view(self, sections: Mapping[str, Any]) -> None:
        """Restore a saved view state; invalid data are ignored. The pose is restored with the document."""
        for name, (_, put) in self._sections.items():
            if name in sections:
                try:
                    put(sections[name])
                except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
                    words = f"The saved {name} cannot be restored; the defaults are used."
                    self._session.message.emit("hint", words)

    # ------------------------------------------------------------------------------- camera

    def _camera_section(self) -> dict[str, Any]:
        return dataclasses.asdict(self._view.viewpoint.target_view)

    def _restore_camera(self, section: Any) -> None:
        self._view.viewpoint.restore_view(parse_view(section))

    def _restore_locks(self, section: Any) -> None:
        self._session.restore_locks(map(limited_text, section[:MOST]))

    # ------------------------------------------------------------------------------- plots

    def _plots_section(self) -> dict[str, Any]:
        sheet = self._sheets().sheet
        rows = [{"channels": plot.channels, "x": plot.x, "aspect": plot.aspect} for plot in sheet.plots]
        return {"panels": rows, "active": sheet.active}

    def _restore_plots(self, section: Any) -> None:
        rows = section["panels"][:MOST]
        plots = tuple(
            Plot(
                tuple(map(limited_text, row["channels"][:MOST])),
                limited_text(row["x"]),
                check_finite_number(row["aspect"]),
            )
            for row in rows
        )
        if plots:
            self._sheets().show_sheet(PlotSheet(plots).with_active_plot(int(check_finite_number(section["active"]))))

    # ------------------------------------------------------------------------------- traces, vectors

    def _paths_section(self) -> list[Any]:
        return [[frame, list(point)] for frame, point in self._view.scene.tracks.followed_points]

    def _restore_paths(self, section: Any) -> None:
        scene, known = self._view.scene, self._session.mech.frame_names
        points = [(limited_text(frame), tuple(map(check_finite_number, point))) for frame, point in section[:MOST]]
        for frame, (x, y, z) in points:
            if frame in known:
                scene.tracks.follow_point(frame, (x, y, z))
        scene.follow_frames(*scene.tracks.followed_frames)

    def _vectors_section(self) -> dict[str, Any]:
        shown = self._run_scene
        return {"kinds": sorted(shown.whole_kinds), "single": [list(each) for each in sorted(shown.single)]}

    def _restore_vectors(self, section: Any) -> None:
        kinds = frozenset(kind for kind in section["kinds"] if kind in KINDS)
        single = [RequestedArrow(*map(limited_text, each)) for each in section["single"][:MOST] if each[0] in KINDS]
        self._run_scene.show_only_vectors(kinds, frozenset(single))


class SavedViews:
    """Named camera views. `views`: name → view, in order of creation."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self._document = self._session.document
        self.views: Mapping[str, CameraView] = {}
        self._session.changed.connect(self._on_document_changed)

    def close(self) -> None:
        """Disconnect from the session."""
        self._session.changed.disconnect(self._on_document_changed)

    def _on_document_changed(self, _old: DocumentState, _new: DocumentState) -> None:
        if self._document != self._session.document:
            self._document = self._session.document
            self._set_views({})

    def _set_views(self, views: Mapping[str, CameraView]) -> None:
        self.views = views
        self.changed.emit()

    # ------------------------------------------------------------------------------- verbs

    def save_with_dialog(self) -> None:
        """Ask for a name and save the current view under it."""
        first = next(name for k in range(1, len(self.views) + 2) if (name := f"View {k}") not in self.views)
        name, agreed = QInputDialog.getText(self._view.widget, "Save this view", "Name of the view", text=first)
        if agreed and name.strip():
            self.save_view(name.strip())

    def save_view(self, name: str) -> None:
        """Save the current view under a name; an existing view of that name is replaced."""
        self._commit_views(f"Save view {name}", {**self.views, name: self._view.viewpoint.target_view})

    def delete_view(self, name: str) -> None:
        """Delete a view, as a step that can be undone."""
        self._commit_views(f"Delete view {name}", {known: view for known, view in self.views.items() if known != name})

    def _commit_views(self, label: str, new_views: Mapping[str, CameraView]) -> None:
        before = self.views
        self._session.perform(
            label, UndoableAction(lambda: self._set_views(new_views), lambda: self._set_views(before))
        )

    def show_view(self, name: str) -> None:
        """Move the camera to a saved view."""
        self._view.viewpoint.fly_to(self.views[name])

    # ------------------------------------------------------------------------------- as plain data

    def views_section(self) -> dict[str, Any]:
        """Return all named views as plain data."""
        return {name: dataclasses.asdict(view) for name, view in self.views.items()}

    def restore_views(self, section: Mapping[str, Any]) -> None:
        """Restore named views from plain data. Raises ValueError, KeyError or TypeError if they are invalid."""
        self._set_views({str(name)[:200]: parse_view(view) for name, view in list(section.items())[:200]})

"""Named views of the open document, saved with its runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QInputDialog

from app.background.signals import Signal
from app.document.kept.companion import view_of
from app.document.revision import State, Step
from viz.camera import View

if TYPE_CHECKING:
    from app.viewport.stage import Stage


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

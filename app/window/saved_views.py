"""Views of the open document that were given names: to look from there again, kept with the runs beside it."""

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
    """`views`: name → view, in the order in which they were kept."""

    changed = Signal()

    def __init__(self, view: Stage) -> None:
        self._view, self._session = view, view.session
        self._document = self._session.document
        self.views: Mapping[str, View] = {}
        self._session.changed.connect(self._changed)

    def close(self) -> None:
        """Listen no more."""
        self._session.changed.disconnect(self._changed)

    def _changed(self, _old: State, _new: State) -> None:
        if self._document != self._session.document:
            self._document = self._session.document
            self._show({})

    def _show(self, views: Mapping[str, View]) -> None:
        self.views = views
        self.changed.emit()

    # ------------------------------------------------------------------------------- verbs

    def ask_name(self) -> None:
        """Ask for a name, and keep the present view under it."""
        first = next(name for k in range(1, len(self.views) + 2) if (name := f"View {k}") not in self.views)
        name, agreed = QInputDialog.getText(self._view.widget, "Keep this view", "Name of the view", text=first)
        if agreed and name.strip():
            self.keep(name.strip())

    def keep(self, name: str) -> None:
        """Keep the present view under a name, in place of one that has it."""
        self._put(f"Keep view {name}", {**self.views, name: self._view.viewpoint.goal})

    def delete(self, name: str) -> None:
        """Forget a view; undo brings it back."""
        self._put(f"Delete view {name}", {known: view for known, view in self.views.items() if known != name})

    def _put(self, label: str, after: Mapping[str, View]) -> None:
        before = self.views
        self._session.perform(label, Step(lambda: self._show(after), lambda: self._show(before)))

    def look(self, name: str) -> None:
        """Look from there again."""
        self._view.viewpoint.fly_to(self.views[name])

    # ------------------------------------------------------------------------------- as plain data

    def kept(self) -> dict[str, Any]:
        """All of them."""
        return {name: dataclasses.asdict(view) for name, view in self.views.items()}

    def put_back(self, kept: Mapping[str, Any]) -> None:
        """Those that were kept. Raises ValueError, KeyError or TypeError."""
        self._show({str(name)[:200]: view_of(view) for name, view in list(kept.items())[:200]})

"""What shall become of two points of a joint that are apart: asked at the pointer, with a ghost of each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.document.joining import Gap, Way, ways
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.document.connection_draft import Pick
    from app.viewport.stage import Stage

GHOST = "connect"
HELP = {
    "assemble": "Bring the second point onto the first; what the ground holds stays where it is.",
    "here": "One joint at the first point; nothing moves.",
    "apart": "The joint with both points as they are: what moves next closes it.",
}


class JoiningBar:
    """The menu of ways; Enter takes the first that closes."""

    def __init__(self, view: Stage, kind: str, picks: tuple[Pick, ...], gap: Gap, flipped: bool) -> None:
        self.view = view
        self.menu = QMenu(view.widget)
        self.menu.setToolTipsVisible(True)
        self.found = ways(view.session, kind, picks, flipped)
        self.chosen: Way | None = None
        self._ways: dict[QAction, Way] = {}
        for way in self.found:
            action = self.menu.addAction(self._title(way, gap), self._taker(way))
            action.setToolTip(HELP[way.id])
            action.setEnabled(not way.open)
            self._ways[action] = way
        self.menu.hovered.connect(self._show)

    def _title(self, way: Way, gap: Gap) -> str:
        settings = self.view.settings
        apart = [settings.shown(gap.distance, "length")] if gap.distance else []
        apart += [settings.shown(gap.angle, "angle")] if gap.angle else []
        if way.open:
            return f"{way.title}: {way.open[0].lower()}{way.open[1:]}".rstrip(".")
        return f"{way.title} ({', '.join(apart)})" if way.id != "here" else way.title

    def _taker(self, way: Way) -> Callable[[], None]:
        def take() -> None:
            self.chosen = way

        return take

    def ask(self, at: QPoint, done: Callable[[Way | None], None]) -> None:
        """Show the menu; `done` gets what was chosen, None if nothing was."""

        def over() -> None:
            self._clear()
            done(self.chosen)

        self.menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self.view.widget, over))
        first = next((action for action in self._ways if action.isEnabled()), None)
        shown = next(iter(self._ways))
        self.menu.popup(at)
        if first is not None:
            self.menu.setActiveAction(first)
        self._show(shown)

    def _show(self, action: QAction) -> None:
        """The machine as it would stand."""
        way = self._ways[action]
        arrays = way.mech.poses(way.q)
        self.view.scene.overlays.ghosts(way.mech.frame_names, [arrays], model=way.model, source=GHOST)
        self.view.update()

    def _clear(self) -> None:
        self.view.scene.overlays.ghosts((), [], source=GHOST)
        self.view.update()


def joining_bar(view: Stage, kind: str, picks: tuple[Pick, ...], gap: Gap, flipped: bool) -> JoiningBar | None:
    """The bar, or None with the reason told if nothing can be made of these points."""
    try:
        return JoiningBar(view, kind, picks, gap, flipped)
    except KinetostatError as error:
        view.session.message.emit("error", str(error))
        return None

"""Menu at the pointer for joining two points that are apart, with a ghost preview of each outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.document.joining import Gap, Outcome, outcomes
from app.plain_text import as_tip
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.document.connection_draft import Pick
    from app.viewport.stage import Stage

GHOST = "connect"
HELP = {
    "assemble": "Bring the second point onto the first; grounded bodies stay in place.",
    "here": "One joint at the first point; nothing moves.",
    "apart": "Leave both points where they are; the open joint is marked, and the next movement closes it.",
}


class JoiningBar:
    """Menu of outcomes; Enter takes the first one that closes."""

    def __init__(self, view: Stage, kind: str, picks: tuple[Pick, ...], gap: Gap, flipped: bool) -> None:
        self.view = view
        self.menu = QMenu(view.widget)
        self.menu.setToolTipsVisible(True)
        self.found = outcomes(view.session, kind, picks, flipped)
        self.chosen: Outcome | None = None
        self._outcomes: dict[QAction, Outcome] = {}
        for outcome in self.found:
            action = self.menu.addAction(self._outcome_title(outcome, gap), self._outcome_taker(outcome))
            action.setToolTip(as_tip(HELP[outcome.id]))
            action.setEnabled(not outcome.open)
            self._outcomes[action] = outcome
        self.menu.hovered.connect(self._show_outcome)

    def _outcome_title(self, outcome: Outcome, gap: Gap) -> str:
        settings = self.view.settings
        apart = [settings.shown(gap.distance, "length")] if gap.distance else []
        apart += [settings.shown(gap.angle, "angle")] if gap.angle else []
        if outcome.open:
            return f"{outcome.title}: {outcome.open[0].lower()}{outcome.open[1:]}".rstrip(".")
        return f"{outcome.title} ({', '.join(apart)})" if outcome.id != "here" else outcome.title

    def _outcome_taker(self, outcome: Outcome) -> Callable[[], None]:
        def take() -> None:
            self.chosen = outcome

        return take

    def ask(self, at: QPoint, done: Callable[[Outcome | None], None]) -> None:
        """Show the menu; `done` is called with the chosen outcome, or None."""

        def over() -> None:
            self._clear()
            done(self.chosen)

        self.menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self.view.widget, over))
        first = next((action for action in self._outcomes if action.isEnabled()), None)
        self.menu.popup(at)
        if first is not None:
            self.menu.setActiveAction(first)
        self._show_outcome(first or next(iter(self._outcomes)))

    def _show_outcome(self, action: QAction) -> None:
        """Preview the machine of an outcome."""
        outcome = self._outcomes[action]
        arrays = outcome.mech.poses(outcome.q)
        self.view.scene.overlays.ghosts(outcome.mech.frame_names, [arrays], model=outcome.model, source=GHOST)
        self.view.update()

    def _clear(self) -> None:
        self.view.scene.overlays.ghosts((), [], source=GHOST)
        self.view.update()


def joining_bar(view: Stage, kind: str, picks: tuple[Pick, ...], gap: Gap, flipped: bool) -> JoiningBar | None:
    """Return the menu; None, with a message giving the reason, if no outcome is possible."""
    try:
        return JoiningBar(view, kind, picks, gap, flipped)
    except KinetostatError as error:
        view.session.message.emit("error", str(error))
        return None

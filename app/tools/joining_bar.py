"""Menu at the pointer for joining two points that are apart, with a ghost preview of each outcome; and the sketch of a
joint by a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.document.joining import Gap, Outcome, outcomes
from app.plain_text import as_tip
from app.viewport.annotations import Line, line
from core.errors import KinetostatError
from core.joints import JOINT_KINDS
from viz.placement import perpendicular

if TYPE_CHECKING:
    from app.document.connection_draft import Pick
    from app.viewport.stage import Stage


GHOST = "connect"
OUTCOME_HELP = {
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
            action.setToolTip(as_tip(OUTCOME_HELP[outcome.id]))
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


Array = NDArray[np.float64]

RING_RADIUS = 0.42
"""Radius of a ring relative to half the axis length."""
ARROWHEAD = 0.16
"""Size of an arrowhead relative to half the axis length."""
CIRCLE_PIECES = 24


def joint_lines(kind: str, place: Array, axis: Array, half: float, word: str = "") -> tuple[Line, ...]:
    """Return the lines that sketch a joint of a kind ("": not yet known) at a position (3,) m with an axis (3,) of half
    length `half` (m), labelled with a word."""
    u = perpendicular(axis)
    v = np.cross(axis, u)
    found = [line(place - half * axis, place + half * axis, word)]
    for center, path in _sketch_paths(kind, axis, u, v):
        found += [line(place + half * (center + a), place + half * (center + b)) for a, b in pairwise(path)]
    return tuple(found)


def _sketch_paths(kind: str, axis: Array, u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """Yield centres (3,) and paths (n, 3) about them, in units of half the axis length."""
    middle = np.zeros(3)
    if not kind:
        return
    forbidden = JOINT_KINDS[kind].forbidden
    turns = "none" if forbidden is None else forbidden.rotations
    slides = "none" if forbidden is None else forbidden.translations
    if turns == "all" and slides == "all":
        yield middle, RING_RADIUS * np.array([u + v, v - u, -u - v, u - v, u + v])
    if turns != "all":
        yield middle, _circle(u, v)
    if turns in ("none", "along"):
        yield middle, _circle(axis, u)
    if turns == "none":
        yield middle, _circle(v, axis)
    if slides in ("none", "across"):
        for sense in (1.0, -1.0):
            yield sense * axis, ARROWHEAD * np.array([u - sense * axis, np.zeros(3), -u - sense * axis])


def _circle(u: Array, v: Array) -> Array:
    """Return a circle (n, 3) in the plane of u and v."""
    turn = np.linspace(0.0, 2.0 * np.pi, CIRCLE_PIECES + 1)[:, None]
    return RING_RADIUS * (np.cos(turn) * u + np.sin(turn) * v)

"""Menu at the pointer for joining two points at a distance, with a ghost preview of each outcome; and lines that sketch
a joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.document.joining import JoiningOutcome, JointGap, joining_outcomes
from app.plain_text import escape_tip
from app.viewport.annotations import AnnotationLine, annotation_line
from core.errors import KinetostatError
from core.joints import JOINT_KINDS
from viz.placement import perpendicular_unit_vector

if TYPE_CHECKING:
    from app.document.connection_draft import PickedItem
    from app.viewport.stage import Stage


GHOST = "connect"
OUTCOME_HELP = {
    "assemble": "Moves the second point onto the first; bodies connected to the ground stay in place.",
    "here": "Adds the joint at the first point; nothing moves.",
    "apart": "Leaves both points where they are; the open joint is marked, and the next movement closes it.",
}


class JoiningMenu:
    """Menu of joining outcomes; Enter takes the first one that closes the joint."""

    def __init__(self, view: Stage, kind: str, picks: tuple[PickedItem, ...], gap: JointGap, flipped: bool) -> None:
        self.view = view
        self.menu = QMenu(view.widget)
        self.menu.setToolTipsVisible(True)
        self.found = joining_outcomes(view.session, kind, picks, flipped)
        self.chosen: JoiningOutcome | None = None
        self._outcomes: dict[QAction, JoiningOutcome] = {}
        for outcome in self.found:
            action = self.menu.addAction(self._outcome_title(outcome, gap), self._choose_function(outcome))
            action.setToolTip(escape_tip(OUTCOME_HELP[outcome.id]))
            action.setEnabled(not outcome.open)
            self._outcomes[action] = outcome
        self.menu.hovered.connect(self._preview_outcome)

    def _outcome_title(self, outcome: JoiningOutcome, gap: JointGap) -> str:
        settings = self.view.settings
        apart = [settings.format_value(gap.distance, "length")] if gap.distance else []
        apart += [settings.format_value(gap.angle, "angle")] if gap.angle else []
        if outcome.open:
            return f"{outcome.title}: {outcome.open[0].lower()}{outcome.open[1:]}".rstrip(".")
        return f"{outcome.title} ({', '.join(apart)})" if outcome.id != "here" else outcome.title

    def _choose_function(self, outcome: JoiningOutcome) -> Callable[[], None]:
        def choose() -> None:
            self.chosen = outcome

        return choose

    def open_menu(self, position: QPoint, on_done: Callable[[JoiningOutcome | None], None]) -> None:
        """Open the menu; `on_done` is called with the chosen outcome, or None."""

        def on_closed() -> None:
            self._clear_preview()
            on_done(self.chosen)

        self.menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self.view.widget, on_closed))
        first = next((action for action in self._outcomes if action.isEnabled()), None)
        self.menu.popup(position)
        if first is not None:
            self.menu.setActiveAction(first)
        self._preview_outcome(first or next(iter(self._outcomes)))

    def _preview_outcome(self, action: QAction) -> None:
        """Preview the machine that an outcome gives."""
        outcome = self._outcomes[action]
        arrays = outcome.mech.poses(outcome.q)
        self.view.scene.overlays.show_ghosts(outcome.mech.frame_names, [arrays], model=outcome.model, source=GHOST)
        self.view.update()

    def _clear_preview(self) -> None:
        self.view.scene.overlays.show_ghosts((), [], source=GHOST)
        self.view.update()


def create_joining_menu(
    view: Stage, kind: str, picks: tuple[PickedItem, ...], gap: JointGap, flipped: bool
) -> JoiningMenu | None:
    """Create the menu; if no outcome is possible, report the reason and return None."""
    try:
        return JoiningMenu(view, kind, picks, gap, flipped)
    except KinetostatError as error:
        view.session.message.emit("error", str(error))
        return None


Array = NDArray[np.float64]

RING_RADIUS = 0.42
"""Radius of a ring relative to half the axis length."""
ARROWHEAD = 0.16
"""Size of an arrowhead relative to half the axis length."""
CIRCLE_PIECES = 24


def joint_sketch_lines(
    kind: str, position: Array, axis: Array, half_length: float, label: str = ""
) -> tuple[AnnotationLine, ...]:
    """Return lines that sketch a joint of a kind ("": not yet known) at a position (3,) in m, with an axis (3,) of half
    length `half_length` (m) and a label."""
    u = perpendicular_unit_vector(axis)
    v = np.cross(axis, u)
    found = [annotation_line(position - half_length * axis, position + half_length * axis, label)]
    for center, path in _sketch_paths(kind, axis, u, v):
        found += [
            annotation_line(position + half_length * (center + a), position + half_length * (center + b))
            for a, b in pairwise(path)
        ]
    return tuple(found)


def _sketch_paths(kind: str, axis: Array, u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the centres (3,) and paths (n, 3) about them that sketch a joint, in units of half the axis length."""
    middle = np.zeros(3)
    if not kind:
        return
    forbidden = JOINT_KINDS[kind].forbidden
    turns = "none" if forbidden is None else forbidden.rotations
    slides = "none" if forbidden is None else forbidden.translations
    if turns == "all" and slides == "all":
        yield middle, RING_RADIUS * np.array([u + v, v - u, -u - v, u - v, u + v])
    if turns != "all":
        yield middle, _circle_points(u, v)
    if turns in ("none", "along"):
        yield middle, _circle_points(axis, u)
    if turns == "none":
        yield middle, _circle_points(v, axis)
    if slides in ("none", "across"):
        for sense in (1.0, -1.0):
            yield sense * axis, ARROWHEAD * np.array([u - sense * axis, np.zeros(3), -u - sense * axis])


def _circle_points(u: Array, v: Array) -> Array:
    """Return the points (n, 3) of a circle in the plane of u and v."""
    turn = np.linspace(0.0, 2.0 * np.pi, CIRCLE_PIECES + 1)[:, None]
    return RING_RADIUS * (np.cos(turn) * u + np.sin(turn) * v)

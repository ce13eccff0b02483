"""The path of the tool of the shown motion in the scene, its points as handles, and ticks every tenth of a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.background.signals import Lifetime
from app.document.motion_plans import PlannedMotion, motion_plans_of
from app.viewport.annotations import YELLOW
from core.motions.keyframes import place_at

if TYPE_CHECKING:
    from app.viewport.gestures import PointerState
    from app.viewport.stage import Stage

Array = NDArray[np.float64]

GRIP = 9.0
"""Distance from a point, in pixels (at 100 %), within which the pointer is on it."""
HALF = 6.0
"""Half the diagonal of a diamond, pixels."""
TICK, TICKS = 0.1, 200
"""Time between two ticks, s, and the largest number of ticks."""
MET = 0.999
"""Share of a limit of a speed or acceleration from which it counts as met."""
MOST = 400
"""Largest number of points of the path that are drawn."""


class MotionLayer:
    """Draws the shown motion while the panel Motions shows it."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._plans = motion_plans_of(view.session)
        self.lit: int | None = None
        """Point under the pointer."""
        self._of: PlannedMotion | None = None
        self._met: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._life = Lifetime()
        self._life.listen((self._plans.changed, self._refresh), (self._plans.marked, self._refresh))

    def close(self) -> None:
        """Disconnect from the plans."""
        self._life.close()

    @property
    def is_shown(self) -> bool:
        """True while a motion is drawn."""
        return self._plans.is_wanted and self._plans.planned is not None

    def _refresh(self) -> None:
        planned = self._plans.planned if self._plans.is_wanted else None
        if planned is not self._of:
            self._of = planned
            self._met = _meets_limit(planned) if planned is not None else np.zeros(0, dtype=bool)
        notes = self._view.annotations
        notes.motion = self.paint if planned is not None else None
        notes.update()

    def point_under(self, pointer: PointerState) -> int | None:
        """Return the point of the motion under the pointer; None if there is none, or it has no pose of its own."""
        motion, planned = self._plans.motion, self._of
        if motion is None or planned is None or not self.is_shown:
            return None
        for k in reversed(range(min(len(planned.places), len(motion.segments) + 1))):
            x, y = self._view.scene.project(planned.places[k])
            if place_at(motion, k) and float(np.hypot(x - pointer.x, y - pointer.y)) < GRIP * pointer.scale:
                return k
        return None

    def highlight_point(self, point: int | None) -> bool:
        """Highlight a point (None: none); returns True if there is one."""
        if point != self.lit:
            self.lit = point
            motion = self._plans.motion
            if point is not None and motion is not None:
                self._view.show_hint(f"Drag to move {place_at(motion, point)}, parallel to the screen · Esc cancels")
            self._view.annotations.update()
        return point is not None

    # ----------------------------------------------------------------------------- painting

    def paint(self, painter: QPainter) -> None:
        """Paint path, ticks and points."""
        planned, motion, colors = self._of, self._plans.motion, self._view.theme.colors
        if planned is None or motion is None:
            return
        step = max(1, len(planned.tool) // MOST)
        pixels = [self._pixel(point) for point in planned.tool[::step]]
        met = self._met[::step]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for is_met, color in ((False, colors.accent), (True, colors.error)):
            painter.setPen(QPen(QColor(color), 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            for k in range(len(pixels) - 1):
                one, other = pixels[k], pixels[k + 1]
                if bool(met[k]) is is_met and one is not None and other is not None:
                    painter.drawLine(one, other)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.text))
        times = np.arange(0.0, planned.run.time[-1], max(TICK, planned.run.time[-1] / TICKS))
        for index in np.searchsorted(planned.run.time, times):
            place = self._pixel(planned.tool[index])
            if place is not None:
                painter.drawEllipse(place, 1.6, 1.6)
        for k, point in enumerate(planned.places):
            place = self._pixel(point)
            if place is not None and k <= len(motion.segments) and place_at(motion, k):
                self._paint_point(painter, place, k)

    def _paint_point(self, painter: QPainter, place: QPointF, k: int) -> None:
        colors = self._view.theme.colors
        chosen = k == self._plans.chosen
        painter.setPen(QPen(QColor(colors.text if chosen else colors.window), 1.5))
        painter.setBrush(QColor(YELLOW if k == self.lit else colors.accent))
        size = HALF + (2.0 if chosen else 0.0)
        corners = ((0.0, -size), (size, 0.0), (0.0, size), (-size, 0.0))
        painter.drawPolygon(QPolygonF([QPointF(place.x() + dx, place.y() + dy) for dx, dy in corners]))

    def _pixel(self, point: Array) -> QPointF | None:
        x, y, z = map(float, point)
        return self._view.annotations.to_screen((x, y, z))


def _meets_limit(planned: PlannedMotion) -> NDArray[np.bool_]:
    """(N,) True where a speed or acceleration of a joint is at its limit."""
    run, bounds = planned.run, planned.trajectory.bounds
    with np.errstate(invalid="ignore"):
        speed = np.max(np.abs(run.v) / bounds.velocity, axis=1, initial=0.0)
        acceleration = np.max(np.abs(run.a) / np.minimum(bounds.acceleration, bounds.deceleration), axis=1, initial=0.0)
    return np.asarray(np.maximum(speed, acceleration) >= MET)

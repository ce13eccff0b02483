"""Tool that draws a target curve in the working plane: a stroke with the button held, or clicked points; the Design
panel uses it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF

from app.background.signals import Lifetime, Signal
from app.tools.draw.hand import Hand
from app.tools.draw.tool import hand_of
from app.viewport.gestures import Gesture, Pointer
from core.design.linkage import Point

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Array = NDArray[np.float64]

EXPECTS = "Target curve: draw it with the button held, or click points · Enter or a double click ends · Esc cancels"
GOES_ON = "Click the next point · Enter or a double click ends, the first point closes · Backspace takes one back · Esc"
STEP = 3.0
"""Pixels (at 100 %) between points of a stroke."""
CLOSES_WITHIN = 12.0
"""Pixels within which a curve that returns to its start is closed."""
LEAST = 3
"""Smallest number of points of a curve."""
SPOT = 3.5
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Drawn(NamedTuple):
    """A finished curve. points (n, 2), m, in the plane; X_WD (4, 4) world ← the plane's axes u, v, normal; closed :
    True if it returned to its start."""

    points: Array
    X_WD: Array
    closed: bool

    def in_world(self, points: Array) -> list[tuple[float, float, float]]:
        """Return points (n, 2) of the plane in the world, m."""
        flat = np.column_stack([points, np.zeros(len(points)), np.ones(len(points))])
        return [(x, y, z) for x, y, z, _ in (flat @ self.X_WD.T).tolist()]


class CurveHand:
    """The curve being drawn in a viewport; emits `drawn` when it is finished."""

    drawn = Signal(object)
    """Emitted with a `Drawn`."""

    def __init__(self, view: Stage) -> None:
        self.view = view
        self.points: list[Point] = []
        self.aim: Point | None = None
        self.closes = False
        self._sketch = view.annotations.sketch
        self._life = Lifetime()

    @property
    def hand(self) -> Hand:
        """The hand of Draw, whose working plane is used."""
        return hand_of(self.view)

    def enter(self) -> None:
        """Start the tool: look along the normal of the plane."""
        self._forget()
        self._sketch, self.view.annotations.sketch = self.view.annotations.sketch, self.paint
        self.hand.look_along_normal(fit=True)
        self.hand.show_plane()
        self._life = Lifetime()
        self._life.listen((self.view.viewpoint.looked, lambda *_: self.hand.show_plane()))
        self.view.widget.setFocus()

    def leave(self) -> None:
        """Discard an unfinished curve."""
        self._forget()
        self._life.close()
        self.view.annotations.sketch = self._sketch
        self.view.scene.leave_room()
        self.view.scene.working_plane.hide()
        self.view.annotations.update()
        self.view.update()

    def _forget(self) -> None:
        self.points, self.aim, self.closes = [], None, False

    def add(self, pointer: Pointer, *, least: float = 0.0) -> bool:
        """Add a point under the pointer, at least `least` pixels from the last one; returns False if none was added."""
        point = self.hand.point_at(pointer.x, pointer.y)
        if point is None or (self.points and math.dist(point, self.points[-1]) < least * self.hand.pixel):
            return False
        self.points.append(point)
        self.show()
        return True

    def near_start(self, point: Point | None) -> bool:
        """Return True if a point would close the curve."""
        return point is not None and len(self.points) >= LEAST and math.dist(point, self.points[0]) < (
            CLOSES_WITHIN * self.hand.pixel
        )  # fmt: skip

    def finish(self) -> bool:
        """Finish the curve; returns False if it has too few points."""
        closed = self.closes or self.near_start(self.points[-1] if self.points else None)
        points = np.array(self.points)
        if (
            closed
            and len(points) > LEAST
            and math.dist(self.points[-1], self.points[0]) < CLOSES_WITHIN * self.hand.pixel
        ):
            points = points[:-1]
        if len(points) < LEAST:
            return False
        found = Drawn(points, np.array(self.hand.drawing.X_WD, dtype=float), closed)
        self.view.gestures.choose("select")
        self.drawn.emit(found)
        return True

    def drop(self) -> bool:
        """Discard the unfinished curve; returns False if there is none."""
        begun = bool(self.points)
        self._forget()
        self.show()
        return begun

    def show(self) -> None:
        """Redraw the curve."""
        self.view.say(GOES_ON if self.points else EXPECTS)
        self.view.annotations.update()

    def paint(self, painter: QPainter) -> None:
        """Paint the curve so far and the segment to the pointer."""
        drawing, pixel = self.hand.drawing, self.view.annotations.pixel
        points = [*self.points, *([self.aim] if self.aim is not None and self.points else [])]
        places = [place for p in points if (place := pixel(_as_tuple(drawing.world_point(p)))) is not None]
        color = QColor(self.view.theme.colors.accent)
        painter.setPen(QPen(color, 2.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(places))
        painter.setBrush(color)
        ends = places[:1] if len(places) > 40 else places[: len(self.points)]
        for place in ends:
            painter.drawEllipse(place, SPOT, SPOT)
        if self.near_start(self.aim) and places:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(places[0]), 2.5 * SPOT, 2.5 * SPOT)


def _as_tuple(point: Array) -> tuple[float, float, float]:
    x, y, z = map(float, point)
    return x, y, z


_hands: WeakKeyDictionary[Stage, CurveHand] = WeakKeyDictionary()


def curve_hand(view: Stage) -> CurveHand:
    """Return the curve state of a viewport."""
    found = _hands.get(view)
    if found is None:
        found = _hands[view] = CurveHand(view)
    return found


def enter(view: Stage) -> None:
    """Start the tool."""
    curve_hand(view).enter()


def leave(view: Stage) -> None:
    """Leave the tool."""
    curve_hand(view).leave()


def press(view: Stage, pointer: Pointer) -> Gesture:
    """Draw or continue the curve by a stroke with the button held; add a point on a click."""
    if view.press_cube(pointer):
        return
    curve, first, moved = curve_hand(view), pointer, False
    before, last = list(curve.points), pointer
    curve.aim = None
    try:
        while (now := (yield)) is not None:
            last = now
            if not moved and now.is_click_after(first):
                continue
            if not moved:
                moved = True
                curve.add(first)
            curve.add(now, least=STEP)
    except GeneratorExit:
        curve.points = before
        curve.show()
        raise
    if moved:
        if not before:
            _leave_afterwards(curve)
        return
    if curve.near_start(curve.hand.point_at(last.x, last.y)):
        curve.closes = True
        _leave_afterwards(curve)
    else:
        curve.add(last, least=1.0)


def _leave_afterwards(curve: CurveHand) -> None:
    """Leave the tool once the gesture has ended."""
    QTimer.singleShot(0, curve.view.widget, curve.finish)


def double(view: Stage, pointer: Pointer) -> None:
    """Finish the curve on a double click."""
    curve_hand(view).finish()


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Show a line from the last point to the pointer."""
    curve = curve_hand(view)
    view.widget.setCursor(Qt.CursorShape.CrossCursor)
    on_cube = view.hover_cube(pointer)
    curve.aim = None if pointer is None or on_cube else curve.hand.point_at(pointer.x, pointer.y)
    view.annotations.update()


def back(view: Stage) -> bool:
    """Discard the unfinished curve, on Esc; returns False if there is none."""
    return curve_hand(view).drop()


def wants(view: Stage, event: QKeyEvent) -> bool:
    """Return True for Enter (finish), Backspace (remove the last point) and Tab (another plane)."""
    return event.key() in (*ENTER, Qt.Key.Key_Backspace, Qt.Key.Key_Tab) and not event.modifiers() & (
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    )


def key(view: Stage, event: QKeyEvent) -> None:
    """Handle Enter, Backspace or Tab."""
    curve = curve_hand(view)
    if event.key() in ENTER:
        if curve.points and not curve.finish():
            view.session.message.emit("hint", f"A curve needs at least {LEAST} points.")
    elif event.key() == Qt.Key.Key_Backspace:
        del curve.points[-1:]
        curve.show()
    elif not curve.points:
        curve.hand.next_plane()
        curve.hand.show_plane()
        curve.show()

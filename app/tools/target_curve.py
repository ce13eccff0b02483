"""Tool that draws a target curve in the working plane, as a stroke with the button held or as clicked points; used by
the Design panel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF

from app.background.signals import Lifetime, Signal
from app.tools.draw.hand import DrawController
from app.tools.draw.tool import draw_controller
from app.viewport.gestures import Gesture, PointerState
from core.design.linkage import Point

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Array = NDArray[np.float64]

EXPECTS = "Target curve: draw it with the button held, or click points · Enter or a double click ends · Esc cancels"
GOES_ON = "Click the next point, the first one to close · Enter or double click ends · Backspace removes the last · Esc"
STEP = 3.0
"""Distance between points of a stroke, in pixels (at 100 %)."""
CLOSES_WITHIN = 12.0
"""Distance in pixels from its start within which a curve is closed."""
LEAST = 3
"""Smallest number of points of a curve."""
SPOT = 3.5
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class DrawnCurve(NamedTuple):
    """A finished curve. points (n, 2), m, in the plane; X_WD (4, 4) world ← axes u, v, normal of the plane; closed :
    True if the curve returned to its start."""

    points: Array
    X_WD: Array
    closed: bool

    def to_world(self, points: Array) -> list[tuple[float, float, float]]:
        """Convert points (n, 2) of the plane to the world, m."""
        flat = np.column_stack([points, np.zeros(len(points)), np.ones(len(points))])
        return [(x, y, z) for x, y, z, _ in (flat @ self.X_WD.T).tolist()]


class CurveDrawController:
    """Controller for drawing a curve in a viewport; emits `drawn` when the curve is finished."""

    drawn = Signal(object)
    """Emitted with a `DrawnCurve`."""

    def __init__(self, view: Stage) -> None:
        self.view = view
        self.points: list[Point] = []
        self.aim: Point | None = None
        self.closes = False
        self._sketch = view.annotations.sketch
        self._life = Lifetime()

    @property
    def draw_controller(self) -> DrawController:
        """The controller of the Draw tool, whose working plane is used."""
        return draw_controller(self.view)

    def enter(self) -> None:
        """Start the tool: look along the normal of the plane."""
        self._discard_points()
        self._sketch, self.view.annotations.sketch = self.view.annotations.sketch, self.paint
        self.draw_controller.look_along_normal(fit=True)
        self.draw_controller.show_plane_grid()
        self._life = Lifetime()
        self._life.listen((self.view.viewpoint.looked, lambda *_: self.draw_controller.show_plane_grid()))
        self.view.widget.setFocus()

    def leave(self) -> None:
        """Discard an unfinished curve."""
        self._discard_points()
        self._life.close()
        self.view.annotations.sketch = self._sketch
        self.view.scene.set_fit_margin()
        self.view.scene.working_plane.hide_grid()
        self.view.annotations.update()
        self.view.update()

    def _discard_points(self) -> None:
        self.points, self.aim, self.closes = [], None, False

    def add_point(self, pointer: PointerState, *, min_pixels: float = 0.0) -> bool:
        """Add the point under the pointer if it is at least `min_pixels` pixels from the last one; returns False if
        none was added."""
        point = self.draw_controller.plane_point_at(pointer.x, pointer.y)
        if point is None or (
            self.points and math.dist(point, self.points[-1]) < min_pixels * self.draw_controller.metres_per_pixel
        ):
            return False
        self.points.append(point)
        self.redraw()
        return True

    def would_close_curve(self, point: Point | None) -> bool:
        """Return True if a point is close enough to the start to close the curve."""
        return point is not None and len(self.points) >= LEAST and math.dist(point, self.points[0]) < (
            CLOSES_WITHIN * self.draw_controller.metres_per_pixel
        )  # fmt: skip

    def finish_curve(self) -> bool:
        """Finish the curve; returns False if it has too few points."""
        closed = self.closes or self.would_close_curve(self.points[-1] if self.points else None)
        points = np.array(self.points)
        if (
            closed
            and len(points) > LEAST
            and math.dist(self.points[-1], self.points[0]) < CLOSES_WITHIN * self.draw_controller.metres_per_pixel
        ):
            points = points[:-1]
        if len(points) < LEAST:
            return False
        found = DrawnCurve(points, np.array(self.draw_controller.drawing.X_WD, dtype=float), closed)
        self.view.gestures.choose_tool("select")
        self.drawn.emit(found)
        return True

    def discard_curve(self) -> bool:
        """Discard the unfinished curve; returns False if there is none."""
        begun = bool(self.points)
        self._discard_points()
        self.redraw()
        return begun

    def redraw(self) -> None:
        """Redraw the curve."""
        self.view.show_hint(GOES_ON if self.points else EXPECTS)
        self.view.annotations.update()

    def paint(self, painter: QPainter) -> None:
        """Paint the curve so far and the segment to the pointer."""
        drawing, pixel = self.draw_controller.drawing, self.view.annotations.to_screen
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
        if self.would_close_curve(self.aim) and places:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(places[0]), 2.5 * SPOT, 2.5 * SPOT)


def _as_tuple(point: Array) -> tuple[float, float, float]:
    x, y, z = map(float, point)
    return x, y, z


_hands: WeakKeyDictionary[Stage, CurveDrawController] = WeakKeyDictionary()


def curve_controller(view: Stage) -> CurveDrawController:
    """Return the controller of the target curve in a viewport."""
    found = _hands.get(view)
    if found is None:
        found = _hands[view] = CurveDrawController(view)
    return found


def enter(view: Stage) -> None:
    """Start the tool."""
    curve_controller(view).enter()


def leave(view: Stage) -> None:
    """Leave the tool."""
    curve_controller(view).leave()


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Draw or continue the curve by a stroke with the button held; add a point on a click."""
    if view.press_orientation_cube(pointer):
        return
    curve, first, moved = curve_controller(view), pointer, False
    before, last = list(curve.points), pointer
    curve.aim = None
    try:
        while (now := (yield)) is not None:
            last = now
            if not moved and now.is_click_after(first):
                continue
            if not moved:
                moved = True
                curve.add_point(first)
            curve.add_point(now, min_pixels=STEP)
    except GeneratorExit:
        curve.points = before
        curve.redraw()
        raise
    if moved:
        if not before:
            _leave_afterwards(curve)
        return
    if curve.would_close_curve(curve.draw_controller.plane_point_at(last.x, last.y)):
        curve.closes = True
        _leave_afterwards(curve)
    else:
        curve.add_point(last, min_pixels=1.0)


def _leave_afterwards(curve: CurveDrawController) -> None:
    """Leave the tool once the present gesture has ended."""
    QTimer.singleShot(0, curve.view.widget, curve.finish_curve)


def double_click(view: Stage, pointer: PointerState) -> None:
    """Finish the curve on a double click."""
    curve_controller(view).finish_curve()


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Show a line from the last point to the pointer."""
    curve = curve_controller(view)
    view.widget.setCursor(Qt.CursorShape.CrossCursor)
    on_cube = view.hover_orientation_cube(pointer)
    curve.aim = None if pointer is None or on_cube else curve.draw_controller.plane_point_at(pointer.x, pointer.y)
    view.annotations.update()


def step_back(view: Stage) -> bool:
    """Discard the unfinished curve, on Esc; returns False if there is none."""
    return curve_controller(view).discard_curve()


def wants_key(view: Stage, event: QKeyEvent) -> bool:
    """Return True for Enter (finish), Backspace (remove the last point) and Tab (another plane)."""
    return event.key() in (*ENTER, Qt.Key.Key_Backspace, Qt.Key.Key_Tab) and not event.modifiers() & (
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    )


def handle_key(view: Stage, event: QKeyEvent) -> None:
    """Handle Enter, Backspace or Tab."""
    curve = curve_controller(view)
    if event.key() in ENTER:
        if curve.points and not curve.finish_curve():
            view.session.message.emit("hint", f"A curve needs at least {LEAST} points.")
    elif event.key() == Qt.Key.Key_Backspace:
        del curve.points[-1:]
        curve.redraw()
    elif not curve.points:
        curve.draw_controller.switch_to_next_plane()
        curve.draw_controller.show_plane_grid()
        curve.redraw()

"""Painting of the Draw tool over the scene: pins, guides, dimensions, the link to the pointer, and labels."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QFrame

from app.tools.draw.snapping import other_bar_ends
from app.tools.draw.typed_numbers import LENGTH
from app.widgets.quantities.quantity_text import format_quantity
from core.design.linkage import PLANES, Drawing, Point
from core.design.linkage.drawing import SAME_PLACE, Bar, bar_length
from core.design.linkage.drawn_links import carrier_of_element
from core.design.linkage.reshaping import distinct_ground_pins
from core.later import dataclass
from core.model import WORLD, Capsule
from core.model.formula.numerals import format_readable
from core.model.parameters import evaluate_field

if TYPE_CHECKING:
    from app.tools.draw.hand import DrawController

PIN = 5.0
"""Radius of a pin in pixels, like all sizes in this file."""
BAND = 9.0
GROUND = 13.0
LABEL_ASIDE = 17.0
ASIDE_OF_PINS = 30.0
"""Distance that the name of an axis keeps from pins, which have names of their own."""
LABEL_STEP = 21.0
PARTS = 0.5, 0.34, 0.66
"""Positions along a link, as fractions of its length, at which its dimension is tried, in this order."""
THIN = 4.0
"""Half thickness of a link up to which its dimension stays at the usual position."""
PLAIN = 18
"""Number of positions next to a link at which its dimension needs no leader line."""
LOCK = 16.0
"""Space for a padlock next to a dimension."""
FINEST = 1e-4
"""Fraction of a pixel below which a coordinate is displayed as zero."""
LEAST_LINK = 46.0
"""Links shorter than this on the screen get their dimension last, at the end of a leader line."""
ARC, ARC_PIECES = 30.0, 24
"""Radius of the arc of an angle, and the straight pieces it is drawn of."""
STEPS = 4
"""Number of positions tried for a dimension on each side of a link, at increasing distance."""


@dataclass(frozen=True)
class ClickableTag:
    """A clickable label. kind : "length", "angle", "distance", "motor", "branch" or "lock"; name : name of the
    parameter or pin; other : second pin of a distance; value : in SI"""

    box: QRectF
    kind: str
    name: str
    value: float
    other: str = ""


class DrawPainter:
    """Painter of the Draw tool; `tags` are the clickable labels painted last."""

    def __init__(self, controller: DrawController) -> None:
        self._hand = controller
        self.tags: list[ClickableTag] = []
        self.of: Drawing | None = None
        """State that the items belong to: after an edit they are outdated until painted again."""
        self._taken: list[QRectF] = []
        """Areas of pins with their names and of link middles, which dimensions avoid."""
        self._lines: dict[str, tuple[QPointF, QPointF]] = {}
        """Ends of the links, which dimensions of others do not lie on where there is another place."""
        self._kept: tuple[object, QPixmap, list[ClickableTag]] | None = None

    def paint(self, painter: QPainter) -> None:
        """Paint the whole drawing; parts independent of the pointer are cached as a picture. Nothing is painted while
        the user picks points in space."""
        if not self._hand.sub.in_plane:
            self.tags = []
            return
        picture, tags = self._static_picture(painter)
        self.tags, self.of = list(tags), self._hand.drawing
        self._paint_link_to_pointer(painter)
        self._paint_other_branch(painter)
        self._paint_dragged_links(painter)
        painter.drawPixmap(0, 0, picture)
        self._paint_motor_button(painter)
        self._paint_hovered_dimension(painter)
        self._paint_snap_under_pointer(painter)

    def paint_selected_link(self, painter: QPainter) -> None:
        """Paint the length of the selected link while Draw is not active, if it is a link such as Draw makes."""
        hand, session = self._hand, self._hand.view.session
        ref = session.selection
        if ref is None or ref.collection != "bodies" or not hand.view.settings.view_flag("dimensions"):
            return
        body = next((each for each in session.model.bodies if each.name == ref.name), None)
        planes = (hand.plane, *PLANES.values())
        for plane in planes:
            if body is None or bar_length(body, plane) is None:
                continue
            hand.plane = plane  # of no account until one draws again: `Hand.enter` offers one anew
            bar = hand.drawing.bar(ref.name)
            if bar is not None:
                self.tags, self._taken, self._lines = [], self._covered_areas(), {}
                self._paint_bar_dimension(painter, bar, 1)
                return

    def _static_picture(self, painter: QPainter) -> tuple[QPixmap, list[ClickableTag]]:
        """Return the cached picture of axes, guides, dimensions and pins, with its clickable labels."""
        hand = self._hand
        widget, settings = hand.view.widget, hand.view.settings
        key = (
            *(hand.drawing, hand.view.scene.view, widget.size(), widget.devicePixelRatioF(), hand.view.theme.name),
            *(settings.degrees, settings.millimetres, frozenset(hand.locked), settings.view_flag("dimensions")),
        )
        if self._kept is None or self._kept[0] != key:
            picture = QPixmap(widget.size() * widget.devicePixelRatioF())
            picture.setDevicePixelRatio(widget.devicePixelRatioF())
            picture.fill(Qt.GlobalColor.transparent)
            own = QPainter(picture)
            own.setRenderHint(QPainter.RenderHint.Antialiasing)
            own.setFont(painter.font())
            self.tags = []
            for draw in (self._paint_axes, self._paint_guides, self._paint_dimensions, self._paint_pins):
                draw(own)
            own.end()
            self._kept = key, picture, self.tags
        return self._kept[1], self._kept[2]

    # ----------------------------------------------------------------------------- help

    def _to_pixel(self, point: Point) -> QPointF:
        x, y, z = self._hand.drawing.world_point(point).tolist()
        return self._hand.view.annotations.to_screen((x, y, z)) or QPointF(-1e4, -1e4)

    def _theme_color(self, name: str, alpha: float = 1.0) -> QColor:
        color = QColor(getattr(self._hand.view.theme.colors, name))
        color.setAlphaF(alpha)
        return color

    def _paint_label(
        self, painter: QPainter, text: str, position: QPointF, role: str = "text", dimmed: bool = False
    ) -> QRectF:
        """Paint text on a rounded plate centred at a position; returns the rectangle of the plate."""
        metrics = QFontMetricsF(painter.font())
        width, height = metrics.horizontalAdvance(text) + 10.0, metrics.height() + 2.0
        box = QRectF(position.x() - width / 2.0, position.y() - height / 2.0, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme_color("raised", 0.6 if dimmed else 0.9))
        painter.drawRoundedRect(box, 4.0, 4.0)
        painter.setPen(self._theme_color(role))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return box

    def _length_text(self, value: float) -> str:
        return format_readable(format_quantity(value, LENGTH, self._hand.view.settings, 5))

    # ----------------------------------------------------------------------------- parts

    def _paint_axes(self, painter: QPainter) -> None:
        """Paint the names of the axes at the ends of their visible parts."""
        hand, size = self._hand, self._hand.view.widget.size()
        letters = hand.plane.axes if hand.plane.parent == WORLD else "uv"
        origin = self._to_pixel((0.0, 0.0))
        for letter, (u, v) in zip(letters, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            end = self._to_pixel((u * 1e-3, v * 1e-3))
            line = end - origin
            span = math.hypot(line.x(), line.y())
            if span < 1e-9:
                continue
            unit = line / span
            room = min(
                (size.width() - 170.0 - origin.x()) / unit.x() if unit.x() > 0.3 else 1e9,
                (origin.y() - 16.0) / -unit.y() if unit.y() < -0.3 else 1e9,
            )
            pins = [self._to_pixel(point) - origin for point in self._occupied_points()]
            while any(math.hypot(*(pin - unit * room).toTuple()) < ASIDE_OF_PINS for pin in pins) and room > 0.0:
                room -= ASIDE_OF_PINS
            if 0.0 < room < 1e8:
                self._paint_label(painter, letter, origin + unit * room, "muted", dimmed=True)

    def _paint_guides(self, painter: QPainter) -> None:
        painter.setPen(QPen(self._theme_color("muted", 0.8), 1.2, Qt.PenStyle.DashLine))
        reach = 90.0 * self._hand.metres_per_pixel
        for guide in self._hand.drawing.guides:
            u, v = reach * math.cos(guide.angle), reach * math.sin(guide.angle)
            painter.drawLine(
                self._to_pixel((guide.point[0] - u, guide.point[1] - v)),
                self._to_pixel((guide.point[0] + u, guide.point[1] + v)),
            )

    def _paint_link_to_pointer(self, painter: QPainter) -> None:
        """Paint the link to the pointer, in red if it would make the linkage a rigid structure."""
        hand = self._hand
        coming = hand.mobility_after_click
        stiff = coming is not None and (coming.degrees is None or coming.degrees <= 0)
        for number, (start, end) in enumerate(hand.sub.preview_segments(hand)):
            thin = number > 0 or not hand.chain
            color = self._theme_color("error" if stiff else "accent", 0.9 if thin else 0.45)
            painter.setPen(QPen(color, 1.6 if thin else BAND, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(self._to_pixel(start), self._to_pixel(end))
        if hand.snap is not None:
            painter.setPen(QPen(self._theme_color("accent", 0.7), 1.0, Qt.PenStyle.DotLine))
            for start, end in hand.snap.guides:
                painter.drawLine(self._to_pixel(start), self._to_pixel(end))

    def _paint_other_branch(self, painter: QPainter) -> None:
        """Paint the two links in their other branch, which a click or V selects."""
        hand, drawing = self._hand, self._hand.drawing
        goal = hand.other_branch_position(hand.dyad) if hand.dyad and not hand.chain and not hand.picks else None
        if goal is None or hand.dragged is not None:
            return
        point = drawing.pin(hand.dyad).point
        painter.setPen(QPen(self._theme_color("muted", 0.8), 2.0, Qt.PenStyle.DashLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(self._theme_color("base", 0.7))
        place = self._to_pixel(goal)
        for end in other_bar_ends(drawing, point):
            painter.drawLine(place, self._to_pixel(end))
        painter.drawEllipse(place, PIN, PIN)
        reach = 2.0 * PIN
        box = QRectF(place.x() - reach, place.y() - reach, 2.0 * reach, 2.0 * reach)
        self.tags.append(ClickableTag(box, "branch", hand.dyad, 0.0))

    def _paint_dragged_links(self, painter: QPainter) -> None:
        """Paint the links at a dragged pin with their new lengths."""
        if self._hand.dragged is None:
            return
        point, goal = self._hand.dragged
        for end in other_bar_ends(self._hand.drawing, point):
            painter.setPen(QPen(self._theme_color("accent", 0.5), BAND, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(self._to_pixel(end), self._to_pixel(goal))
            self._paint_label(
                painter, self._length_text(math.dist(end, goal)), (self._to_pixel(end) + self._to_pixel(goal)) / 2.0
            )

    def _paint_dimensions(self, painter: QPainter) -> None:
        drawing = self._hand.drawing
        if not self._hand.view.settings.view_flag("dimensions"):
            return
        self._taken = [
            QRectF(at.x() - 24.0, at.y() - 22.0, 32.0, 30.0) for at in map(self._to_pixel, self._occupied_points())
        ]
        self._lines = {bar.body: (self._to_pixel(bar.start), self._to_pixel(bar.end)) for bar in drawing.bars}
        middles = [(a + b) / 2.0 for a, b in self._lines.values()]
        self._taken += [QRectF(at.x() - 7.0, at.y() - 7.0, 14.0, 14.0) for at in middles]
        self._taken += self._covered_areas()
        bars = [(math.hypot(*(b - a).toTuple()), bar) for bar in drawing.bars for a, b in (self._lines[bar.body],)]
        for span, bar in bars:
            if span >= LEAST_LINK:
                self._paint_bar_dimension(painter, bar, 2)
        self._paint_ground_dimensions(painter)
        for span, bar in bars:
            if span < LEAST_LINK:
                self._paint_bar_dimension(painter, bar, STEPS)

    def _covered_areas(self) -> list[QRectF]:
        """Return the areas of the picture that buttons cover."""
        beside = self._hand.view.widget.findChildren(QFrame, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [QRectF(each.geometry()) for each in beside if each.isVisible()]

    def _occupied_points(self) -> set[Point]:
        return {pin.point for pin in self._hand.drawing.pins}

    def _paint_hovered_dimension(self, painter: QPainter) -> None:
        """Paint the dimension of the link under the pointer if there was no room for it among the others."""
        hand = self._hand
        if hand.chain or not hand.view.settings.view_flag("dimensions"):
            return
        bar = hand.drawing.bar(hand.hovered_body)
        if bar is not None and not any(tag.kind == "length" and tag.name == bar.length for tag in self.tags):
            self._paint_bar_dimension(painter, bar, 3 * STEPS)

    def _paint_bar_dimension(self, painter: QPainter, bar: Bar, steps: int) -> None:
        """Paint the length of a link next to it, on either side, at its middle or nearer to an end; farther away with a
        leader line."""
        a, b = self._to_pixel(bar.start), self._to_pixel(bar.end)
        span = math.hypot(b.x() - a.x(), b.y() - a.y())
        value = math.dist(bar.start, bar.end)
        name = f"{bar.length} = " if isinstance(bar.length, str) and bar.length.isidentifier() else ""
        text = f"{name}{self._length_text(value)}"
        across = QPointF(-(b.y() - a.y()), b.x() - a.x()) / max(span, 1.0)
        across = across if across.y() < 0.0 else -across
        room = abs(across.x()) * QFontMetricsF(painter.font()).horizontalAdvance(text) / 2.0 + LABEL_ASIDE
        room += max(0.0, self._half_thickness(bar) / self._hand.metres_per_pixel - THIN)
        middle = (a + b) / 2.0
        places = [
            a + part * (b - a) + side * across * (room + step * LABEL_STEP)
            for step in range(steps)
            for part in PARTS
            for side in (1.0, -1.0)
        ]
        box = self._paint_dimension_text(painter, text, *places, leader_start=middle, own_body=bar.body)
        if box is not None and name and self._hand.on:
            self.tags.append(ClickableTag(box, "length", str(bar.length), value))
            leftward = box.center().x() < middle.x()
            self._paint_padlock(painter, box.left() - 14.0 if leftward else box.right() + 3.0, box, str(bar.length))

    def _half_thickness(self, bar: Bar) -> float:
        """Return half the drawn thickness of a link, m."""
        shapes = self._hand.drawing.model.body(bar.body).shapes
        radius = next((shape.radius for shape in shapes if isinstance(shape, Capsule)), 0.0)
        return evaluate_field(radius, self._hand.drawing.values)

    def _paint_dimension_text(
        self, painter: QPainter, text: str, *positions: QPointF, leader_start: QPointF | None = None, own_body: str = ""
    ) -> QRectF | None:
        """Paint text at the first free position, preferably not over another link, with a leader line from
        `leader_start` if it is not next to its link; returns its rectangle, or None if there is no room."""
        metrics = QFontMetricsF(painter.font())
        half = QPointF(metrics.horizontalAdvance(text) / 2.0 + 5.0, metrics.height() / 2.0 + 1.0)
        others, seen = [*self._taken, *(tag.box for tag in self.tags)], QRectF(self._hand.view.widget.rect())
        lines = [line for body, line in self._lines.items() if body != own_body] if leader_start is not None else []
        lock, best = 0.0 if leader_start is None else LOCK, -1
        for number, at in enumerate(positions):
            box = QRectF(at - half, at + half)
            leftward = leader_start is not None and at.x() < leader_start.x()
            claimed = box.adjusted(-lock if leftward else 0.0, 0.0, 0.0 if leftward else lock, 0.0)
            if not seen.contains(claimed) or any(claimed.intersects(other) for other in others):
                continue
            if not any(segment_crosses_box(claimed, *line) for line in lines):
                best = number
                break
            best = number if best < 0 else best
        if best < 0:
            return None
        if best >= PLAIN and leader_start is not None:
            painter.setPen(QPen(self._theme_color("muted", 0.7), 1.0))
            painter.drawLine(leader_start, positions[best])
        return self._paint_label(painter, text, positions[best], dimmed=True)

    def _paint_padlock(self, painter: QPainter, left: float, box: QRectF, name: str) -> None:
        """Paint a padlock next to a length, closed if the length is kept while points are dragged; a click toggles
        it."""
        shut = name in self._hand.locked
        body = QRectF(left, box.center().y() - 1.0, 9.0, 7.0)
        painter.setPen(QPen(self._theme_color("accent" if shut else "muted", 1.0 if shut else 0.55), 1.4))
        painter.setBrush(self._theme_color("accent") if shut else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(body, 1.5, 1.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        shackle = QRectF(body.left() + (1.5 if shut else 4.5), body.top() - 5.0, 6.0, 9.0)
        painter.drawArc(shackle, 0, 180 * 16)
        self.tags.append(ClickableTag(body.adjusted(-3.0, -7.0, 4.0, 4.0), "lock", name, 0.0))

    def _paint_ground_dimensions(self, painter: QPainter) -> None:
        """Paint the angles of links on the ground, and the distances of neighbouring ground pins."""
        drawing = self._hand.drawing
        pins = distinct_ground_pins(drawing)
        for first, second in pairwise(pins):
            a, b = self._to_pixel(first.point), self._to_pixel(second.point)
            painter.setPen(QPen(self._theme_color("muted", 0.7), 1.0, Qt.PenStyle.DashLine))
            drop = QPointF(0.0, 34.0)
            painter.drawLine(a + drop, b + drop)
            for end in (a, b):
                painter.drawLine(end + drop * 0.7, end + drop * 1.15)
            value = math.dist(first.point, second.point)
            box = self._paint_dimension_text(
                painter, self._length_text(value), (a + b) / 2.0 + drop, (a + b) / 2.0 + 1.6 * drop
            )
            if box is not None:
                self.tags.append(ClickableTag(box, "distance", second.name, value, first.name))
        for pin in pins:
            bar = drawing.bar(pin.joint.child)
            if bar is None or not pin.joint.rest or math.dist(bar.start, pin.point) > 1e-9:
                continue
            angle = math.atan2(bar.end[1] - bar.start[1], bar.end[0] - bar.start[0])
            self._paint_angle(painter, pin.name, pin.point, angle)

    def _paint_angle(self, painter: QPainter, name: str, point: Point, angle: float) -> None:
        """Paint an angle from the first axis of the plane, as it appears in the view."""
        pixel = self._hand.metres_per_pixel

        def arc_point(turn: float, pixels: float) -> QPointF:
            return self._to_pixel(
                (point[0] + pixels * pixel * math.cos(turn), point[1] + pixels * pixel * math.sin(turn))
            )

        painter.setPen(QPen(self._theme_color("muted", 0.8), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline([arc_point(angle * k / ARC_PIECES, ARC) for k in range(ARC_PIECES + 1)])
        painter.drawLine(self._to_pixel(point), arc_point(0.0, ARC + 8.0))
        text = self._hand.view.settings.format_value(angle, "angle")
        written = self._paint_dimension_text(painter, text, arc_point(angle / 2.0, ARC + 26.0))
        if written is not None:
            self.tags.append(ClickableTag(written, "angle", name, angle))

    def _paint_pins(self, painter: QPainter) -> None:
        drawing = self._hand.drawing
        stands = carrier_of_element(drawing.model, drawing.plane.parent)
        named: dict[tuple[int, int], list[str]] = {}
        for pin in drawing.pins:
            place = self._to_pixel(pin.point)
            on_ground = stands in (
                carrier_of_element(drawing.model, pin.joint.parent),
                carrier_of_element(drawing.model, pin.joint.child),
            )
            if on_ground:
                self._paint_ground_symbol(painter, place)
            self._paint_pin_ring(painter, place, pin.joint.name in {driver.joint for driver in drawing.model.drivers})
            named.setdefault((round(place.x()), round(place.y())), []).append(pin.name)
        for (x, y), names in named.items():
            self._paint_label(painter, " ".join(names), QPointF(x - 14.0, y - 14.0), "muted", dimmed=True)
        for name in self._hand.pins_at_dead_point:
            self._paint_label(
                painter, "dead position", self._to_pixel(drawing.pin(name).point) + QPointF(0.0, 20.0), "warning"
            )
        painter.setPen(QPen(self._theme_color("text", 0.8), 1.4))
        painter.setBrush(self._theme_color("base"))
        taken = set(named)
        for bar in drawing.bars:
            place = self._to_pixel(bar.end)
            if (round(place.x()), round(place.y())) not in taken:
                painter.setPen(QPen(self._theme_color("muted"), 1.2, Qt.PenStyle.DotLine))
                painter.setBrush(self._theme_color("base", 0.8))
                painter.drawEllipse(place, PIN - 1.0, PIN - 1.0)

    def _paint_pin_ring(self, painter: QPainter, center: QPointF, driven: bool) -> None:
        painter.setPen(QPen(self._theme_color("done" if driven else "text"), 2.4 if driven else 1.6))
        painter.setBrush(self._theme_color("base"))
        painter.drawEllipse(center, PIN, PIN)

    def _paint_ground_symbol(self, painter: QPainter, pin_position: QPointF) -> None:
        """Paint the ground symbol below a pin."""
        color = self._theme_color("text", 0.75)
        painter.setPen(QPen(color, 1.4))
        painter.setBrush(self._theme_color("hover", 0.9))
        base = pin_position + QPointF(0.0, GROUND)
        corners = (pin_position, base + QPointF(-0.7 * GROUND, 0.0), base + QPointF(0.7 * GROUND, 0.0))
        painter.drawPolygon(QPolygonF(list(corners)))
        painter.drawLine(base - QPointF(GROUND, 0.0), base + QPointF(GROUND, 0.0))
        painter.setPen(QPen(color, 1.0))
        for k in range(-2, 3):
            foot = base + QPointF(k * 0.45 * GROUND, 0.0)
            painter.drawLine(foot, foot + QPointF(-4.0, 5.0))

    def _paint_snap_under_pointer(self, painter: QPainter) -> None:
        """Describe the snapped point under the pointer, with length and angle of the link to it."""
        hand, snap = self._hand, self._hand.snap
        if snap is None or (hand.view.session.shows_run_pose and not hand.chain and not hand.picks):
            return  # of a run that is played the pointer says nothing
        place = self._to_pixel(snap.point)
        painter.setPen(QPen(self._theme_color("accent"), 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        size = PIN + 4.0 if snap.is_on_element else PIN
        painter.drawEllipse(place, size, size)
        if hand.field.isVisible():
            return
        rows = [snap.word] if snap.word not in ("", "grid") else []
        band = hand.sub.preview_segments(hand)
        if band and hand.sub.measures:
            (u0, v0), (u1, v1) = band[-1]
            length, angle = math.dist(*band[0]), hand.view.settings.format_value(math.atan2(v1 - v0, u1 - u0), "angle")
            if hand.sub.asks_direction(hand):
                rows.insert(0, f"direction {angle}")
            elif length > SAME_PLACE:
                rows.insert(0, f"{self._length_text(length)} < {angle}")
        elif not band:
            finest = FINEST * hand.metres_per_pixel
            rows.append(", ".join(self._length_text(each if abs(each) > finest else 0.0) for each in snap.point))
        coming, now = hand.mobility_after_click, hand.mobility
        if coming is not None and now is not None:
            rows.append(f"M {_dof_text(now.degrees)} → {_dof_text(coming.degrees)}")
        widths = [QFontMetricsF(painter.font()).horizontalAdvance(row) + 10.0 for row in rows]
        extent = max(widths, default=0.0), 19.0 * len(rows)
        sides = [(x, y) for x in (1.0, -1.0) for y in (1.0, -1.0)]
        taken, seen = [*(tag.box for tag in self.tags), *self._covered_areas()], QRectF(hand.view.widget.rect())

        def is_free(x: float, y: float) -> bool:
            across, down = sorted((18.0 * x, (18.0 + extent[0]) * x)), sorted((11.0 * y, (11.0 + extent[1]) * y))
            box = QRectF(place + QPointF(across[0], down[0]), place + QPointF(across[1], down[1]))
            return seen.contains(box) and not any(box.intersects(other) for other in taken)

        side, below = next((each for each in sides if is_free(*each)), sides[0])
        first = 20.0 if below > 0.0 else -1.0 - extent[1]
        for number, (row, width) in enumerate(zip(rows, widths, strict=True)):
            line = place + QPointF(side * (18.0 + width / 2.0), first + 19.0 * number)
            self._paint_label(painter, row, line, "muted" if number else "text")

    def _paint_motor_button(self, painter: QPainter) -> None:
        """Paint the button that adds a motor to the first ground pin, once the linkage has one degree of freedom."""
        hand = self._hand
        pins = distinct_ground_pins(hand.drawing)
        found = hand.mobility
        if hand.chain or hand.picks or found is None or found.degrees != 1 or not pins or hand.drawing.model.drivers:
            return
        first = next((pin for pin in pins if pin.joint.rest), pins[0])
        place = self._to_pixel(first.point) + QPointF(-46.0, 8.0)
        painter.save()
        box = QRectF(place.x() - 30.0, place.y() - 11.0, 60.0, 22.0)
        painter.setPen(QPen(self._theme_color("accent"), 1.2))
        painter.setBrush(self._theme_color("accent"))
        painter.drawRoundedRect(box, 11.0, 11.0)
        painter.setPen(self._theme_color("on_accent"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "Motor")
        painter.restore()
        self.tags.append(ClickableTag(box, "motor", first.name, 0.0))


def segment_crosses_box(box: QRectF, start: QPointF, end: QPointF) -> bool:
    """Return True if a line segment passes through a box (Liang–Barsky clipping)."""
    first, last = 0.0, 1.0
    for a, b, low, high in (
        (start.x(), end.x(), box.left(), box.right()),
        (start.y(), end.y(), box.top(), box.bottom()),
    ):
        if a == b:
            if not low <= a <= high:
                return False
            continue
        enter, leave = sorted(((low - a) / (b - a), (high - a) / (b - a)))
        first, last = max(first, enter), min(last, leave)
    return first <= last


def _dof_text(dof: int | None) -> str:
    return "?" if dof is None else f"{dof}".replace("-", "−")

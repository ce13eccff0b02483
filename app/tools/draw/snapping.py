"""Snapping of a point in the plane to a pin, a point of a link, a direction, or the grid. Pure geometry."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from core.design.linkage import Drawing, On, Point
from core.design.linkage.drawing import SAME_PLACE, End
from core.design.linkage.drawn_links import carrier_of
from core.later import dataclass

RADIUS = 10.0
"""Pixels (at 100 %) within which the pointer snaps."""
NEAR_END = 0.6
"""Share of the radius within which a free end wins over a nearer direction line."""

CROSSING = 0.7
"""Share of the radius within which an intersection of lines or circles is snapped to."""
PARALLEL = 1e-3
"""Sine of the angle up to which two lines count as parallel."""


@dataclass(frozen=True)
class Snap:
    """A snapped point and the feature it snapped to.

    end : what the verbs of `core.design.linkage` are given; kind : "pin", "tip", "frame", "link" or "free"; name : of
    the pin, body or frame; word : the text next to the pointer; guides : lines that explain it
    """

    point: Point
    end: End
    kind: str = "free"
    name: str = ""
    body: str = ""
    """The body on which the point lies."""
    word: str = ""
    guides: tuple[tuple[Point, Point], ...] = field(default=())

    @property
    def joins(self) -> bool:
        """True if there is an element to join at the point."""
        return self.kind != "free"


@dataclass(frozen=True)
class Aim:
    """Pointer state for snapping: position (m, plane), metres per pixel, start point of the link, angle (rad) of the
    link before, grid step (m; 0: none), `loose` without grid and directions, `fresh` for a new point even on existing
    ones."""

    point: Point
    pixel: float
    start: Point | None = None
    previous: float | None = None
    grid: float = 0.0
    loose: bool = False
    fresh: bool = False

    @property
    def reach(self) -> float:
        """Snapping distance, m."""
        return RADIUS * self.pixel


def snapped(drawing: Drawing, aim: Aim) -> Snap:
    """Return the snap for a pointer position, in the order: pin, guide or free end; named point; point on a link;
    intersection of lines and circles; direction; grid."""
    if not aim.fresh:
        for found in (_joint_snap(drawing, aim), _nearest_snap(_points(drawing), aim), _link_snap(drawing, aim)):
            if found is not None:
                return found
    if aim.loose:
        return Snap(aim.point, aim.point)
    return _crossing_snap(drawing, aim) or _direction_snap(drawing, aim) or _grid_snap(aim)


def _joint_snap(drawing: Drawing, aim: Aim) -> Snap | None:
    """Return the nearest pin, guide or free end within reach; a free end only at close range if a direction line passes
    it."""
    found = _nearest_snap(_joint_snaps(drawing), aim)
    if found is None or math.dist(found.point, aim.point) <= NEAR_END * aim.reach:
        return found
    own = aim.start is not None and math.dist(found.point, aim.start) < SAME_PLACE
    directed = _direction_snap(drawing, aim) if found.kind == "tip" and not (own or aim.loose) else None
    passes = directed is not None and math.dist(directed.point, aim.point) < math.dist(found.point, aim.point)
    return None if passes else found


def _joint_snaps(drawing: Drawing) -> Iterator[Snap]:
    for pin in drawing.pins:
        owner = carrier_of(drawing.model, pin.joint.parent)
        yield Snap(pin.point, pin.name, "pin", pin.name, owner, f"pin {pin.name}")
    for guide in drawing.guides:
        yield Snap(guide.point, guide.joint.name, "pin", guide.joint.name, guide.joint.child, guide.joint.name)
    for bar in drawing.bars:
        yield Snap(bar.end, bar.body, "tip", bar.body, bar.body, f"end of {bar.body}")


def _points(drawing: Drawing) -> Iterator[Snap]:
    for name, point in drawing.frames:
        yield Snap(point, name, "frame", name, carrier_of(drawing.model, name), name)


def _nearest_snap(snaps: Iterator[Snap], aim: Aim) -> Snap | None:
    """Return the nearest snap within reach; of several at one point, the first."""
    best, least = None, aim.reach
    for snap in snaps:
        away = math.dist(snap.point, aim.point)
        if away < least - 1e-12:
            best, least = snap, away
    return best


def _link_snap(drawing: Drawing, aim: Aim) -> Snap | None:
    best, least = None, aim.reach
    for body, start, end, _ in drawing.bars:
        length = math.dist(start, end)
        if length < 1e-12:
            continue
        share = _fraction_along(start, end, aim.point)
        if not 0.0 < share < 1.0:
            continue
        middle = abs(share - 0.5) * length < aim.reach
        share = 0.5 if middle else share
        foot = _point_between(start, end, share)
        away = math.dist(_point_between(start, end, _fraction_along(start, end, aim.point)), aim.point)
        if away < least:
            word = f"middle of {body}" if middle else f"on {body}"
            best, least = Snap(foot, On(body, foot), "link", body, body, word), away
    return best


def other_bar_ends(drawing: Drawing, point: Point) -> list[Point]:
    """Return the other ends of the bars that end at a point."""
    found = []
    for _, start, end, _ in drawing.bars:
        if min(math.dist(start, point), math.dist(end, point)) < 1e-7:
            found.append(end if math.dist(start, point) < 1e-7 else start)
    return found


def _direction_snap(drawing: Drawing, aim: Aim) -> Snap | None:
    """Return a snap on a line of a standard direction through the start point."""
    if aim.start is None:
        return None
    span = math.dist(aim.start, aim.point)
    if span < aim.reach:
        return None
    for word, angle in _snap_directions(drawing, aim):
        u, v = math.cos(angle), math.sin(angle)
        along = (aim.point[0] - aim.start[0]) * u + (aim.point[1] - aim.start[1]) * v
        aside = (aim.point[1] - aim.start[1]) * u - (aim.point[0] - aim.start[0]) * v
        if abs(aside) < aim.reach * 0.6:
            along, more = _stepped_distance(drawing, aim, along)
            foot = (aim.start[0] + along * u, aim.start[1] + along * v)
            return Snap(foot, foot, word=word + more, guides=((aim.start, foot),))
    for body, a, b, _ in drawing.bars:
        length = math.dist(a, b)
        if abs(span - length) < aim.reach * 0.4:
            foot = _point_between(aim.start, aim.point, length / span)
            return Snap(foot, foot, word=f"as long as {body}", guides=((aim.start, foot),))
    return None


class _Line(NamedTuple):
    """A line through a point in a direction (rad)."""

    point: Point
    angle: float
    word: str


class _Circle(NamedTuple):
    """A circle about a point, on which a link of the same length as another would end."""

    center: Point
    radius: float
    word: str


def _crossing_snap(drawing: Drawing, aim: Aim) -> Snap | None:
    """Return the intersection of a direction line through the start point with the line or circle of a link."""
    if aim.start is None or math.dist(aim.start, aim.point) < aim.reach:
        return None
    from_start = [_Line(aim.start, angle, word) for word, angle in _snap_directions(drawing, aim)]
    near = [line for line in from_start if _distance_from_line(line, aim.point) < aim.reach]
    best, least = None, CROSSING * aim.reach
    for line in near:
        for other in _link_curves(drawing, aim):
            for point in _intersections(line, other):
                away = math.dist(point, aim.point)
                if away < least and math.dist(point, aim.start) > aim.reach:
                    guides = ((aim.start, point), (_reference_point(other), point))
                    best, least = Snap(point, point, word=f"{line.word}, {other.word}", guides=guides), away
    return best


def _link_curves(drawing: Drawing, aim: Aim) -> Iterator[_Line | _Circle]:
    """Yield the extensions of links, and the circles on which their ends turn about each other."""
    for body, a, b, _ in drawing.bars:
        line = _line_through(a, b, f"line of {body}")
        if _distance_from_line(line, aim.point) < aim.reach and _distance_from_line(line, aim.start or a) > SAME_PLACE:
            yield line
        for center in (a, b):
            circle = _Circle(center, math.dist(a, b), f"circle of {body}")
            if abs(math.dist(center, aim.point) - circle.radius) < aim.reach:
                yield circle


def _line_through(a: Point, b: Point, word: str) -> _Line:
    return _Line(a, math.atan2(b[1] - a[1], b[0] - a[0]), word)


def _distance_from_line(line: _Line, point: Point) -> float:
    u, v = point[0] - line.point[0], point[1] - line.point[1]
    return abs(v * math.cos(line.angle) - u * math.sin(line.angle))


def _reference_point(curve: _Line | _Circle) -> Point:
    return curve.point if isinstance(curve, _Line) else curve.center


def _intersections(line: _Line, other: _Line | _Circle) -> Iterator[Point]:
    """Yield the intersections of a line with another line or a circle."""
    u, v = math.cos(line.angle), math.sin(line.angle)
    away = (line.point[0] - _reference_point(other)[0], line.point[1] - _reference_point(other)[1])
    if isinstance(other, _Line):
        sine = math.sin(other.angle - line.angle)
        if abs(sine) > PARALLEL:
            along = [(away[1] * math.cos(other.angle) - away[0] * math.sin(other.angle)) / sine]
        else:
            along = []
    else:
        middle = away[0] * u + away[1] * v
        under = middle**2 - (away[0] ** 2 + away[1] ** 2 - other.radius**2)
        along = [-middle - math.sqrt(under), -middle + math.sqrt(under)] if under >= 0.0 else []
    for distance in along:
        yield line.point[0] + distance * u, line.point[1] + distance * v


def _snap_directions(drawing: Drawing, aim: Aim) -> list[tuple[str, float]]:
    """Return the standard directions through the start point, each with its description."""
    found = [("horizontal", 0.0), ("vertical", math.pi / 2.0)]
    if aim.previous is not None:
        found += [("collinear", aim.previous), ("⟂", aim.previous + math.pi / 2.0)]
    return found + [(f"parallel to {body}", math.atan2(b[1] - a[1], b[0] - a[0])) for body, a, b, _ in drawing.bars]


def _stepped_distance(drawing: Drawing, aim: Aim, along: float) -> tuple[float, str]:
    """Return a distance along a line and its description: the length of another link if near, else a grid step."""
    for body, a, b, _ in drawing.bars:
        if abs(abs(along) - math.dist(a, b)) < aim.reach * 0.4:
            return math.copysign(math.dist(a, b), along), f", as long as {body}"
    return (round(along / aim.grid) * aim.grid, "") if aim.grid else (along, "")


def _grid_snap(aim: Aim) -> Snap:
    if not aim.grid:
        return Snap(aim.point, aim.point)
    u, v = (round(round(x / aim.grid) * aim.grid, 12) + 0.0 for x in aim.point)
    near = math.dist((u, v), aim.point) < aim.reach
    return Snap((u, v), (u, v), word="grid") if near else Snap(aim.point, aim.point)


def _fraction_along(start: Point, end: Point, point: Point) -> float:
    line = end[0] - start[0], end[1] - start[1]
    square = line[0] ** 2 + line[1] ** 2
    return ((point[0] - start[0]) * line[0] + (point[1] - start[1]) * line[1]) / square if square else 0.0


def _point_between(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def grid_step(pixel: float, least: float = 12.0) -> float:
    """Return the step of a 1-2-5 grid whose lines are at least `least` pixels apart, m. pixel : metres per pixel"""
    wanted = max(pixel * least, 1e-9)
    decade = 10.0 ** math.floor(math.log10(wanted))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= wanted * (1.0 - 1e-9))

"""Snapping of a point in the plane to a pin, a point of a link, a direction, or the grid. Geometry only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from core.design.linkage import Drawing, On, Point
from core.design.linkage.drawing import SAME_PLACE, End
from core.design.linkage.drawn_links import carrier_of_element
from core.later import dataclass

RADIUS = 10.0
"""Distance in pixels (at 100 %) within which the pointer snaps."""
NEAR_END = 0.6
"""Fraction of the snap radius within which a free end is preferred to a nearer direction line."""

CROSSING = 0.7
"""Fraction of the snap radius within which the pointer snaps to an intersection of lines or circles."""
PARALLEL = 1e-3
"""Sine of the angle up to which two lines count as parallel."""


@dataclass(frozen=True)
class SnappedPoint:
    """A snapped point, and the feature to which it snapped.

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
    def is_on_element(self) -> bool:
        """True if the point is on an element to which a link can be joined."""
        return self.kind != "free"


@dataclass(frozen=True)
class SnapQuery:
    """Pointer state for snapping: position (m, in the plane), metres per pixel, start point of the link, angle (rad) of
    the previous link, grid step (m; 0: none), `loose` to ignore grid and directions, `fresh` for a new point even on
    existing ones."""

    point: Point
    pixel: float
    start: Point | None = None
    previous: float | None = None
    grid: float = 0.0
    loose: bool = False
    fresh: bool = False

    @property
    def snap_distance(self) -> float:
        """Snapping distance, m."""
        return RADIUS * self.pixel


def find_snap(drawing: Drawing, aim: SnapQuery) -> SnappedPoint:
    """Return the point to which a pointer position snaps, by priority: pin, guide or free end; named point; point on a
    link; intersection of lines and circles; direction; grid."""
    if not aim.fresh:
        for found in (
            _find_joint_snap(drawing, aim),
            _find_nearest_snap(_named_point_snaps(drawing), aim),
            _find_link_snap(drawing, aim),
        ):
            if found is not None:
                return found
    if aim.loose:
        return SnappedPoint(aim.point, aim.point)
    return _find_intersection_snap(drawing, aim) or _find_direction_snap(drawing, aim) or _grid_snap(aim)


def _find_joint_snap(drawing: Drawing, aim: SnapQuery) -> SnappedPoint | None:
    """Return the nearest pin, guide or free end within reach; a free end only at close range if a direction line passes
    it."""
    found = _find_nearest_snap(_joint_and_end_snaps(drawing), aim)
    if found is None or math.dist(found.point, aim.point) <= NEAR_END * aim.snap_distance:
        return found
    own = aim.start is not None and math.dist(found.point, aim.start) < SAME_PLACE
    directed = _find_direction_snap(drawing, aim) if found.kind == "tip" and not (own or aim.loose) else None
    passes = directed is not None and math.dist(directed.point, aim.point) < math.dist(found.point, aim.point)
    return None if passes else found


def _joint_and_end_snaps(drawing: Drawing) -> Iterator[SnappedPoint]:
    for pin in drawing.pins:
        owner = carrier_of_element(drawing.model, pin.joint.parent)
        yield SnappedPoint(pin.point, pin.name, "pin", pin.name, owner, f"pin {pin.name}")
    for guide in drawing.guides:
        yield SnappedPoint(guide.point, guide.joint.name, "pin", guide.joint.name, guide.joint.child, guide.joint.name)
    for bar in drawing.bars:
        yield SnappedPoint(bar.end, bar.body, "tip", bar.body, bar.body, f"end of {bar.body}")


def _named_point_snaps(drawing: Drawing) -> Iterator[SnappedPoint]:
    for name, point in drawing.frames:
        yield SnappedPoint(point, name, "frame", name, carrier_of_element(drawing.model, name), name)


def _find_nearest_snap(snaps: Iterator[SnappedPoint], aim: SnapQuery) -> SnappedPoint | None:
    """Return the nearest snap within reach; of several at one point, the first."""
    best, least = None, aim.snap_distance
    for snap in snaps:
        away = math.dist(snap.point, aim.point)
        if away < least - 1e-12:
            best, least = snap, away
    return best


def _find_link_snap(drawing: Drawing, aim: SnapQuery) -> SnappedPoint | None:
    best, least = None, aim.snap_distance
    for body, start, end, _ in drawing.bars:
        length = math.dist(start, end)
        if length < 1e-12:
            continue
        share = _fraction_along(start, end, aim.point)
        if not 0.0 < share < 1.0:
            continue
        middle = abs(share - 0.5) * length < aim.snap_distance
        share = 0.5 if middle else share
        foot = _point_between(start, end, share)
        away = math.dist(_point_between(start, end, _fraction_along(start, end, aim.point)), aim.point)
        if away < least:
            word = f"middle of {body}" if middle else f"on {body}"
            best, least = SnappedPoint(foot, On(body, foot), "link", body, body, word), away
    return best


def other_bar_ends(drawing: Drawing, point: Point) -> list[Point]:
    """Return the other ends of the bars that end at a point."""
    found = []
    for _, start, end, _ in drawing.bars:
        if min(math.dist(start, point), math.dist(end, point)) < 1e-7:
            found.append(end if math.dist(start, point) < 1e-7 else start)
    return found


def _find_direction_snap(drawing: Drawing, aim: SnapQuery) -> SnappedPoint | None:
    """Return the snap to a line in a standard direction through the start point."""
    if aim.start is None:
        return None
    span = math.dist(aim.start, aim.point)
    if span < aim.snap_distance:
        return None
    for word, angle in _snap_directions(drawing, aim):
        u, v = math.cos(angle), math.sin(angle)
        along = (aim.point[0] - aim.start[0]) * u + (aim.point[1] - aim.start[1]) * v
        aside = (aim.point[1] - aim.start[1]) * u - (aim.point[0] - aim.start[0]) * v
        if abs(aside) < aim.snap_distance * 0.6:
            along, more = _snap_distance_along_line(drawing, aim, along)
            foot = (aim.start[0] + along * u, aim.start[1] + along * v)
            return SnappedPoint(foot, foot, word=word + more, guides=((aim.start, foot),))
    for body, a, b, _ in drawing.bars:
        length = math.dist(a, b)
        if abs(span - length) < aim.snap_distance * 0.4:
            foot = _point_between(aim.start, aim.point, length / span)
            return SnappedPoint(foot, foot, word=f"as long as {body}", guides=((aim.start, foot),))
    return None


class _SnapLine(NamedTuple):
    """A line through a point in a direction (rad)."""

    point: Point
    angle: float
    word: str


class _SnapCircle(NamedTuple):
    """A circle about a point, on which the end of a link as long as another one lies."""

    center: Point
    radius: float
    word: str


def _find_intersection_snap(drawing: Drawing, aim: SnapQuery) -> SnappedPoint | None:
    """Return the intersection of a direction line through the start point with the line or circle of a link."""
    if aim.start is None or math.dist(aim.start, aim.point) < aim.snap_distance:
        return None
    from_start = [_SnapLine(aim.start, angle, word) for word, angle in _snap_directions(drawing, aim)]
    near = [line for line in from_start if _distance_from_line(line, aim.point) < aim.snap_distance]
    best, least = None, CROSSING * aim.snap_distance
    for line in near:
        for other in _link_curves(drawing, aim):
            for point in _intersections(line, other):
                away = math.dist(point, aim.point)
                if away < least and math.dist(point, aim.start) > aim.snap_distance:
                    guides = ((aim.start, point), (_reference_point(other), point))
                    best, least = SnappedPoint(point, point, word=f"{line.word}, {other.word}", guides=guides), away
    return best


def _link_curves(drawing: Drawing, aim: SnapQuery) -> Iterator[_SnapLine | _SnapCircle]:
    """Yield the lines that extend links, and the circles on which the ends of links turn about each other."""
    for body, a, b, _ in drawing.bars:
        line = _line_through(a, b, f"in line with {body}")
        if (
            _distance_from_line(line, aim.point) < aim.snap_distance
            and _distance_from_line(line, aim.start or a) > SAME_PLACE
        ):
            yield line
        for center in (a, b):
            circle = _SnapCircle(center, math.dist(a, b), f"on the circle of {body}")
            if abs(math.dist(center, aim.point) - circle.radius) < aim.snap_distance:
                yield circle


def _line_through(a: Point, b: Point, label: str) -> _SnapLine:
    return _SnapLine(a, math.atan2(b[1] - a[1], b[0] - a[0]), label)


def _distance_from_line(line: _SnapLine, point: Point) -> float:
    u, v = point[0] - line.point[0], point[1] - line.point[1]
    return abs(v * math.cos(line.angle) - u * math.sin(line.angle))


def _reference_point(curve: _SnapLine | _SnapCircle) -> Point:
    return curve.point if isinstance(curve, _SnapLine) else curve.center


def _intersections(line: _SnapLine, other: _SnapLine | _SnapCircle) -> Iterator[Point]:
    """Yield the intersections of a line with another line or a circle."""
    u, v = math.cos(line.angle), math.sin(line.angle)
    away = (line.point[0] - _reference_point(other)[0], line.point[1] - _reference_point(other)[1])
    if isinstance(other, _SnapLine):
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


def _snap_directions(drawing: Drawing, aim: SnapQuery) -> list[tuple[str, float]]:
    """Return the standard directions through the start point, each with its description."""
    found = [("horizontal", 0.0), ("vertical", math.pi / 2.0)]
    if aim.previous is not None:
        found += [("collinear", aim.previous), ("⟂", aim.previous + math.pi / 2.0)]
    return found + [(f"parallel to {body}", math.atan2(b[1] - a[1], b[0] - a[0])) for body, a, b, _ in drawing.bars]


def _snap_distance_along_line(drawing: Drawing, aim: SnapQuery, distance: float) -> tuple[float, str]:
    """Return a rounded distance along a line with a description: the length of another link if it is close, otherwise a
    multiple of the grid step."""
    for body, a, b, _ in drawing.bars:
        if abs(abs(distance) - math.dist(a, b)) < aim.snap_distance * 0.4:
            return math.copysign(math.dist(a, b), distance), f", as long as {body}"
    return (round(distance / aim.grid) * aim.grid, "") if aim.grid else (distance, "")


def _grid_snap(aim: SnapQuery) -> SnappedPoint:
    if not aim.grid:
        return SnappedPoint(aim.point, aim.point)
    u, v = (round(round(x / aim.grid) * aim.grid, 12) + 0.0 for x in aim.point)
    near = math.dist((u, v), aim.point) < aim.snap_distance
    return SnappedPoint((u, v), (u, v), word="grid") if near else SnappedPoint(aim.point, aim.point)


def _fraction_along(start: Point, end: Point, point: Point) -> float:
    line = end[0] - start[0], end[1] - start[1]
    square = line[0] ** 2 + line[1] ** 2
    return ((point[0] - start[0]) * line[0] + (point[1] - start[1]) * line[1]) / square if square else 0.0


def _point_between(start: Point, end: Point, fraction: float) -> Point:
    return start[0] + fraction * (end[0] - start[0]), start[1] + fraction * (end[1] - start[1])


def grid_step(pixel_size: float, min_pixels: float = 12.0) -> float:
    """Return the step of a 1-2-5 grid whose lines are at least `min_pixels` pixels apart, in m. pixel_size : metres per
    pixel"""
    wanted = max(pixel_size * min_pixels, 1e-9)
    decade = 10.0 ** math.floor(math.log10(wanted))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= wanted * (1.0 - 1e-9))

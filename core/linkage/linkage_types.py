"""What a simple linkage is: the type of a four-bar after Grashof, offset and stroke of a slider-crank, and the smallest
transmission angle over a turn of the crank."""

from __future__ import annotations

import math
from typing import NamedTuple

from core.linkage.drawing import Drawing, Guide, Pin
from core.linkage.drawn_links import carrier_of
from core.linkage.plane import Point

EQUAL = 1e-9
"""Share of the sum of lengths within which a linkage counts as one with a change point."""


Edge = tuple[Pin | Guide, frozenset[str]]
"""A joint, and the two bodies that it joins."""


class FourBar(NamedTuple):
    """crank, coupler, rocker, ground : lengths, m; the crank is the link whose pin was drawn first"""

    crank: float
    coupler: float
    rocker: float
    ground: float

    @property
    def type(self) -> str:
        """After Grashof: which links can turn fully."""
        sides = (self.crank, self.coupler, self.rocker, self.ground)
        shortest, longest = min(sides), max(sides)
        rest = sum(sides) - shortest - longest
        if abs(shortest + longest - rest) <= EQUAL * sum(sides):
            return "change point"
        if shortest + longest > rest:
            return "triple rocker"
        names = {self.ground: "double crank", self.coupler: "double rocker", self.rocker: "rocker–crank"}
        return "crank–rocker" if shortest == self.crank else names[shortest]

    @property
    def turns(self) -> bool:
        """Whether the crank can turn fully: at a change point, too, but there it may go on in either way."""
        return self.type in ("crank–rocker", "double crank", "change point")

    @property
    def transmission_angle(self) -> float | None:
        """The smallest angle between coupler and rocker over a turn, rad; None if the crank does not turn."""
        if self.type not in ("crank–rocker", "double crank"):
            return None
        found = []
        for diagonal in (abs(self.ground - self.crank), self.ground + self.crank):
            cosine = (self.coupler**2 + self.rocker**2 - diagonal**2) / (2.0 * self.coupler * self.rocker)
            angle = math.acos(min(1.0, max(-1.0, cosine)))
            found.append(min(angle, math.pi - angle))
        return min(found)


class SliderCrank(NamedTuple):
    """crank, coupler : lengths, m; offset : distance of the crank's pin on the ground from the line of the slider, m"""

    crank: float
    coupler: float
    offset: float

    @property
    def turns(self) -> bool:
        """Whether the crank can turn fully."""
        return self.coupler >= self.crank + self.offset

    @property
    def stroke(self) -> float | None:
        """Travel of the slider over a turn of the crank, m; None if it does not turn."""
        if not self.turns or self.coupler - self.crank < self.offset:
            return None
        far, near = self.coupler + self.crank, self.coupler - self.crank
        return math.sqrt(far**2 - self.offset**2) - math.sqrt(near**2 - self.offset**2)

    @property
    def transmission_angle(self) -> float | None:
        """The smallest angle between coupler and normal of the guide over a turn, rad; None if there is none."""
        return math.acos((self.crank + self.offset) / self.coupler) if self.turns else None


def linkage_type(drawing: Drawing) -> FourBar | SliderCrank | None:
    """What the machine is, if it is a four-bar or a slider-crank and no more."""
    model = drawing.model.expanded
    moving = [body.name for body in model.bodies if not _is_fixed(drawing, body.name)]
    if len(moving) != 3:
        return None
    stands = carrier_of(model, drawing.plane.parent)
    joints: list[Pin | Guide] = [*drawing.pins, *drawing.guides]
    edges: list[Edge] = [(each, frozenset(_carriers(drawing, each))) for each in joints]
    edges = [(each, pair) for each, pair in edges if pair <= {stands, *moving} and len(pair) == 2]
    first = next((each for each, pair in edges if stands in pair and isinstance(each, Pin)), None)
    if len(edges) != 4 or first is None:
        return None
    ring = _ring(first, stands, edges)
    pins = [each for each in ring if isinstance(each, Pin)]
    if len(ring) != 4:
        return None
    if len(pins) == 4:
        points = [_point(each) for each in ring]
        a, b, c, d = (math.dist(p, q) for p, q in zip(points, points[1:] + points[:1], strict=True))
        return FourBar(a, b, c, d)
    if len(pins) == 3 and isinstance(ring[3], Guide):
        points = [_point(each) for each in pins]
        u, v = math.cos(ring[3].angle), math.sin(ring[3].angle)
        line = points[2][0] - points[0][0], points[2][1] - points[0][1]
        offset = abs(line[1] * u - line[0] * v)
        return SliderCrank(math.dist(points[0], points[1]), math.dist(points[1], points[2]), offset)
    return None


def _is_fixed(drawing: Drawing, body: str) -> bool:
    """Whether a body is fixed to another, as a mass is."""
    return any(joint.child == body and joint.kind == "fixed" for joint in drawing.model.expanded.joints)


def _carriers(drawing: Drawing, each: Pin | Guide) -> tuple[str, str]:
    model = drawing.model.expanded
    return carrier_of(model, each.joint.parent), carrier_of(model, each.joint.child)


def _point(each: Pin | Guide) -> Point:
    return each.point


def _ring(first: Pin, stands: str, edges: list[Edge]) -> list[Pin | Guide]:
    """The joints one after the other, from one on the ground around the loop back to it."""
    ring: list[Pin | Guide] = [first]
    body = next(iter(next(pair for each, pair in edges if each is first) - {stands}))
    while body != stands and len(ring) <= len(edges):
        found = next(((each, pair) for each, pair in edges if body in pair and each not in ring), None)
        if found is None:
            return []
        ring.append(found[0])
        body = next(iter(found[1] - {body}))
    return ring

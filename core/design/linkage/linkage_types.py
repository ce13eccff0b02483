"""Classification of simple linkages: Grashof type of a four-bar, offset and stroke of a slider-crank, smallest
transmission angle over a turn."""

from __future__ import annotations

import math
from typing import NamedTuple

from core.design.linkage.drawing import Drawing, Guide, Pin
from core.design.linkage.drawn_links import carrier_of_element
from core.design.linkage.plane import Point

EQUAL = 1e-9
"""Relative difference in the Grashof sums below which a linkage counts as a change-point mechanism."""


Edge = tuple[Pin | Guide, frozenset[str]]
"""A joint, and the two bodies it connects."""


class FourBar(NamedTuple):
    """A four-bar linkage. crank, coupler, rocker, ground : lengths, m; the crank is the link whose pin was drawn
    first"""

    crank: float
    coupler: float
    rocker: float
    ground: float

    @property
    def grashof_type(self) -> str:
        """Grashof type, which tells which links can rotate fully."""
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
    def can_crank_turn(self) -> bool:
        """True if the crank can rotate fully, including a change-point mechanism, which may switch branches there."""
        return self.grashof_type in ("crank–rocker", "double crank", "change point")

    @property
    def transmission_angle(self) -> float | None:
        """Smallest angle between coupler and rocker over a turn, rad; None if the crank cannot rotate fully."""
        if self.grashof_type not in ("crank–rocker", "double crank"):
            return None
        found = []
        for diagonal in (abs(self.ground - self.crank), self.ground + self.crank):
            cosine = (self.coupler**2 + self.rocker**2 - diagonal**2) / (2.0 * self.coupler * self.rocker)
            angle = math.acos(min(1.0, max(-1.0, cosine)))
            found.append(min(angle, math.pi - angle))
        return min(found)


class SliderCrank(NamedTuple):
    """A slider-crank. crank, coupler : lengths, m; offset : distance of the crank's ground pin from the slider's line,
    m"""

    crank: float
    coupler: float
    offset: float

    @property
    def can_crank_turn(self) -> bool:
        """True if the crank can rotate fully."""
        return self.coupler >= self.crank + self.offset

    @property
    def stroke(self) -> float | None:
        """Travel of the slider over a turn of the crank, m; None if the crank cannot rotate fully."""
        if not self.can_crank_turn or self.coupler - self.crank < self.offset:
            return None
        far, near = self.coupler + self.crank, self.coupler - self.crank
        return math.sqrt(far**2 - self.offset**2) - math.sqrt(near**2 - self.offset**2)

    @property
    def transmission_angle(self) -> float | None:
        """Smallest angle between the coupler and the guide's normal over a turn, rad; None if the crank cannot rotate
        fully."""
        return math.acos((self.crank + self.offset) / self.coupler) if self.can_crank_turn else None


def classify_linkage(drawing: Drawing) -> FourBar | SliderCrank | None:
    """Return the type of a machine that is exactly a four-bar or a slider-crank; None for any other."""
    model = drawing.model.expanded
    moving = [body.name for body in model.bodies if not _is_fixed(drawing, body.name)]
    if len(moving) != 3:
        return None
    stands = carrier_of_element(model, drawing.plane.parent)
    joints: list[Pin | Guide] = [*drawing.pins, *drawing.guides]
    edges: list[Edge] = [(each, frozenset(_connected_bodies(drawing, each))) for each in joints]
    edges = [(each, pair) for each, pair in edges if pair <= {stands, *moving} and len(pair) == 2]
    first = next((each for each, pair in edges if stands in pair and isinstance(each, Pin)), None)
    if len(edges) != 4 or first is None:
        return None
    ring = _joints_around_loop(first, stands, edges)
    pins = [each for each in ring if isinstance(each, Pin)]
    if len(ring) != 4:
        return None
    if len(pins) == 4:
        points = [_joint_point(each) for each in ring]
        a, b, c, d = (math.dist(p, q) for p, q in zip(points, points[1:] + points[:1], strict=True))
        return FourBar(a, b, c, d)
    if len(pins) == 3 and isinstance(ring[3], Guide):
        points = [_joint_point(each) for each in pins]
        u, v = math.cos(ring[3].angle), math.sin(ring[3].angle)
        line = points[2][0] - points[0][0], points[2][1] - points[0][1]
        offset = abs(line[1] * u - line[0] * v)
        return SliderCrank(math.dist(points[0], points[1]), math.dist(points[1], points[2]), offset)
    return None


def _is_fixed(drawing: Drawing, body: str) -> bool:
    """Return True if a body is fixed to another one, as a point mass is."""
    return any(joint.child == body and joint.kind == "fixed" for joint in drawing.model.expanded.joints)


def _connected_bodies(drawing: Drawing, joint: Pin | Guide) -> tuple[str, str]:
    model = drawing.model.expanded
    return carrier_of_element(model, joint.joint.parent), carrier_of_element(model, joint.joint.child)


def _joint_point(joint: Pin | Guide) -> Point:
    return joint.point


def _joints_around_loop(first_joint: Pin, ground_body: str, edges: list[Edge]) -> list[Pin | Guide]:
    """Return the joints in order around the loop, starting with one on the ground."""
    ring: list[Pin | Guide] = [first_joint]
    body = next(iter(next(pair for each, pair in edges if each is first_joint) - {ground_body}))
    while body != ground_body and len(ring) <= len(edges):
        found = next(((each, pair) for each, pair in edges if body in pair and each not in ring), None)
        if found is None:
            return []
        ring.append(found[0])
        body = next(iter(found[1] - {body}))
    return ring

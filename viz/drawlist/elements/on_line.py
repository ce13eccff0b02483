"""Stretchable springs, dampers and masses on a line.

A spring's coil is scaled along its line; a damper's cylinder keeps its size and the rod moves in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.model import WORLD, Force, Joint
from core.model.forces import LINE
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, along, matrix, number, placement, shifted

SHORTEST = 4.0
"""Smallest design length of a line, in joint radii."""
MOST_TURNS = 14
FEWEST_TURNS = 5
BESIDE = 2.0
"""Offset of a spring from the axis of its slide, in joint radii."""


class Line:
    """Line of a force element, which creates the items on it."""

    def __init__(self, skeleton: Skeleton, force: Force, a: str, b: str) -> None:
        self.skeleton, self.force = skeleton, force
        self.begin, self.end = skeleton.anchor(a or WORLD), skeleton.anchor(b or WORLD)
        r = skeleton.glyph
        rest = number(force.rest, skeleton.values) if force.info.along == LINE else 0.0
        drawn = float(np.linalg.norm(skeleton.place(b) - skeleton.place(a)))
        self.length = max(rest if rest > 0.0 else drawn, SHORTEST * r)
        self.coil = min(0.75 * r, 0.16 * self.length)

    def item(self, part: str, form: g.Geometry, colour: Colour, at: tuple[float, float] | None = None) -> Item:
        """Return a form on the line: stretched, or at a fixed share of the line (see `Span`)."""
        (body, pose), (other, end) = self.begin, self.end
        return Item(
            f"force/{self.force.name}/{part}",
            ("forces", self.force.name),
            body,
            form,
            "force",
            colour,
            placement(pose),
            until=Span(other, placement(end), at),
        )

    def spring(self, start: float = 0.0, end: float = 1.0, aside: float = 0.0, ends: float = 0.12) -> Item:
        """Return a coil over a part of the line."""
        turns = (end - start) * self.length / (0.85 * self.coil)
        form = g.Coil(
            self.coil,
            0.15 * self.coil,
            float(np.clip(round(turns), FEWEST_TURNS, MOST_TURNS)),
            self.length,
            start,
            end,
            ends,
            aside,
        )
        return self.item("spring", form, "spring")

    def damper(self, start: float = 0.0, end: float = 1.0, aside: float = 0.0) -> Iterator[Item]:
        """Yield a cylinder of constant size and the rod that moves in it."""
        c, span = self.coil, (end - start) * self.length
        size = 0.42 * span
        side = shifted(aside, 0.0, 0.0)
        body = g.Compound((g.Placed(g.Cylinder(0.62 * c, size, 0.06 * c), placement(side)),))
        yield self.item("cylinder", body, "damper", (start, 0.05 * span + size / 2.0))
        middle = (start + end) / 2.0 - 0.5
        rod = g.Cylinder(0.2 * c, end - start, sides=16)
        yield self.item("rod", g.Compound((g.Placed(rod, placement(shifted(aside, 0.0, middle))),)), "rod")

    def brackets(self, share: float, width: float) -> Iterator[Item]:
        """Yield the two crossbars that hold a spring and a damper in parallel."""
        c = self.coil
        bar = g.Compound((g.Placed(g.Box((2.0 * width, 0.3 * c, 0.24 * c), 0.06 * c)),))
        for name, place in (("near", share), ("far", 1.0 - share)):
            yield self.item(name, bar, "damper", (place, 0.0))
        stub = g.Cylinder(0.16 * c, share, sides=12)
        halves = (g.Placed(stub, placement(shifted(0, 0, z))) for z in ((share - 1.0) / 2.0, (1.0 - share) / 2.0))
        yield self.item("stubs", g.Compound(tuple(halves)), "damper")

    def actuator(self) -> Iterator[Item]:
        """Yield a line for a user-defined force law: two arrow heads that pull the ends together."""
        c = self.coil
        yield self.item("line", g.Cylinder(0.13 * c, 1.0, sides=12), "wrench")
        head = g.Cone(0.55 * c, 1.1 * c)
        yield self.item("head_a", head, "wrench", (0.5, -0.85 * c))
        turned = placement(along((0.0, 0.0, -1.0)))
        yield self.item("head_b", g.Compound((g.Placed(head, turned),)), "wrench", (0.5, 0.85 * c))

    def masses(self) -> Iterator[Item]:
        """Yield the point masses on the line."""
        for i, mass in enumerate(self.force.masses):
            place = number(mass.place, self.skeleton.values)
            at = {"fraction": (place, 0.0), "from_a": (0.0, place), "from_b": (1.0, -place)}[mass.at]
            yield self.item(f"mass{i}", g.Sphere(0.9 * self.skeleton.glyph), "joint", at)

    def law(self) -> Iterator[Item]:
        """Yield the items for the element's stiffness, damping and further force law."""
        force, c = self.force, self.coil
        stiff, damped = force.stiffness != 0.0, force.damping != 0.0
        if stiff and damped:
            share = 0.12
            yield self.spring(share, 1.0 - share, -1.15 * c, 0.03)
            yield from self.damper(share, 1.0 - share, 1.15 * c)
            yield from self.brackets(share, 1.7 * c)
        elif stiff:
            yield self.spring()
        elif damped:
            yield from self.damper()
        else:
            yield from self.actuator()


class SlideLine(Line):
    """Line next to a slide, from a point behind one frame to the other frame, so that it has its design length at
    coordinate 0."""

    def __init__(self, skeleton: Skeleton, force: Force, joint: Joint, axis: Array) -> None:
        self.skeleton, self.force = skeleton, force
        r, frame = skeleton.glyph, along(axis)
        limit = joint.limits[0].lower if joint.info.is_slider() and joint.limits else None
        reach = [0.0 if x is None else abs(number(x, skeleton.values)) for x in (limit, force.rest)]
        self.length = max(1.5 * SHORTEST * r, max(reach) + 0.5 * SHORTEST * r)
        self.coil = min(0.75 * r, 0.16 * self.length)
        (body, pose), (other, end) = skeleton.side(joint, "a"), skeleton.side(joint, "b")
        self.begin = body, pose @ frame @ shifted(BESIDE * r, 0.0, -self.length)
        self.end = other, end @ frame @ shifted(BESIDE * r, 0.0, 0.0)


def stretched_between(skeleton: Skeleton, a: str, b: str) -> tuple[str, Array, Span]:
    """Return frame, pose and span of a line between two named points."""
    body, pose = skeleton.anchor(a or WORLD)
    other, end = skeleton.anchor(b or WORLD)
    return body, matrix(placement(pose)), Span(other, placement(end))


def law_icon(force: Force) -> str:
    """Return the icon name of a force by the terms of its law."""
    spring, damper = force.stiffness != 0.0, force.damping != 0.0
    if spring and damper:
        return "spring_damper"
    return "spring" if spring else "damper" if damper else "line_force"

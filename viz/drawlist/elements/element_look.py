"""Look of an element kind: its items in the scene and its icon in lists. Also the parts that looks share: springs,
dampers and masses on a line or about an axis, bent arrows, padlocks.

A spring's coil is scaled along its line; a damper's cylinder keeps its size and the rod moves in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import pi
from typing import Any, NamedTuple

import numpy as np

from core.model import WORLD, Force, Joint, Sensor
from core.model.forces import LINE
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Ref, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, frame_along, number, to_matrix, to_placement, translation, unit_vector

SHORTEST = 4.0
"""Shortest length for which a line is designed, in joint radii."""
MOST_TURNS = 14
FEWEST_TURNS = 5
BESIDE = 2.0
"""Offset of a spring from the axis of its prismatic joint, in joint radii."""
Place = tuple[str, Array, Span | None]
"""Position of a mark: a frame, the pose in it, and (if any) the line at whose midpoint the mark is drawn."""


class ElementLook(NamedTuple):
    """Look of one element kind: its items in the scene and its icon."""

    items: Callable[[Skeleton, Any], Iterator[Item]]
    """Function that yields the items of an element."""
    kind_icon: str
    """Icon name of the kind."""
    icon: Callable[[Any], str] | None = None
    """Function returning an element's icon name, if that depends on its values."""
    of: tuple[str, str] = ("", "")
    """Collection and kind of the elements with this look, in modules for a single kind."""

    def get_icon(self, element: Any) -> str:
        """Return the icon name of an element."""
        return self.kind_icon if self.icon is None else self.icon(element)


class ElementLine:
    """Line of a force element, which creates the items along it."""

    def __init__(self, skeleton: Skeleton, force: Force, a: str, b: str) -> None:
        self.skeleton, self.force = skeleton, force
        self.begin, self.end = skeleton.find_anchor(a or WORLD), skeleton.find_anchor(b or WORLD)
        r = skeleton.glyph_size
        rest = number(force.rest, skeleton.values) if force.info.along == LINE else 0.0
        drawn = float(np.linalg.norm(skeleton.zero_position(b) - skeleton.zero_position(a)))
        self.length = max(rest if rest > 0.0 else drawn, SHORTEST * r)
        self.coil = min(0.75 * r, 0.16 * self.length)

    def item_on_line(
        self, part: str, form: g.Geometry, colour: Colour, fixed_share: tuple[float, float] | None = None
    ) -> Item:
        """Return an item on the line: stretched along it, or at a fixed share of the line (see `Span`)."""
        (body, pose), (other, end) = self.begin, self.end
        return Item(
            f"force/{self.force.name}/{part}",
            ("forces", self.force.name),
            body,
            form,
            "force",
            colour,
            to_placement(pose),
            until=Span(other, to_placement(end), fixed_share),
        )

    def spring_item(self, start: float = 0.0, end: float = 1.0, aside: float = 0.0, ends: float = 0.12) -> Item:
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
        return self.item_on_line("spring", form, "spring")

    def damper_items(self, start: float = 0.0, end: float = 1.0, aside: float = 0.0) -> Iterator[Item]:
        """Yield the cylinder of a damper, which has constant size, and the rod that moves in it."""
        c, span = self.coil, (end - start) * self.length
        size = 0.42 * span
        side = translation(aside, 0.0, 0.0)
        body = g.Compound((g.PlacedShape(g.Cylinder(0.62 * c, size, 0.06 * c), to_placement(side)),))
        yield self.item_on_line("cylinder", body, "damper", (start, 0.05 * span + size / 2.0))
        middle = (start + end) / 2.0 - 0.5
        rod = g.Cylinder(0.2 * c, end - start, sides=16)
        yield self.item_on_line(
            "rod", g.Compound((g.PlacedShape(rod, to_placement(translation(aside, 0.0, middle))),)), "rod"
        )

    def bracket_items(self, share: float, width: float) -> Iterator[Item]:
        """Yield the two crossbars that connect a spring and a damper in parallel."""
        c = self.coil
        bar = g.Compound((g.PlacedShape(g.Box((2.0 * width, 0.3 * c, 0.24 * c), 0.06 * c)),))
        for name, place in (("near", share), ("far", 1.0 - share)):
            yield self.item_on_line(name, bar, "damper", (place, 0.0))
        stub = g.Cylinder(0.16 * c, share, sides=12)
        halves = (
            g.PlacedShape(stub, to_placement(translation(0, 0, z))) for z in ((share - 1.0) / 2.0, (1.0 - share) / 2.0)
        )
        yield self.item_on_line("stubs", g.Compound(tuple(halves)), "damper")

    def actuator_items(self) -> Iterator[Item]:
        """Yield the symbol of a user-defined force law: a line with two arrow heads that pull the ends together."""
        c = self.coil
        yield self.item_on_line("line", g.Cylinder(0.13 * c, 1.0, sides=12), "wrench")
        head = g.Cone(0.55 * c, 1.1 * c)
        yield self.item_on_line("head_a", head, "wrench", (0.5, -0.85 * c))
        turned = to_placement(frame_along((0.0, 0.0, -1.0)))
        yield self.item_on_line("head_b", g.Compound((g.PlacedShape(head, turned),)), "wrench", (0.5, 0.85 * c))

    def mass_items(self) -> Iterator[Item]:
        """Yield the point masses on the line."""
        for i, mass in enumerate(self.force.masses):
            place = number(mass.place, self.skeleton.values)
            at = {"fraction": (place, 0.0), "from_a": (0.0, place), "from_b": (1.0, -place)}[mass.at]
            yield self.item_on_line(f"mass{i}", g.Sphere(0.9 * self.skeleton.glyph_size), "joint", at)

    def force_law_items(self) -> Iterator[Item]:
        """Yield the items for the stiffness, the damping and any further force law of the element."""
        force, c = self.force, self.coil
        stiff, damped = force.stiffness != 0.0, force.damping != 0.0
        if stiff and damped:
            share = 0.12
            yield self.spring_item(share, 1.0 - share, -1.15 * c, 0.03)
            yield from self.damper_items(share, 1.0 - share, 1.15 * c)
            yield from self.bracket_items(share, 1.7 * c)
        elif stiff:
            yield self.spring_item()
        elif damped:
            yield from self.damper_items()
        else:
            yield from self.actuator_items()


class OffsetSlideLine(ElementLine):
    """Line next to a prismatic joint, from a point behind one frame to the other frame, so that it has its design
    length at coordinate 0."""

    def __init__(self, skeleton: Skeleton, force: Force, joint: Joint, axis: Array) -> None:
        self.skeleton, self.force = skeleton, force
        r, frame = skeleton.glyph_size, frame_along(axis)
        limit = joint.limits[0].lower if joint.info.is_slider() and joint.limits else None
        reach = [0.0 if x is None else abs(number(x, skeleton.values)) for x in (limit, force.rest)]
        self.length = max(1.5 * SHORTEST * r, max(reach) + 0.5 * SHORTEST * r)
        self.coil = min(0.75 * r, 0.16 * self.length)
        (body, pose), (other, end) = skeleton.joint_frame(joint, "a"), skeleton.joint_frame(joint, "b")
        self.begin = body, pose @ frame @ translation(BESIDE * r, 0.0, -self.length)
        self.end = other, end @ frame @ translation(BESIDE * r, 0.0, 0.0)


def span_between(skeleton: Skeleton, a: str, b: str) -> tuple[str, Array, Span]:
    """Return frame, pose and span of a line between two named points."""
    body, pose = skeleton.find_anchor(a or WORLD)
    other, end = skeleton.find_anchor(b or WORLD)
    return body, to_matrix(to_placement(pose)), Span(other, to_placement(end))


def force_law_icon(force: Force) -> str:
    """Return the name of a force's icon, which depends on the terms of its law."""
    spring, damper = force.stiffness != 0.0, force.damping != 0.0
    if spring and damper:
        return "spring_damper"
    return "spring" if spring else "damper" if damper else "line_force"


def spring_about_axis(
    skeleton: Skeleton, force: Force, body: str, pose: Array, axis: Array, slides: bool = False
) -> Item:
    """Return a spiral spring about an axis; a ring for a damper; for a mere formula a bent arrow, or a straight arrow
    at a prismatic joint."""
    r = skeleton.glyph_size
    form: g.Geometry
    if force.stiffness != 0.0:
        form, colour = g.Spiral(1.15 * r, 1.9 * r, 0.1 * r, 2.75), "spring"
    elif force.damping != 0.0:
        form, colour = g.Tube(1.12 * r, 1.5 * r, 0.7 * r), "damper"
    else:
        form, colour = (
            g.Arrow(4.0 * r, 0.2 * r, 0.55 * r, 1.5 * r) if slides else bent_arrow_geometry(1.6 * r),
            "wrench",
        )
    placed = pose @ frame_along(axis) @ translation(0.0, 0.0, 1.35 * r)
    return Item(f"force/{force.name}/about", ("forces", force.name), body, form, "force", colour, to_placement(placed))


def bent_arrow_geometry(radius: float) -> g.Geometry:
    """Return an arrow along three quarters of a circle about z, right-handed."""
    tube, end = 0.1 * radius, 1.45 * pi
    tip = np.array([np.cos(end), np.sin(end), 0.0]) * radius
    head = frame_along((-np.sin(end), np.cos(end), 0.0), tip) @ translation(0.0, 0.0, 0.16 * radius)
    return g.Compound(
        (
            g.PlacedShape(g.Arc(radius, tube, 0.0, end)),
            g.PlacedShape(g.Cone(0.28 * radius, 0.5 * radius), to_placement(head)),
        )
    )


def mark_item(ref: Ref, form: g.Geometry, colour: Colour, position: Place | None) -> Iterator[Item]:
    """Yield an item at a position; nothing if the position is None."""
    if position is not None:
        frame, pose, until = position
        yield Item(f"mark/{ref[0]}/{ref[1]}", ref, frame, form, "mark", colour, to_placement(pose), until=until)


def sensor_position(skeleton: Skeleton, name: str) -> Place | None:
    """Return the midpoint of the line that a sensor measures, or its axis."""
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == name), None)
    if sensor is None:
        return None
    frame, pose, until = span_between(skeleton, sensor.a, sensor.b)
    if sensor.info.turns:
        axis = unit_vector([number(x, skeleton.values) for x in sensor.axis])
        body, end = skeleton.find_anchor(sensor.b)
        return body, end @ frame_along(axis) @ translation(0.0, 0.0, 2.6 * skeleton.glyph_size), None
    return frame, pose, replace(until, at=(0.62, 0.0))


def padlock_geometry(r: float) -> g.Geometry:
    """Return an upright padlock."""
    shackle = to_placement(frame_along((0.0, 1.0, 0.0), (0.0, 0.0, 0.45 * r)))
    return g.Compound(
        (
            g.PlacedShape(g.Box((1.3 * r, 0.6 * r, 1.0 * r), 0.1 * r)),
            g.PlacedShape(g.Arc(0.42 * r, 0.1 * r, 0.0, 2.0 * np.pi), shackle),
            g.PlacedShape(g.Cylinder(0.16 * r, 0.7 * r, sides=16), to_placement(frame_along((0.0, 1.0, 0.0)))),
        )
    )

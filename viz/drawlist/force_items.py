"""What forces look like: springs that stretch, dampers, arrows of wrenches, masses on lines, massless junctions.

A spring's coil is scaled along its line; a damper's cylinder keeps its size and the rod moves in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np

from core.errors import KinetostatError
from core.model import WORLD, Force, Joint, Sensor
from core.multibody.number_reader import Numbers
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, along, matrix, number, placement, shifted, unit

SHORTEST = 4.0
"""A line is drawn for a length of at least so many joint radii."""
MOST_TURNS = 14
FEWEST_TURNS = 5
BESIDE = 2.0
"""How far from its axis a spring on a slide is drawn, in joint radii."""


class Line:
    """The line of a force element: makes items that lie on it."""

    def __init__(self, skeleton: Skeleton, force: Force, a: str, b: str) -> None:
        self.skeleton, self.force = skeleton, force
        self.begin, self.end = skeleton.anchor(a or WORLD), skeleton.anchor(b or WORLD)
        r = skeleton.glyph
        rest = number(force.rest, skeleton.values) if force.kind in ("line", "series") else 0.0
        drawn = float(np.linalg.norm(skeleton.place(b) - skeleton.place(a)))
        self.length = max(rest if rest > 0.0 else drawn, SHORTEST * r)
        self.coil = min(0.75 * r, 0.16 * self.length)

    def item(self, part: str, form: g.Geometry, colour: Colour, at: tuple[float, float] | None = None) -> Item:
        """A form on the line: stretched, or at a place of its own (see `Span`)."""
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
        """A coil over a part of the line."""
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
        """A cylinder that keeps its size, and a rod that moves in it."""
        c, span = self.coil, (end - start) * self.length
        size = 0.42 * span
        side = shifted(aside, 0.0, 0.0)
        body = g.Compound((g.Placed(g.Cylinder(0.62 * c, size, 0.06 * c), placement(side)),))
        yield self.item("cylinder", body, "damper", (start, 0.05 * span + size / 2.0))
        middle = (start + end) / 2.0 - 0.5
        rod = g.Cylinder(0.2 * c, end - start, sides=16)
        yield self.item("rod", g.Compound((g.Placed(rod, placement(shifted(aside, 0.0, middle))),)), "rod")

    def brackets(self, share: float, width: float) -> Iterator[Item]:
        """The two crossbars between which a spring and a damper stand side by side."""
        c = self.coil
        bar = g.Compound((g.Placed(g.Box((2.0 * width, 0.3 * c, 0.24 * c), 0.06 * c)),))
        for name, place in (("near", share), ("far", 1.0 - share)):
            yield self.item(name, bar, "damper", (place, 0.0))
        stub = g.Cylinder(0.16 * c, share, sides=12)
        halves = (g.Placed(stub, placement(shifted(0, 0, z))) for z in ((share - 1.0) / 2.0, (1.0 - share) / 2.0))
        yield self.item("stubs", g.Compound(tuple(halves)), "damper")

    def actuator(self) -> Iterator[Item]:
        """A line with a force of its own law: two arrow heads that pull the ends together."""
        c = self.coil
        yield self.item("line", g.Cylinder(0.13 * c, 1.0, sides=12), "wrench")
        head = g.Cone(0.55 * c, 1.1 * c)
        yield self.item("head_a", head, "wrench", (0.5, -0.85 * c))
        turned = placement(along((0.0, 0.0, -1.0)))
        yield self.item("head_b", g.Compound((g.Placed(head, turned),)), "wrench", (0.5, 0.85 * c))

    def masses(self) -> Iterator[Item]:
        """Point masses on the line."""
        for i, mass in enumerate(self.force.masses):
            place = number(mass.place, self.skeleton.values)
            at = {"fraction": (place, 0.0), "from_a": (0.0, place), "from_b": (1.0, -place)}[mass.at]
            yield self.item(f"mass{i}", g.Sphere(0.9 * self.skeleton.glyph), "joint", at)

    def law(self) -> Iterator[Item]:
        """What the stiffness, damping and further law of the element say."""
        force, c = self.force, self.coil
        stiff, damped = force.stiffness != 0.0, force.damping != 0.0
        if force.kind == "series":
            yield self.spring(0.0, 0.5)
            yield from self.damper(0.5, 1.0)
        elif stiff and damped:
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
    """A line beside a slide: from a point behind the frame of one side to the frame of the other, so that it is as long
    as it is drawn where the coordinate is 0."""

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


def _in_joint(skeleton: Skeleton, force: Force, joint: Joint) -> Iterator[Item]:
    """What acts in a joint: a coil or damper along a slide, a spiral or ring about an axis."""
    axis, slides = _along_coordinate(skeleton, joint, force.coordinate)
    if slides and (force.stiffness != 0.0 or force.damping != 0.0):
        yield from SlideLine(skeleton, force, joint, axis).law()
    else:
        yield _around(skeleton, force, *skeleton.side(joint, "a"), axis, slides)


def force_items(skeleton: Skeleton) -> Iterator[Item]:
    """The items of all forces."""
    for force in skeleton.model.forces:
        if force.kind in ("line", "series"):
            line = Line(skeleton, force, force.a, force.b)
            yield from line.law()
            yield from line.masses()
        elif force.kind == "wrench":
            yield from _wrench(skeleton, force)
        elif force.kind == "joint":
            joint = skeleton.joint(force.joint)
            if joint is not None:
                yield from _in_joint(skeleton, force, joint)
        else:
            yield from _along_sensor(skeleton, force)


def junction_items(skeleton: Skeleton) -> Iterator[Item]:
    """A small ball at every junction."""
    for junction in skeleton.model.junctions:
        yield Item(
            f"junction/{junction.name}",
            ("junctions", junction.name),
            junction.name,
            g.Sphere(0.42 * skeleton.glyph),
            "force",
            "spring",
        )
        yield Item(
            f"label/junctions/{junction.name}",
            ("junctions", junction.name),
            junction.name,
            g.Sphere(1e-3),
            "label",
            "text",
            shown=False,
            text=junction.name,
        )


# ------------------------------------------------------------------------------- about joints and sensors


def _along_coordinate(skeleton: Skeleton, joint: Joint, coordinate: str) -> tuple[Array, bool]:
    """(3,) the axis of a joint's coordinate or speed, in frame a at q = 0, and whether it slides along it."""
    kind = joint.info
    if coordinate in kind.position:
        return np.eye(3)[kind.position.index(coordinate)], True
    names = kind.speeds if coordinate in kind.speeds else kind.coordinates
    k = names.index(coordinate) if coordinate in names else 0
    try:
        law, R_ac = Numbers(skeleton.values, skeleton.model.origin).law(joint)
    except KinetostatError:  # axes that say nothing
        return np.eye(3)[2], False
    angular, linear = (np.array(each, dtype=float) for each in law.subspace(law.neutral)[k])
    return np.array(R_ac, dtype=float) @ unit(angular if angular.any() else linear), not angular.any()


def _around(skeleton: Skeleton, force: Force, body: str, pose: Array, axis: Array, slides: bool = False) -> Item:
    """A spiral spring (a ring for a damper; for a formula alone a bent arrow, a straight one on a slide) on an axis."""
    r = skeleton.glyph
    form: g.Geometry
    if force.stiffness != 0.0:
        form, colour = g.Spiral(1.15 * r, 1.9 * r, 0.1 * r, 2.75), "spring"
    elif force.damping != 0.0:
        form, colour = g.Tube(1.12 * r, 1.5 * r, 0.7 * r), "damper"
    else:
        form, colour = g.Arrow(4.0 * r, 0.2 * r, 0.55 * r, 1.5 * r) if slides else bent_arrow(1.6 * r), "wrench"
    placed = pose @ along(axis) @ shifted(0.0, 0.0, 1.35 * r)
    return Item(f"force/{force.name}/about", ("forces", force.name), body, form, "force", colour, placement(placed))


def _along_sensor(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == force.sensor), None)
    if sensor is None:
        return
    if sensor.kind == "angle":
        axis = unit([number(x, skeleton.values) for x in sensor.axis])
        yield _around(skeleton, force, *skeleton.anchor(sensor.b), axis)
    else:
        yield from Line(skeleton, force, sensor.a, sensor.b).law()


# ------------------------------------------------------------------------------- wrenches


def _wrench(skeleton: Skeleton, force: Force) -> Iterator[Item]:
    """An arrow of the force that ends at b, and a bent one of the torque, in the axes of `resolve`."""
    r = skeleton.glyph
    body, pose = skeleton.anchor(force.b)
    frame, turn = skeleton.anchor(force.resolve or WORLD)
    arrow = g.Compound((g.Placed(g.Arrow(5.0 * r, 0.2 * r, 0.55 * r, 1.5 * r), placement(shifted(0, 0, -5.0 * r))),))
    for part, vector, form in (("force", force.force, arrow), ("torque", force.torque, bent_arrow(2.2 * r))):
        direction = _direction(skeleton, vector)
        if direction is None:
            continue
        place = np.eye(4)
        place[:3, :3] = turn[:3, :3] @ along(direction)[:3, :3]
        place[:3, 3] = pose[:3, 3]
        yield Item(
            f"force/{force.name}/{part}",
            ("forces", force.name),
            body,
            form,
            "force",
            "wrench",
            placement(place),
            axes=frame,
        )


def _direction(skeleton: Skeleton, vector: tuple[float | str, ...]) -> Array | None:
    """(3,) where a vector points; a component that depends on time or state counts as its sign at the start, or 1."""
    parts = np.zeros(3)
    for i, item in enumerate(vector):
        try:
            parts[i] = number(item, {**skeleton.values, "t": 0.0, "time": 0.0})
        except KinetostatError:
            parts[i] = 1.0
        if parts[i] == 0.0 and isinstance(item, str):
            parts[i] = 1e-9  # a formula that is zero just now still has a direction
    length = float(np.linalg.norm(parts))
    return parts / length if length > 0.0 and np.isfinite(length) else None


def bent_arrow(radius: float) -> g.Geometry:
    """Three quarters of a ring about z with a head in the sense of the right hand."""
    tube, end = 0.1 * radius, 1.45 * pi
    tip = np.array([np.cos(end), np.sin(end), 0.0]) * radius
    head = along((-np.sin(end), np.cos(end), 0.0), tip) @ shifted(0.0, 0.0, 0.16 * radius)
    return g.Compound(
        (
            g.Placed(g.Arc(radius, tube, 0.0, end)),
            g.Placed(g.Cone(0.28 * radius, 0.5 * radius), placement(head)),
        )
    )


def stretched_between(skeleton: Skeleton, a: str, b: str) -> tuple[str, Array, Span]:
    """Frame, place and span of a line between two named points."""
    body, pose = skeleton.anchor(a or WORLD)
    other, end = skeleton.anchor(b or WORLD)
    return body, matrix(placement(pose)), Span(other, placement(end))

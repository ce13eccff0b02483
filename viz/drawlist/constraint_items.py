"""What constraints and drivers look like: rods, gearwheels, padlocks, motors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.model import Constraint, Driver, Joint, Sensor
from viz.drawlist import geometry as g
from viz.drawlist.force_items import stretched_between
from viz.drawlist.item import Item, Ref, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, along, number, placement, shifted, unit

Place = tuple[str, Array, Span | None]
"""Frame, pose in it, and the line on whose middle the mark stands."""


def constraint_items(skeleton: Skeleton) -> Iterator[Item]:
    """The items of all constraints."""
    for constraint in skeleton.model.constraints:
        if constraint.kind == "gear":
            yield from _gear(skeleton, constraint)
        elif constraint.kind == "hold":
            yield from _mark(
                ("constraints", constraint.name),
                padlock(skeleton.glyph),
                "constraint",
                _at_sensor(skeleton, constraint.sensor),
            )
        else:
            yield from _rod(skeleton, constraint)


def driver_items(skeleton: Skeleton) -> Iterator[Item]:
    """A motor at everything that is driven."""
    for driver in skeleton.model.drivers:
        yield from _mark(("drivers", driver.name), motor(skeleton.glyph), "driver", _at_driver(skeleton, driver))


def _mark(ref: Ref, form: g.Geometry, colour: Colour, place: Place | None) -> Iterator[Item]:
    if place is not None:
        frame, pose, until = place
        yield Item(f"mark/{ref[0]}/{ref[1]}", ref, frame, form, "mark", colour, placement(pose), until=until)


# ------------------------------------------------------------------------------- rods and gears


def _rod(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """A thin bar between two balls; a universal one has a cross at a."""
    r, ref = skeleton.glyph, ("constraints", constraint.name)
    frame, pose, until = stretched_between(skeleton, constraint.a, constraint.b)

    def item(part: str, form: g.Geometry, colour: Colour, place: Array, until: Span | None, frame: str = frame) -> Item:
        return Item(f"rod/{constraint.name}/{part}", ref, frame, form, "link", colour, placement(place), until=until)

    yield item("bar", g.Cylinder(0.3 * r, 1.0, sides=24), "rod", pose, until)
    ball = g.Sphere(0.62 * r)
    yield item("ball_b", ball, "joint", pose, replace(until, at=(1.0, 0.0)))
    if constraint.kind == "rod":
        yield item("ball_a", ball, "joint", pose, None)
        return
    axis = unit([number(x, skeleton.values) for x in constraint.axis])
    pin = g.Compound(
        (
            g.Placed(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r)),
            g.Placed(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r), placement(along((1.0, 0.0, 0.0)))),
            g.Placed(g.Sphere(0.48 * r)),
        )
    )
    yield item("cross", pin, "joint", pose @ along(axis), None)


def _gear(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """A gearwheel at each of the two joints, as large as the ratio says where both fit between them."""
    joint, leader = skeleton.joint(constraint.joint), skeleton.joint(constraint.leader)
    if joint is None or leader is None:
        return
    ratio = abs(number(constraint.ratio, skeleton.values)) or 1.0
    small, large = _radii(skeleton, joint, leader, ratio)
    for each, radius, name in ((joint, small, "follower"), (leader, large, "leader")):
        frame, pose = skeleton.side(each, "a" if each.info.is_slider() else "b")
        axis = unit([number(x, skeleton.values) for x in each.axis])
        r = skeleton.glyph
        teeth = max(16, round(2.0 * np.pi * radius / r))
        wheel = g.Gearwheel(radius, 0.7 * r, teeth, 0.5 * r)
        place = pose @ along(axis) @ shifted(0.0, 0.0, -1.7 * r)
        yield Item(
            f"mark/constraints/{constraint.name}/{name}",
            ("constraints", constraint.name),
            frame,
            wheel,
            "mark",
            "constraint",
            placement(place),
        )


def _radii(skeleton: Skeleton, joint: Joint, leader: Joint, ratio: float) -> tuple[float, float]:
    """Pitch radii of follower and leader: q_joint = ratio · q_leader, so r_leader = ratio · r_joint."""
    r = skeleton.glyph
    apart = float(np.linalg.norm(_origin(skeleton, joint) - _origin(skeleton, leader)))
    follower = apart / (1.0 + ratio)
    if 1.2 * r < follower < 12.0 * r and 1.2 * r < ratio * follower < 12.0 * r:
        return follower, ratio * follower
    base = 2.2 * r
    return base / max(ratio, 1.0) if ratio > 1.0 else base, base if ratio > 1.0 else max(base * ratio, 1.2 * r)


def _origin(skeleton: Skeleton, joint: Joint) -> Array:
    body, pose = skeleton.side(joint, "a")
    return np.asarray((skeleton.drawn.get(body, np.eye(4)) @ pose)[:3, 3])


# ------------------------------------------------------------------------------- marks


def _at_sensor(skeleton: Skeleton, name: str) -> Place | None:
    """The middle of the line a sensor measures, or its axis."""
    sensor: Sensor | None = next((s for s in skeleton.model.sensors if s.name == name), None)
    if sensor is None:
        return None
    frame, pose, until = stretched_between(skeleton, sensor.a, sensor.b)
    if sensor.kind == "angle":
        axis = unit([number(x, skeleton.values) for x in sensor.axis])
        body, end = skeleton.anchor(sensor.b)
        return body, end @ along(axis) @ shifted(0.0, 0.0, 2.6 * skeleton.glyph), None
    return frame, pose, replace(until, at=(0.62, 0.0))


def _at_driver(skeleton: Skeleton, driver: Driver) -> Place | None:
    if driver.sensor:
        return _at_sensor(skeleton, driver.sensor)
    joint = skeleton.joint(driver.joint)
    if joint is None:
        return None
    frame, pose = skeleton.side(joint, "a")
    axis = unit([number(x, skeleton.values) for x in joint.axis])
    return frame, pose @ along(axis) @ shifted(0.0, 0.0, -2.3 * skeleton.glyph), None


def padlock(r: float) -> g.Geometry:
    """A padlock that stands along z."""
    shackle = placement(along((0.0, 1.0, 0.0), (0.0, 0.0, 0.45 * r)))
    return g.Compound(
        (
            g.Placed(g.Box((1.3 * r, 0.6 * r, 1.0 * r), 0.1 * r)),
            g.Placed(g.Arc(0.42 * r, 0.1 * r, 0.0, 2.0 * np.pi), shackle),
            g.Placed(g.Cylinder(0.16 * r, 0.7 * r, sides=16), placement(along((0.0, 1.0, 0.0)))),
        )
    )


def motor(r: float) -> g.Geometry:
    """A motor whose shaft points along z: a finned drum with a flange."""
    fins = tuple(
        g.Placed(g.Cylinder(1.12 * r, 0.16 * r, 0.03 * r), placement(shifted(0.0, 0.0, z * r)))
        for z in (-0.75, -0.4, -0.05, 0.3)
    )
    return g.Compound(
        (
            g.Placed(g.Cylinder(0.98 * r, 1.7 * r, 0.08 * r), placement(shifted(0.0, 0.0, -0.2 * r))),
            *fins,
            g.Placed(g.Box((1.9 * r, 1.9 * r, 0.24 * r), 0.05 * r), placement(shifted(0.0, 0.0, 0.72 * r))),
            g.Placed(g.Cylinder(0.3 * r, 0.6 * r), placement(shifted(0.0, 0.0, 1.0 * r))),
        )
    )

"""Look of rods with two ball joints: a thin bar between two balls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.model import WORLD, Constraint
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look, stretched_between
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, placement


def items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar with a ball at each end."""
    yield from bar(skeleton, constraint)
    pose = stretched_between(skeleton, constraint.a, constraint.b)[1]
    yield part_of(skeleton, constraint, "ball_a", g.Sphere(0.62 * skeleton.glyph), "joint", pose)


def bar(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar, and the ball at b."""
    r, (_, pose, until) = skeleton.glyph, stretched_between(skeleton, constraint.a, constraint.b)
    yield part_of(skeleton, constraint, "bar", g.Cylinder(0.3 * r, 1.0, sides=24), "rod", pose, until)
    end = replace(until, at=(1.0, 0.0))
    yield part_of(skeleton, constraint, "ball_b", g.Sphere(0.62 * r), "joint", pose, end)


def part_of(
    skeleton: Skeleton,
    constraint: Constraint,
    part: str,
    form: g.Geometry,
    colour: Colour,
    pose: Array,
    until: Span | None = None,
) -> Item:
    """Return a part of a rod, attached to the frame of a."""
    frame = skeleton.anchor(constraint.a or WORLD)[0]
    ref = "constraints", constraint.name
    return Item(f"rod/{constraint.name}/{part}", ref, frame, form, "link", colour, placement(pose), until=until)


LOOK = Look(items, "rod", of=("constraints", "rod"))

"""Look of rods with two ball joints: a thin bar between two balls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.model import WORLD, Constraint
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook, span_between
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.look import Colour
from viz.placement import Array, to_placement


def rod_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar with a ball at each end."""
    yield from bar_items(skeleton, constraint)
    pose = span_between(skeleton, constraint.a, constraint.b)[1]
    yield rod_part(skeleton, constraint, "ball_a", g.Sphere(0.62 * skeleton.glyph_size), "joint", pose)


def bar_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar and the ball at end b."""
    r, (_, pose, until) = skeleton.glyph_size, span_between(skeleton, constraint.a, constraint.b)
    yield rod_part(skeleton, constraint, "bar", g.Cylinder(0.3 * r, 1.0, sides=24), "rod", pose, until)
    end = replace(until, at=(1.0, 0.0))
    yield rod_part(skeleton, constraint, "ball_b", g.Sphere(0.62 * r), "joint", pose, end)


def rod_part(
    skeleton: Skeleton,
    constraint: Constraint,
    part: str,
    form: g.Geometry,
    colour: Colour,
    pose: Array,
    until: Span | None = None,
) -> Item:
    """Return a part of a rod, attached to the frame of end a."""
    frame = skeleton.find_anchor(constraint.a or WORLD)[0]
    ref = "constraints", constraint.name
    return Item(f"rod/{constraint.name}/{part}", ref, frame, form, "link", colour, to_placement(pose), until=until)


LOOK = ElementLook(rod_items, "rod", of=("constraints", "rod"))

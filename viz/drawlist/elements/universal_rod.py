"""Look of rods with a universal and a ball joint: a thin bar between a cross and a ball."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Constraint
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look, stretched_between
from viz.drawlist.elements.rod import bar, part_of
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import along, number, placement, unit


def items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar, and the cross with the constraint's first axis."""
    yield from bar(skeleton, constraint)
    r, pose = skeleton.glyph, stretched_between(skeleton, constraint.a, constraint.b)[1]
    axis = unit([number(x, skeleton.values) for x in constraint.axis])
    pin = g.Compound(
        (
            g.Placed(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r)),
            g.Placed(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r), placement(along((1.0, 0.0, 0.0)))),
            g.Placed(g.Sphere(0.48 * r)),
        )
    )
    yield part_of(skeleton, constraint, "cross", pin, "joint", pose @ along(axis))


LOOK = Look(items, "rod", of=("constraints", "universal_rod"))

"""Look of rods with a universal and a ball joint: a thin bar between a cross and a ball."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Constraint
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook, span_between
from viz.drawlist.elements.rod import bar_items, rod_part
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import frame_along, number, to_placement, unit_vector


def universal_rod_items(skeleton: Skeleton, constraint: Constraint) -> Iterator[Item]:
    """Yield the bar, and the cross with the constraint's first axis."""
    yield from bar_items(skeleton, constraint)
    r, pose = skeleton.glyph_size, span_between(skeleton, constraint.a, constraint.b)[1]
    axis = unit_vector([number(x, skeleton.values) for x in constraint.axis])
    pin = g.Compound(
        (
            g.PlacedShape(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r)),
            g.PlacedShape(g.Cylinder(0.3 * r, 2.0 * r, 0.05 * r), to_placement(frame_along((1.0, 0.0, 0.0)))),
            g.PlacedShape(g.Sphere(0.48 * r)),
        )
    )
    yield rod_part(skeleton, constraint, "cross", pin, "joint", pose @ frame_along(axis))


LOOK = ElementLook(universal_rod_items, "rod", of=("constraints", "universal_rod"))

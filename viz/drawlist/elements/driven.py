"""Look of drivers: a motor at the driven sensor or joint."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Driver
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import Look, Place, at_sensor, mark
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import along, number, placement, shifted, unit


def items(skeleton: Skeleton, driver: Driver) -> Iterator[Item]:
    """Yield the motor at the driven sensor or joint."""
    yield from mark(("drivers", driver.name), motor(skeleton.glyph), "driver", _motor_place(skeleton, driver))


def _motor_place(skeleton: Skeleton, driver: Driver) -> Place | None:
    if driver.sensor:
        return at_sensor(skeleton, driver.sensor)
    joint = skeleton.joint(driver.joint)
    if joint is None:
        return None
    frame, pose = skeleton.side(joint, "a")
    axis = unit([number(x, skeleton.values) for x in joint.axis])
    return frame, pose @ along(axis) @ shifted(0.0, 0.0, -2.3 * skeleton.glyph), None


def motor(r: float) -> g.Geometry:
    """Return a motor with its shaft along z: a finned drum with a flange."""
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


def _icon(driver: Driver) -> str:
    """Return the icon name: of a formula, or of a table or recorded signal."""
    return "driver_table" if driver.times or driver.file else "driver"


LOOK = Look(items, "driver", _icon)

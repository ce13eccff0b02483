"""Look of drivers: a motor at the driven sensor or joint."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import Driver
from viz.drawlist import geometry as g
from viz.drawlist.elements.element_look import ElementLook, Place, mark_item, sensor_position
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import frame_along, number, to_placement, translation, unit_vector


def driver_items(skeleton: Skeleton, driver: Driver) -> Iterator[Item]:
    """Yield the motor at the sensor or joint that is driven."""
    yield from mark_item(
        ("drivers", driver.name), motor_geometry(skeleton.glyph_size), "driver", _motor_position(skeleton, driver)
    )


def _motor_position(skeleton: Skeleton, driver: Driver) -> Place | None:
    if driver.sensor:
        return sensor_position(skeleton, driver.sensor)
    joint = skeleton.find_joint(driver.joint)
    if joint is None:
        return None
    frame, pose = skeleton.joint_frame(joint, "a")
    axis = unit_vector([number(x, skeleton.values) for x in joint.axis])
    return frame, pose @ frame_along(axis) @ translation(0.0, 0.0, -2.3 * skeleton.glyph_size), None


def motor_geometry(r: float) -> g.Geometry:
    """Return a motor with its shaft along z: a finned drum with a flange."""
    fins = tuple(
        g.PlacedShape(g.Cylinder(1.12 * r, 0.16 * r, 0.03 * r), to_placement(translation(0.0, 0.0, z * r)))
        for z in (-0.75, -0.4, -0.05, 0.3)
    )
    return g.Compound(
        (
            g.PlacedShape(g.Cylinder(0.98 * r, 1.7 * r, 0.08 * r), to_placement(translation(0.0, 0.0, -0.2 * r))),
            *fins,
            g.PlacedShape(g.Box((1.9 * r, 1.9 * r, 0.24 * r), 0.05 * r), to_placement(translation(0.0, 0.0, 0.72 * r))),
            g.PlacedShape(g.Cylinder(0.3 * r, 0.6 * r), to_placement(translation(0.0, 0.0, 1.0 * r))),
        )
    )


def _icon_name(driver: Driver) -> str:
    """Return the icon name: of a formula, or of a table or recorded signal."""
    return "driver_table" if driver.times or driver.file else "driver"


LOOK = ElementLook(driver_items, "driver", _icon_name)

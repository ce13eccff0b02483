"""Names of the drawings of elements."""

from __future__ import annotations

from typing import Any

from app.preferences.icons import has_icon
from core.model import JOINT_KINDS, WORDS, Constraint, Driver, Force, Sensor


def icon_of(collection: str, element: Any) -> str:
    """Name of the drawing of an element; joints, forces, sensors and constraints show their kind."""
    match collection:
        case "joints":
            return joint_icon(element.kind)
        case "forces":
            return force_icon(element)
        case "sensors":
            return SENSOR_ICONS.get(element.kind, "sensor")
        case "constraints":
            return CONSTRAINT_ICONS[element.kind]
        case "drivers":
            return driver_icon(element)
        case _:
            return WORDS.get(collection, "model")


SENSOR_ICONS = {
    "distance": "sensor",
    "square_distance": "sensor",
    "point_plane": "sensor_plane",
    "plane_point": "sensor_plane",
    "plane_plane": "sensor_plane",
    "angle": "sensor_angle",
    "position": "sensor_position",
    "orientation": "sensor_angle",
    "pose": "sensor_position",
    "velocity": "sensor_velocity",
    "angular_velocity": "sensor_velocity",
    "acceleration": "sensor_velocity",
    "angular_acceleration": "sensor_velocity",
    "cut_force": "sensor_force",
    "cut_torque": "sensor_force",
    "power": "energy",
}
CONSTRAINT_ICONS = {"hold": "lock", "gear": "gear", "rod": "rod", "universal_rod": "rod"}


def force_icon(force: Force) -> str:
    """The drawing of a force element: what its law consists of."""
    if force.kind == "wrench":
        return "torque" if _none(force.force) and not _none(force.torque) else "force"
    if force.kind == "series":
        return "series"
    spring, damper = force.stiffness != 0.0, force.damping != 0.0
    if force.kind in ("joint", "sensor") and spring:
        return "torsion_spring" if force.kind == "joint" else "spring"
    if spring and damper:
        return "spring_damper"
    return "spring" if spring else "damper" if damper else "line_force"


def _none(vector: tuple[Any, ...]) -> bool:
    return all(item == 0.0 for item in vector)


def joint_icon(kind: str) -> str:
    """The drawing of a kind of joint; the one of joints for a kind without its own."""
    return kind if has_icon(kind) else "joint"


def driver_icon(driver: Driver) -> str:
    """The drawing of a driver: by formula, table or recorded signal."""
    return "driver" if not (driver.times or driver.file) else "driver_table"


def option_icon(owner: type, option: str) -> str:
    """The drawing of an option of an element's choice; '' for most."""
    if owner is Sensor:
        return SENSOR_ICONS.get(option, "")
    if owner is Constraint:
        return CONSTRAINT_ICONS.get(option, "")
    if owner is Force:
        return {
            "wrench": "force",
            "line": "spring_damper",
            "series": "series",
            "joint": "torsion_spring",
            "sensor": "sensor",
        }.get(option, "")
    return joint_icon(option) if option in JOINT_KINDS else ""

"""Fields that have to change together so that an element stays valid: a kind and the references it needs, a driver's
target and its function. Fields that a kind does not use keep their values, so that switching back loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.errors import ModelError
from core.model.bodies import WORLD
from core.model.constraints import CONSTRAINT_KINDS, Constraint, Driver
from core.model.fields import Element
from core.model.forces import FORCE_KINDS, Force, Strand
from core.model.model import Model
from core.model.sensors import SENSOR_KINDS, Sensor


def dependent_field_changes(model: Model, element: Element, field: str, value: Any) -> dict[str, Any]:
    """Return the changes (field → new value) that a change of one field by the user requires, including that field.

    Raises ModelError where the model lacks what the new kind needs.
    """
    changes: dict[str, Any] = {field: value}
    if isinstance(element, Force | Sensor | Constraint) and field == "kind":
        changes.update(_missing_references(model, element, value))
    elif isinstance(element, Strand) and field in ("joint", "sensor") and value:
        changes["sensor" if field == "joint" else "joint"] = ""
    elif isinstance(element, Driver):
        changes.update(_driver_changes(model, element, field, value))
    elif isinstance(element, Sensor) and field in ("joint", "force") and value:
        changes["force" if field == "joint" else "joint"] = ""
    if isinstance(element, Force) and changes.get("joint"):
        changes["coordinate"] = _choose_coordinate(model, changes["joint"], element.coordinate)
    return changes


def _missing_references(model: Model, element: Force | Sensor | Constraint, kind: str) -> dict[str, Any]:
    """Return the references that the new kind needs and the element lacks, set to the first that fits."""
    expanded = model.expanded
    joints = [joint.name for joint in expanded.joints if joint.info.nv]
    if isinstance(element, Sensor):
        uses = SENSOR_KINDS[kind].uses
        if "joint" in uses and not (element.joint or ("force" in uses and element.force)):
            return {"joint": _first_name((joint.name for joint in expanded.joints), "joint")}
        return {} if element.b or "b" not in uses else {"b": _find_other_point(model, element.a)}
    needs = (FORCE_KINDS if isinstance(element, Force) else CONSTRAINT_KINDS)[kind].needs
    given: dict[str, Any] = {field: getattr(element, field) for field in needs}
    for field in (field for field in needs if not given[field]):
        match field:
            case "strands":
                given[field] = (default_strand(model),)
            case "sensor" if isinstance(element, Force):
                given[field] = _first_name(scalar_sensors(model), "sensor that measures one length or angle")
            case "sensor":
                given[field] = _first_name(geometric_sensors(model), "sensor that can be kept constant")
            case "joint":
                given[field] = _first_name((name for name in joints if name != given.get("leader")), "joint")
            case "leader":
                given[field] = _first_name((name for name in joints if name != given["joint"]), "second joint")
            case _:
                given[field] = _find_other_point(model, element.a)
    return {field: value for field, value in given.items() if not getattr(element, field)}


def _driver_changes(model: Model, driver: Driver, field: str, value: Any) -> dict[str, Any]:
    """Return the field changes of a driver. It drives a joint or a sensor by a formula, a table or a recorded signal;
    choosing one clears the others."""
    if field == "joint" and value:
        return {"sensor": "", "coordinate": _choose_coordinate(model, value, driver.coordinate)}
    if field == "sensor" and value:
        return {"joint": "", "coordinate": ""}
    sources: dict[str, Any] = {"function": None, "times": (), "values": (), "file": ""}
    if field in ("function", "file") and value not in (None, ""):
        return {name: empty for name, empty in sources.items() if name != field}
    return {}


def _choose_coordinate(model: Model, joint: str, current: str) -> str:
    """Return the coordinate to use of a joint: the present one if the joint has it, else its first; "" for a joint with
    one."""
    found = next((each for each in model.expanded.joints if each.name == joint), None)
    names = found.info.coordinates if found is not None else ()
    return current if current in names else (names[0] if names else "")


def geometric_sensors(model: Model) -> list[str]:
    """Return the names of sensors that can be constrained or driven: functions of the pose alone."""
    return [sensor.name for sensor in model.expanded.sensors if sensor.info.is_geometric]


def default_strand(model: Model) -> Strand:
    """Return a strand for the first suitable joint. Raises ModelError if there is none."""
    return Strand(joint=_first_name(single_coordinate_joints(model), "joint with one coordinate"))


def single_coordinate_joints(model: Model) -> list[str]:
    """Return the names of joints with one coordinate."""
    return [joint.name for joint in model.expanded.joints if joint.info.nq == 1]


def scalar_sensors(model: Model) -> list[str]:
    """Return the names of sensors along which a force can act: geometric, with one component."""
    return [s.name for s in model.expanded.sensors if s.info.is_geometric and len(s.info.components) == 1]


def _find_other_point(model: Model, other: str) -> str:
    names = [body.name for body in model.expanded.bodies] + [frame.name for frame in model.expanded.frames]
    return _first_name((name for name in names if name not in (other, WORLD)), "body or frame")


def _first_name(names: Iterable[str], noun: str) -> str:
    name = next(iter(names), None)
    if name is None:
        raise ModelError(f"There is no {noun} yet.", remedy="Add one first.")
    return name

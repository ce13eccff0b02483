"""Closing of loops after a change of geometry, on the present assembly branch, with messages if that fails."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import find_closed_position
from core.design.linkage.plane import round_measured_number
from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Driver, Joint, Model
from core.model.parameters import evaluate_field
from core.model.units import display_unit
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]
Changed = Callable[[float], Model]
"""Function that returns the model for a value of the quantity that is changed."""

STRIDE = 0.12
"""Largest relative step of the changed quantity while a branch is followed."""
MOVED = 1e-9
"""Change of a coordinate (rad, m) from which its reference value is rewritten."""
BISECTIONS = 18
FARTHEST = 4.0
"""Largest factor on a length in the search for the range in which the loops close."""


def change_keeping_loops_closed(model_at: Changed, start: float, end: float, dimension: str, where: str) -> Model:
    """Change a quantity from `start` to `end` in steps and return the model at `end`, with the reference values of its
    joints moved along so that the loops stay closed on their branch.

    Raises ModelError with what stays open, and the range of values for which the loops would close.
    """
    origin = Mechanism(model_at(start))
    q = origin.rest()
    if not origin.constrained:
        return model_at(end)
    at = start
    for value in _intermediate_values(start, end):
        closed = _nearest_closed_pose(Mechanism(model_at(value)), q)
        if closed is None:
            low, high = _range_that_closes(model_at, start, at, value, origin.rest())
            by, word = (end - high, "large") if end > high else (low - end, "small")
            raise ModelError(
                f"The loops do not close: {_format_value(end, dimension)} is {_format_value(by, dimension)} too "
                f"{word}.",
                where=where,
                remedy=_format_closing_range(low, high, dimension),
            )
        at, q = value, closed
    model = model_at(end)
    return set_reference_configuration(model, Mechanism(model), q)


def _intermediate_values(start: float, end: float) -> list[float]:
    size = max(abs(start), abs(end), 1e-9)
    count = max(1, math.ceil(abs(end - start) / (STRIDE * size)))
    return [start + (end - start) * k / count for k in range(1, count + 1)]


def _nearest_closed_pose(mech: Mechanism, q: Array) -> Array | None:
    """Find the nearest closed configuration, with the first tree joint kept in place if possible; None if there is
    none."""
    held = np.zeros(mech.nv, dtype=bool)
    first = next((joint.name for joint in mech.compiled.topology.model.joints if joint.rest), None)
    if first is not None and first in mech.compiled.coordinates.joints:
        held[mech.joint_v(first)] = True
    for fixed in (held, np.zeros(mech.nv, dtype=bool)):
        closed, gap = find_closed_position(mech.compiled, q, np.ones(mech.nv), fixed, None, t=0.0)
        if gap < ACCEPTED_GAP:
            return np.asarray(closed)
    return None


def _range_that_closes(
    model_at: Changed, start: float, closing_value: float, open_value: float, q: Array
) -> tuple[float, float]:
    """Return the range of values around the present one for which the loops close; 0 and infinity where it is
    unbounded."""
    outward = 1.0 if open_value > start else -1.0
    beyond = _bisect_closing_limit(model_at, closing_value, open_value, q)
    other = 0.0 if outward > 0.0 else FARTHEST * abs(start)
    last = start
    for value in _intermediate_values(start, other):
        if not _do_loops_close(model_at, value, q):
            return _sort_pair(beyond, _bisect_closing_limit(model_at, last, value, q))
        last = value
    return _sort_pair(beyond, 0.0 if outward > 0.0 else math.inf)


def _sort_pair(a: float, b: float) -> tuple[float, float]:
    return min(a, b), max(a, b)


def _bisect_closing_limit(model_at: Changed, closing_value: float, open_value: float, q: Array) -> float:
    for _ in range(BISECTIONS):
        middle = 0.5 * (closing_value + open_value)
        if _do_loops_close(model_at, middle, q):
            closing_value = middle
        else:
            open_value = middle
    return closing_value


def _do_loops_close(model_at: Changed, value: float, q: Array) -> bool:
    try:
        return _nearest_closed_pose(Mechanism(model_at(value)), q) is not None
    except KinetostatError:
        return False


def _format_value(value: float, dimension: str) -> str:
    if math.isinf(value):
        return "any larger value"
    unit, factor = display_unit(dimension)
    return f"{value / factor:.5g}{'' if unit == '°' else ' '}{unit}"


def _format_closing_range(low: float, high: float, dimension: str) -> str:
    if low == 0.0 and dimension == "length":
        return f"They close up to {_format_value(high, dimension)}."
    return f"They close from {_format_value(low, dimension)} to {_format_value(high, dimension)}."


# ------------------------------------------------------------------------------- rest


def set_reference_configuration(model: Model, mech: Mechanism, q: Array) -> Model:
    """Return the model with these coordinates as its reference configuration; only joints that state a value, or
    deviate, are changed."""
    return as_drawn(model, joint_values_at_pose(mech, q))


def joint_values_at_pose(mech: Mechanism, q: Array) -> dict[str, float]:
    """Return joint → value for joints with one coordinate: those of the tree, and those of loop-closing joints with a
    stated reference value, whose angles are in the same turn as that value."""
    own, values = mech.compiled.coordinates.joints, mech.model.values()
    found: dict[str, float] = {}
    for joint in mech.model.joints:
        if joint.info.nq != 1 or joint.mimic is not None:
            continue
        if joint.name in own:
            found[joint.name] = float(q[mech.joint_q(joint.name)][0])
        elif joint.rest:
            stands, stated = float(mech.coordinate(q, joint.name)[0]), float(evaluate_field(joint.rest[0], values))
            turns = round((stated - stands) / (2.0 * math.pi)) if joint.info.wraps_around(0) else 0
            found[joint.name] = stands + 2.0 * math.pi * turns
    return found


def as_drawn(model: Model, coordinates: Mapping[str, float]) -> Model:
    """Set the reference configuration to a pose: joint name → coordinate; joints that are not named keep theirs. Motors
    that started from the old reference value start from the new one."""
    values = model.values()
    was = {joint.name: float(evaluate_field(joint.rest[0], values)) if joint.rest else 0.0 for joint in model.joints}
    new = {
        joint.name: round_measured_number(coordinates[joint.name])
        for joint in model.joints
        if joint.name in coordinates and joint.info.nq == 1 and joint.mimic is None
    }
    new = {name: value for name, value in new.items() if abs(value - was[name]) >= MOVED}
    if not new:
        return model
    joints = (dataclasses.replace(j, rest=(new[j.name],)) if j.name in new else j for j in model.joints)
    drivers = (
        _driver_with_new_start(driver, was[driver.joint], new) if driver.joint in new else driver
        for driver in model.drivers
    )
    return dataclasses.replace(model, joints=tuple(joints), drivers=tuple(drivers))


def set_reference_value(model: Model, joint: Joint, value: float) -> Model:
    """Set the reference value of a joint; a motor that started from the old value starts from the new one."""
    return as_drawn(model, {joint.name: value})


def _driver_with_new_start(driver: Driver, old_reference: float, reference_values: Mapping[str, float]) -> Driver:
    """Return the driver with its start value adapted, if it starts from the old reference value of its joint."""
    motion, new = _formula_beyond_start(driver.function, old_reference), reference_values[driver.joint]
    if motion is None:
        return driver
    return dataclasses.replace(driver, function=f"{new:.12g} + {motion}" if new else motion)


def _formula_beyond_start(function: object, start: float) -> str | None:
    """Return the part of a motor's formula that is added to its start value; None if the formula has another form."""
    if not isinstance(function, str):
        return None
    head, plus, motion = function.partition(" + ")
    try:
        begins = float(head)
    except ValueError:
        return function if abs(start) < MOVED and "t" in function else None
    return motion if plus and abs(begins - start) < MOVED else None

"""Loop closure after a change of geometry, on the present branch, with messages if it fails."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import closed_position
from core.design.linkage.plane import written
from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Driver, Joint, Model
from core.model.parameters import value_of
from core.model.units import display
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]
Changed = Callable[[float], Model]
"""Function that returns the model for a value of the changed quantity."""

STRIDE = 0.12
"""Largest relative step of the changed value while following a branch."""
MOVED = 1e-9
"""Change of a coordinate (rad, m) above which its reference value is rewritten."""
BISECTIONS = 18
FARTHEST = 4.0
"""Largest factor on a length in the search for the range in which it closes."""


def followed(changed: Changed, start: float, end: float, dimension: str, where: str) -> Model:
    """The model at the value `end`, with the reference values of its joints as the loops move from `start` to `end`.

    Raises ModelError with what stays open, and the range of values for which the loops would close.
    """
    origin = Mechanism(changed(start))
    q = origin.rest()
    if not origin.constrained:
        return changed(end)
    at = start
    for value in _values_between(start, end):
        closed = _closed_position(Mechanism(changed(value)), q)
        if closed is None:
            low, high = _closing_values(changed, start, at, value, origin.rest())
            by, word = (end - high, "large") if end > high else (low - end, "small")
            raise ModelError(
                f"The loops do not close: {_value_text(end, dimension)} is {_value_text(by, dimension)} too {word}.",
                where=where,
                remedy=_closing_range_text(low, high, dimension),
            )
        at, q = value, closed
    model = changed(end)
    return rested(model, Mechanism(model), q)


def _values_between(start: float, end: float) -> list[float]:
    size = max(abs(start), abs(end), 1e-9)
    count = max(1, math.ceil(abs(end - start) / (STRIDE * size)))
    return [start + (end - start) * k / count for k in range(1, count + 1)]


def _closed_position(mech: Mechanism, q: Array) -> Array | None:
    """Nearest closed position, with the first tree joint kept in place if possible; None if there is none."""
    held = np.zeros(mech.nv, dtype=bool)
    first = next((joint.name for joint in mech.compiled.topology.model.joints if joint.rest), None)
    if first is not None and first in mech.compiled.coordinates.joints:
        held[mech.joint_v(first)] = True
    for fixed in (held, np.zeros(mech.nv, dtype=bool)):
        closed, gap = closed_position(mech.compiled, q, np.ones(mech.nv), fixed, None, t=0.0)
        if gap < ACCEPTED_GAP:
            return np.asarray(closed)
    return None


def _closing_values(changed: Changed, start: float, good: float, bad: float, q: Array) -> tuple[float, float]:
    """Range of values around the present one for which the loops close; 0 and infinity where it is unbounded."""
    outward = 1.0 if bad > start else -1.0
    beyond = _closing_border(changed, good, bad, q)
    other = 0.0 if outward > 0.0 else FARTHEST * abs(start)
    last = start
    for value in _values_between(start, other):
        if not _loops_close(changed, value, q):
            return _ordered(beyond, _closing_border(changed, last, value, q))
        last = value
    return _ordered(beyond, 0.0 if outward > 0.0 else math.inf)


def _ordered(a: float, b: float) -> tuple[float, float]:
    return min(a, b), max(a, b)


def _closing_border(changed: Changed, good: float, bad: float, q: Array) -> float:
    for _ in range(BISECTIONS):
        middle = 0.5 * (good + bad)
        if _loops_close(changed, middle, q):
            good = middle
        else:
            bad = middle
    return good


def _loops_close(changed: Changed, value: float, q: Array) -> bool:
    try:
        return _closed_position(Mechanism(changed(value)), q) is not None
    except KinetostatError:
        return False


def _value_text(value: float, dimension: str) -> str:
    if math.isinf(value):
        return "any larger value"
    unit, factor = display(dimension)
    return f"{value / factor:.5g}{'' if unit == '°' else ' '}{unit}"


def _closing_range_text(low: float, high: float, dimension: str) -> str:
    if low == 0.0 and dimension == "length":
        return f"They close up to {_value_text(high, dimension)}."
    return f"They close from {_value_text(low, dimension)} to {_value_text(high, dimension)}."


# ------------------------------------------------------------------------------- rest


def rested(model: Model, mech: Mechanism, q: Array) -> Model:
    """The model with a position as its reference configuration; only joints that state a value, or deviate, are
    changed."""
    return as_drawn(model, coordinates_at(mech, q))


def coordinates_at(mech: Mechanism, q: Array) -> dict[str, float]:
    """One-coordinate joints → values at a position: those of the tree, and those of loop-closing joints with a stated
    reference value, with angles in the turn of that value."""
    own, values = mech.compiled.coordinates.joints, mech.model.values()
    found: dict[str, float] = {}
    for joint in mech.model.joints:
        if joint.info.nq != 1 or joint.mimic is not None:
            continue
        if joint.name in own:
            found[joint.name] = float(q[mech.joint_q(joint.name)][0])
        elif joint.rest:
            stands, stated = float(mech.coordinate(q, joint.name)[0]), float(value_of(joint.rest[0], values))
            turns = round((stated - stands) / (2.0 * math.pi)) if joint.info.wraps_around(0) else 0
            found[joint.name] = stands + 2.0 * math.pi * turns
    return found


def as_drawn(model: Model, coordinates: Mapping[str, float]) -> Model:
    """Set the reference configuration to a pose: joint name → coordinate; unnamed joints keep theirs. Motors that start
    from the old reference start from the new one."""
    values = model.values()
    was = {joint.name: float(value_of(joint.rest[0], values)) if joint.rest else 0.0 for joint in model.joints}
    new = {
        joint.name: written(coordinates[joint.name])
        for joint in model.joints
        if joint.name in coordinates and joint.info.nq == 1 and joint.mimic is None
    }
    new = {name: value for name, value in new.items() if abs(value - was[name]) >= MOVED}
    if not new:
        return model
    joints = (dataclasses.replace(j, rest=(new[j.name],)) if j.name in new else j for j in model.joints)
    drivers = (
        _driver_from_new_start(driver, was[driver.joint], new) if driver.joint in new else driver
        for driver in model.drivers
    )
    return dataclasses.replace(model, joints=tuple(joints), drivers=tuple(drivers))


def with_rest(model: Model, joint: Joint, value: float) -> Model:
    """Set the reference value of a joint; a motor that starts there starts from the new value."""
    return as_drawn(model, {joint.name: value})


def _driver_from_new_start(driver: Driver, old: float, rests: Mapping[str, float]) -> Driver:
    """The driver with its start value adapted if it starts from the old reference value of its joint."""
    motion, new = _formula_after_start(driver.function, old), rests[driver.joint]
    if motion is None:
        return driver
    return dataclasses.replace(driver, function=f"{new:.12g} + {motion}" if new else motion)


def _formula_after_start(function: object, start: float) -> str | None:
    """Part of a motor's formula that is added to its start value; None if the formula has another form."""
    if not isinstance(function, str):
        return None
    head, plus, motion = function.partition(" + ")
    try:
        begins = float(head)
    except ValueError:
        return function if abs(start) < MOVED and "t" in function else None
    return motion if plus and abs(begins - start) < MOVED else None

"""Limits of joints that close loops: their coordinates are measured, not kept in q."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.kernel.coordinates import entry_name
from core.kernel.cut_joints import motion
from core.kernel.parameter_values import Values

if TYPE_CHECKING:
    from core.kernel.mechanism import Mechanism

Array = NDArray[np.float64]

BEYOND = 1e-9
"""Way (rad or m) beyond a limit that counts as none."""


class CutLimit(NamedTuple):
    """Coordinate k of a cut joint with at least one limit."""

    name: str
    joint: str
    k: int
    dimension: str
    lower: float
    upper: float
    base: float
    """Next to which an angle is taken where nothing else is known, rad."""

    def value(self, mech: Mechanism, q: Array, p: Values = None, near: float | None = None) -> float:
        """The coordinate at a pose of the tree; an angle within half a turn of `near`."""
        still = np.zeros(mech.nv)
        measured = float(motion(mech, self.joint, q, still, still, p).q[self.k])
        if self.dimension != "angle":
            return measured
        near = self.base if near is None else near
        return measured + 2.0 * math.pi * round((near - measured) / (2.0 * math.pi))

    def row(self, mech: Mechanism, q: Array, p: Values = None) -> Array:
        """(nv,) its derivative along the speeds of the tree."""
        speeds = np.eye(mech.nv)
        return np.asarray(motion(mech, self.joint, np.tile(q, (mech.nv, 1)), speeds, 0.0 * speeds, p).v[:, self.k])

    def beyond(self, value: float) -> float:
        """How far a value lies outside of the limits; 0 inside."""
        return max(self.lower - value, value - self.upper, 0.0)


def cut_limits(mech: Mechanism) -> tuple[CutLimit, ...]:
    """All limits of joints that close loops."""
    plain = [joint for joint in mech._program.topology.cuts if joint.info.nq == joint.info.nv]
    found = (_limit(mech, joint.name, k) for joint in plain for k in range(joint.info.nq))
    return tuple(limit for limit in found if limit is not None)


def _limit(mech: Mechanism, name: str, k: int) -> CutLimit | None:
    joint = mech.model.expanded.find("joints", name)  # the model's own limits, not the program's
    lower, upper = mech._coordinates.own_bounds(joint, k)
    if lower is None and upper is None:
        return None
    low, high = -math.inf if lower is None else lower, math.inf if upper is None else upper
    rest = mech._coordinates.numbers.scalar(joint.rest[k], f"joint '{name}', rest") if joint.rest else 0.0
    base = 0.5 * (low + high) if math.isfinite(high - low) else min(max(rest, low), high)
    dimension = joint.info.coordinate_dimensions[k]
    return CutLimit(entry_name(joint, joint.info.coordinates[k]), name, k, dimension, low, high, base)


def passed(mech: Mechanism, start: Array, end: Array, p: Values = None) -> float:
    """How much farther (rad or m) beyond limits of cut joints a pose lies than the one before it; 0 where it may go."""
    worst = 0.0
    for limit in mech.cut_limits:
        before = limit.value(mech, start, p)
        after = limit.beyond(limit.value(mech, end, p, before))
        if after > BEYOND:
            worst = max(worst, after - limit.beyond(before))
    return worst

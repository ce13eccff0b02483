"""Angles that differ by whole turns within the limits and describe the same pose."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism

Array = NDArray[np.float64]

TURN = 2.0 * math.pi
BEYOND = 1e-9
"""Distance (rad) beyond a limit that still counts as inside."""


class Angle(NamedTuple):
    """An angular coordinate for which a whole turn gives the same pose: its name, indices in q and v, limits (rad)."""

    name: str
    q: int
    v: int
    lower: float
    upper: float


def plain_coordinates(mech: Mechanism) -> dict[int, str]:
    """Index of a speed → name of the coordinate whose rate it is, if there is one."""
    result = {}
    for coordinate in mech.coordinates:
        at, q_at = mech.joint_v(coordinate.joint), mech.joint_q(coordinate.joint)
        if at.stop - at.start == q_at.stop - q_at.start:
            result[at.start + coordinate.index - q_at.start] = coordinate.name
    return result


def angles(mech: Mechanism) -> tuple[Angle, ...]:
    """Coordinates for which whole turns leave the pose unchanged."""
    found = []
    for v, name in plain_coordinates(mech).items():
        at = mech.q_names.index(name)
        coordinate = mech.coordinates[at]
        k = at - mech.joint_q(coordinate.joint).start
        if mech.compiled.coordinates.joints[coordinate.joint].info.wraps_around(k):
            low = -math.inf if coordinate.lower is None else coordinate.lower
            high = math.inf if coordinate.upper is None else coordinate.upper
            found.append(Angle(name, at, v, low, high))
    return tuple(found)


def with_nearest_turns(mech: Mechanism, q: Array, guess: Array) -> Array:
    """(nq,) the same pose with angles shifted by whole turns, within limits, to be as near as possible to the guess."""
    result = np.array(q, dtype=float)
    for angle in angles(mech):
        least, most = _allowed_turns(angle, q[angle.q])
        turns = round((guess[angle.q] - q[angle.q]) / TURN)
        result[angle.q] += TURN * min(max(turns, least), most)
    return result


def other_turn_counts(mech: Mechanism, q: Array) -> dict[str, int]:
    """Coordinate → number of further values, whole turns away, within two-sided limits."""
    found = {}
    for angle in angles(mech):
        if math.isfinite(angle.upper - angle.lower):
            least, most = _allowed_turns(angle, q[angle.q])
            if most > least:
                found[angle.name] = int(most - least)
    return found


def _allowed_turns(angle: Angle, value: float) -> tuple[float, float]:
    """Smallest and largest number of whole turns that may be added; none if the value is outside its limits."""
    least = math.ceil((angle.lower - BEYOND - value) / TURN) if math.isfinite(angle.lower) else -math.inf
    most = math.floor((angle.upper + BEYOND - value) / TURN) if math.isfinite(angle.upper) else math.inf
    return (least, most) if least <= 0.0 <= most else (0.0, 0.0)


def distance(mech: Mechanism, q0: Array, q1: Array) -> float:
    """Norm of the displacement (rad, m) from one pose to another, ignoring whole turns."""
    difference = np.array(mech.difference(q0, q1))
    for angle in angles(mech):
        difference[angle.v] = math.remainder(difference[angle.v], TURN)
    return float(np.linalg.norm(difference))

"""Root finding by the Illinois method: regula falsi that halves the value at an end kept twice, so that both ends
converge to the root (Dowell and Jarratt, BIT 11, 1971).

Who looks for a root begins with `bracket`, evaluates at `between`, and has `narrow` take in what was found: functions
cannot be arguments in machine code.
"""

from __future__ import annotations

from typing import Any

from core.simulation.machine_code.language import merged

LEFT, RIGHT, AT_LEFT, AT_RIGHT, LAST, ENDS = range(6)
"""Entries of a bracket: ends, values there, end replaced last (1: the right one); number of entries."""
MOST_ROUNDS = 40


@merged
def bracket(ends: Any, low: float, high: float, below: float, above: float) -> None:
    """Initialise the bracket ends (ENDS,); the two values must have different signs."""
    ends[LEFT], ends[RIGHT], ends[AT_LEFT], ends[AT_RIGHT], ends[LAST] = low, high, below, above, 0.0


@merged
def between(ends: Any) -> float:
    """Return the secant estimate of the root, or the midpoint of the bracket."""
    low, high, below, above = ends[LEFT], ends[RIGHT], ends[AT_LEFT], ends[AT_RIGHT]
    x = (low * above - high * below) / (above - below)
    return x if low < x < high else 0.5 * (low + high)


@merged
def narrow(ends: Any, x: float, value: float) -> None:
    """Replace the end of the bracket whose value has the same sign by (x, value)."""
    if value * ends[AT_RIGHT] > 0.0:
        ends[RIGHT], ends[AT_RIGHT] = x, value
        ends[AT_LEFT] *= 0.5 if ends[LAST] > 0.0 else 1.0
        ends[LAST] = 1.0
    else:
        ends[LEFT], ends[AT_LEFT] = x, value
        ends[AT_RIGHT] *= 0.5 if ends[LAST] < 0.0 else 1.0
        ends[LAST] = -1.0

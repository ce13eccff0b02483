"""Detection of sign changes of event indicators within a step, on its continuous extension.

1. All indicators are evaluated at the ends of `PARTS` parts of the step. Below, d is an indicator times the side on
   which it is, so that it is positive until the indicator changes its sign.
2. Where d is negative at the end of a part, its root is sought in that part (`find_sign_change_root`, the Illinois
method).
3. Where d has a minimum inside, steep enough to reach zero, the minimum is sought by golden sections
(`search_minimum_below`;
   Kiefer, Proc. AMS 4, 1953) until it is negative or certain to stay positive: a force that is switched on and off
   within one step. At both ends of the step a probe next to the end says how fast d falls towards the inside. A minimum
   counts if it is deeper than the relative tolerance of what d is in the step: less is within its error.
4. Of all first sign changes the earliest counts. Indicators that bend there, because of another one inside of them (|q|
   below a limit, at q = 0), may have changed before: all are evaluated at the earliest, and those that have changed by
   then are sought before it (`find_earliest_sign_change`).

The Illinois method is regula falsi that halves the value at an end kept twice, so that both ends converge to the root
(Dowell and Jarratt, BIT 11, 1971). A search for a root begins with `bracket`, evaluates at `between`, and passes the
result to `narrow`: functions cannot be arguments in machine code.
"""

from __future__ import annotations

from typing import Any

from core.machine_code.language import address_of, call_entry, merged, native, scratch
from core.simulation.events.sliding_modes import HIGH, LOW, VALUE, compute_watched_indicators
from core.simulation.methods.step_state import load_state

LEFT, RIGHT, AT_LEFT, AT_RIGHT, LAST, ENDS = range(6)
"""Entries of a bracket: ends, values there, end replaced last (1: the right one); number of entries."""
MOST_ROUNDS = 40


@merged
def begin_bracket(ends: Any, low: float, high: float, below: float, above: float) -> None:
    """Initialise the bracket ends (ENDS,); the two values must have different signs."""
    ends[LEFT], ends[RIGHT], ends[AT_LEFT], ends[AT_RIGHT], ends[LAST] = low, high, below, above, 0.0


@merged
def estimate_root(ends: Any) -> float:
    """Return the next estimate of the root in a bracket: the secant estimate or the midpoint."""
    low, high, below, above = ends[LEFT], ends[RIGHT], ends[AT_LEFT], ends[AT_RIGHT]
    x = (low * above - high * below) / (above - below)
    return x if low < x < high else 0.5 * (low + high)


@merged
def narrow_bracket(ends: Any, x: float, value: float) -> None:
    """Replace the end of the bracket whose value has the same sign by (x, value)."""
    if value * ends[AT_RIGHT] > 0.0:
        ends[RIGHT], ends[AT_RIGHT] = x, value
        ends[AT_LEFT] *= 0.5 if ends[LAST] > 0.0 else 1.0
        ends[LAST] = 1.0
    else:
        ends[LEFT], ends[AT_LEFT] = x, value
        ends[AT_RIGHT] *= 0.5 if ends[LAST] < 0.0 else 1.0
        ends[LAST] = -1.0


PARTS = 4
"""Number of parts of a step at whose ends indicators are evaluated."""
PROBE_FRACTION = 1e-3
"""Distance from an end of the step, as a fraction of the step, over which the inward slope of d is measured."""
AT_BEGIN, AT_END, ROWS = PARTS + 1, PARTS + 2, PARTS + 3
"""Additional rows of the table: next to the beginning and the end of the step; number of rows."""
MARGIN = 2.0
"""Safety factor on the steepest observed slope of d."""
GOLDEN = 0.6180339887498949
NARROWEST_FRACTION = 1e-9
"""Fraction of a step below which the search for a minimum stops."""
NEVER = 2.0
"""Value of θ for no sign change."""


@native
def compute_indicators_within(state: int, theta: float, out: Any) -> None:
    """Compute all indicators at t + θ h of the step taken, without projection."""
    w = load_state(state)
    projected = w.projected
    w.projected = 0
    call_entry(w.within_of, state, theta, address_of(w.failed), 0)
    w.projected = projected
    compute_watched_indicators(state, w.time + theta * w.taken, w.failed, out)


@native
def tabulate_indicators(state: int, table: Any) -> None:
    """Tabulate all indicators at the boundaries of the parts of the step taken and next to its ends, into table (ROWS
    count,), row by row."""
    w = load_state(state)
    count = w.events.shape[1]
    compute_watched_indicators(state, w.time, w.y, table[:count])
    for part in range(1, PARTS + 1):
        compute_indicators_within(state, part / PARTS, table[part * count : (part + 1) * count])
    compute_indicators_within(state, PROBE_FRACTION, table[AT_BEGIN * count : (AT_BEGIN + 1) * count])
    compute_indicators_within(state, 1.0 - PROBE_FRACTION, table[AT_END * count : (AT_END + 1) * count])


@native
def signed_indicator(state: int, k: int, side: float, theta: float) -> float:
    """Return d at θ: the value of indicator k, signed so that it is positive on its present side."""
    g = load_state(state).events[VALUE]
    compute_indicators_within(state, theta, g)
    return side * g[k]


@native
def find_sign_change_root(state: int, k: int, low: float, high: float, below: float, above: float) -> float:
    """Return θ at which indicator k changes its sign, just after the root."""
    w = load_state(state)
    g, ends = w.events[VALUE], scratch(ENDS)
    begin_bracket(ends, low, high, below, above)
    for _ in range(MOST_ROUNDS):
        if ends[RIGHT] - ends[LEFT] < 1e-13:
            break
        theta = estimate_root(ends)
        compute_indicators_within(state, theta, g)
        if g[k] == 0.0 or (g[k] * ends[AT_RIGHT] > 0.0 and abs(theta - ends[RIGHT]) < 1e-13):
            return theta
        narrow_bracket(ends, theta, g[k])
    return ends[RIGHT]


@native
def search_minimum_below(state: int, k: int, side: float, low: float, high: float, slope: float, depth: float) -> float:
    """Return θ between low and high at which d is below −depth; NEVER if its minimum there is not that low. slope:
    steepest change of d observed, per step."""
    first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_first = signed_indicator(state, k, side, first)
    at_second = signed_indicator(state, k, side, second)
    while True:
        if at_first < -depth:
            return first
        if at_second < -depth:
            return second
        width, slope = high - low, max(slope, abs(at_second - at_first) / (second - first))
        if width < NARROWEST_FRACTION or min(at_first, at_second) > 2.0 * slope * width:
            return NEVER
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first = high - GOLDEN * (high - low)
            at_first = signed_indicator(state, k, side, first)
        else:
            low, first, at_first = first, second, at_second
            second = low + GOLDEN * (high - low)
            at_second = signed_indicator(state, k, side, second)


@native
def largest_magnitude(state: int, k: int, table: Any) -> float:
    """Return the largest magnitude of indicator k at the part boundaries."""
    count, size = load_state(state).events.shape[1], 0.0
    for part in range(PARTS + 1):
        size = max(size, abs(table[part * count + k]))
    return size


@native
def find_hidden_change(state: int, k: int, side: float, part: int, table: Any) -> float:
    """Return θ at which d is negative within a part or next to it, although d is positive at both ends of the part;
    NEVER if there is none."""
    w = load_state(state)
    count = w.events.shape[1]
    a, b = side * table[part * count + k], side * table[(part + 1) * count + k]
    depth = w.rtol * largest_magnitude(state, k, table)
    if a < 0.0:
        return NEVER
    if part == 0 and b > a:
        slope = (a - side * table[AT_BEGIN * count + k] - depth) / PROBE_FRACTION
        if MARGIN * slope > a * PARTS:
            return search_minimum_below(state, k, side, 0.0, 1.0 / PARTS, slope, depth)
    if part == PARTS - 1:
        slope = (b - side * table[AT_END * count + k] - depth) / PROBE_FRACTION
        if a > b and MARGIN * slope > b * PARTS:
            return search_minimum_below(state, k, side, part / PARTS, 1.0, slope, depth)
        return NEVER
    c = side * table[(part + 2) * count + k]
    steepest = max(a - b, c - b)
    if b <= a and b <= c and c >= 0.0 and MARGIN * steepest > b:
        return search_minimum_below(state, k, side, part / PARTS, (part + 2) / PARTS, steepest * PARTS, depth)
    return NEVER


@native
def find_first_sign_change(state: int, k: int, side: float, table: Any) -> float:
    """Return the first θ at which indicator k has left its side, NEVER if it stays. An indicator that is on the other
    side from the beginning by more than rounding error changes at the beginning."""
    count = load_state(state).events.shape[1]
    for part in range(PARTS):
        low, high = table[part * count + k], table[(part + 1) * count + k]
        if side * high < 0.0 and side * low < 0.0:
            return part / PARTS
        if side * high < 0.0:
            return find_sign_change_root(state, k, part / PARTS, (part + 1) / PARTS, low, high)
        inside = find_hidden_change(state, k, side, part, table)
        if inside < NEVER:
            return find_sign_change_root(
                state, k, part / PARTS, inside, low, side * signed_indicator(state, k, side, inside)
            )
    return NEVER


@native
def find_earlier_sign_change(state: int, sides: Any, k: int, theta: float, table: Any) -> Any:
    """Return (j, θ) of an indicator that has left its side by the time that k does; (−1, θ) if there is none."""
    w = load_state(state)
    count, g = w.events.shape[1], w.events[VALUE]
    part = min(int(theta * PARTS), PARTS - 1)
    begin = part / PARTS
    compute_indicators_within(state, theta, g)
    for j in range(count):
        low, high = table[part * count + j], g[j]
        if j != k and sides[j] * high < 0.0 and sides[j] * low >= 0.0 and begin < theta:
            found = find_sign_change_root(state, j, begin, theta, low, high)
            if found < theta:
                return j, found
            compute_indicators_within(state, theta, g)
    return -1, theta


@native
def find_earliest_sign_change(state: int, sides: Any) -> Any:
    """Return (k, θ) of the first sign change in the step taken, given the side of each indicator at its beginning (0:
    ignored); (−1, NEVER) if there is none. LOW and HIGH of `events` then give how fast k changes."""
    w = load_state(state)
    count = w.events.shape[1]
    table = scratch(ROWS * count)
    tabulate_indicators(state, table)
    which, first = -1, NEVER
    for k in range(count):
        if sides[k] != 0.0:
            theta = find_first_sign_change(state, k, sides[k], table)
            if theta < first:
                which, first = k, theta
    for _ in range(count):
        j, theta = -1, first
        if which >= 0 and first > 0.0:
            j, theta = find_earlier_sign_change(state, sides, which, first, table)
        if j < 0:
            break
        which, first = j, theta
    last = PARTS * count
    for k in range(count):
        w.events[LOW, k], w.events[HIGH, k] = table[k], table[last + k]
    if which >= 0:
        part = min(int(first * PARTS), PARTS - 1)
        w.events[LOW, which], w.events[HIGH, which] = table[part * count + which], table[(part + 1) * count + which]
    return which, first

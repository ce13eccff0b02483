"""Where modes end (`core.simulation.equations.mode_rows`): margins of rows, and steps that end at the root of one.

1. A margin is positive while a mode holds: what a held row may carry more, the speed of one that slides, the gap of a
   stop, what it presses with, what is left of a speed limit or an effort limit. Margins are looked at within and at the
   end of each step (`PARTS`).
2. The first root is found by the Illinois method on the continuous extension; then the step is taken again with that
   length, and corrected along the margin's slope until it ends there, to the method's own accuracy (`end_at`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.held_rows import act, with_modes
from core.simulation.equations.mode_rows import (
    APART,
    LEAVING,
    MOVING,
    OVERRUN,
    PRESSED,
    REST,
    SLOW,
    ahead,
    depth_of,
    is_held,
    least,
    length,
    load_rows,
    most,
    pressure,
    rubs,
)
from core.simulation.equations.system import load_system, tick
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.stepping.event_location import fix_modes
from core.simulation.stepping.illinois import ENDS, LEFT, MOST_ROUNDS, RIGHT, between, bracket, narrow
from core.simulation.stepping.mode_log import (
    QUARTERS,
    measure,
)
from core.simulation.stepping.outcome import FINE, SWITCHED
from core.simulation.stepping.step_state import again, copy, load_state

BEARING, STANDING, LIMITED, COMMANDED, EACH = range(5)
"""Margins of a row: of its friction or what it carries, of its stop, of its speed limit, of its effort limit; how many
there are."""
ALL = -2
"""Margins, passed over."""
PARTS = 4
"""Parts of a step at whose ends margins are looked at."""
FINEST = 64
"""Of a step in which forces of held rows bend: nothing moves there, so that its length says nothing of them."""
CORRECTIONS = 6
"""Steps that are taken again to end at a root."""
SHARP = 1e-13
"""Part of what a margin changes in a step within which it has ended."""
SHARPEST = 1e-15
"""What of it counts as none in any case."""
BEFORE_JUMP = 1.0 - 1e-11
"""Part of a step, at whose end a formula may jump, until which margins are looked at."""
TOUCHING = 1e-11
"""Way (rad or m, as a part of those above 1) within which a rigid stop is touched."""
DRIFT_AT_REST = 0.1 * TOUCHING
"""The same, by which rounding may move what rests there."""
NEARLY = 0.2
"""Part of a stop's gap at both ends of a part of a step: where it would be less in between, that is looked at."""
ROUNDING = 1e-12
"""Part of a row's friction that its force may be beyond an end by rounding alone: where it rubs one way only, at rest
without loads."""
SOON = 1e-8
"""Part of a step after which a margin that begins at nothing is looked at first; then at ten times that, and so on."""


@native
def margins(place: int, t: float, y: Any, out: Any) -> Any:
    """All margins (4 count,) at a state; infinite where there is none."""
    s = load_system(place)
    rows = s.mode_rows
    r, happened = load_rows(rows), FINE
    forces = r.bearing_loads != 0
    for k in range(r.count):
        forces = forces or is_held(r.mode[k])
    if forces:
        happened = with_modes(place, t, y, scratch(len(y)))
    else:
        tick(place, t)
        act(place, t, y)
    for k in range(r.count):
        out[EACH * k + BEARING] = bearing(rows, k)
        out[EACH * k + STANDING] = standing(rows, k)
        out[EACH * k + LIMITED] = limited(rows, k)
        out[EACH * k + COMMANDED] = commanded(rows, k)
    return happened


@native
def commanded(rows: int, k: int) -> float:
    """What a motor could give more than it is asked for, or how much more it is asked for than it can give."""
    r = load_rows(rows)
    if not np.isfinite(r.strongest[k]):
        return np.inf
    if r.clipped[k] == 0:
        return r.strongest[k] - abs(r.wished[k])
    return r.clipped[k] * r.wished[k] - r.strongest[k]


@native
def limited(rows: int, k: int) -> float:
    """What is left of a speed limit, or how far loads overrun it."""
    r = load_rows(rows)
    if abs(r.mode[k]) == MOVING:  # without a command there is nothing to withhold
        return r.fastest[k] - abs(r.rate[k]) if r.asked[k] != 0.0 else np.inf
    return abs(r.rate[k]) - r.fastest[k] if abs(r.mode[k]) == OVERRUN else np.inf


@native
def bearing(rows: int, k: int) -> float:
    """What a held row may carry more, or the speed of one that slides."""
    r = load_rows(rows)
    mode = r.mode[k]
    if r.shares[k] == 0:  # its first row tells
        return np.inf
    if is_held(mode):
        if r.shares[k] > 1:
            return r.static_onward[k] - length(rows, k, r.carried)
        hair = ROUNDING * (r.static_onward[k] + r.static_backward[k])
        return min(most(rows, k) - r.carried[k], r.carried[k] - least(rows, k)) + hair
    if abs(mode) == MOVING and r.free[k] == 1:  # until there is friction
        return -1.0 if rubs(rows, k) else 1.0
    if abs(mode) == MOVING and (rubs(rows, k) or r.controlled[k] >= 0):
        if r.shares[k] > 1:
            return ahead(rows, k)
        return r.rate[k] if mode > 0 else -r.rate[k]
    return np.inf


@native
def at_rest(rows: int, k: int) -> float:
    """Speed of a row below which it is none."""
    r = load_rows(rows)
    return REST * (r.quickest[k] + SLOW)


@native
def standing(rows: int, k: int) -> float:
    """The gap of an open stop; what one presses with that is pushed in; how far one that is left still reaches."""
    r = load_rows(rows)
    stop = r.stop[k]
    side = 1 if stop > 0 else -1
    if stop == APART:
        gap = min(r.upper[k] - r.value[k], r.value[k] - r.lower[k])
        if r.rigid[k] == 1 and abs(r.rate[k]) <= at_rest(rows, k):
            gap += DRIFT_AT_REST * max(1.0, abs(r.value[k]))
        return gap
    if abs(stop) == PRESSED:
        return min(depth_of(rows, k, side), pressure(rows, k, side))
    if abs(stop) == LEAVING:  # pushed in again before it was left?
        return min(depth_of(rows, k, side), -pressure(rows, k, side))
    return np.inf


@native
def margins_within(state: int, theta: float, out: Any) -> Any:
    """Margins at t + θ h of the step taken."""
    w = load_state(state)
    if theta == 1.0:
        return margins(w.system, w.time + w.taken, w.new, out)
    projected = w.projected
    w.projected = 0
    call_entry(w.within_of, state, theta, address_of(w.failed), 0)
    w.projected = projected
    return margins(w.system, w.time + theta * w.taken, w.failed, out)


@native
def parts_of(state: int, last: float) -> int:
    """Into how many parts a step is divided: so many that what held rows may carry more hardly bends within two."""
    w = load_state(state)
    rows, parts = load_system(w.system).mode_rows, PARTS
    r, held = load_rows(rows), False
    count = EACH * r.count
    for k in range(r.count):
        held = held or is_held(r.mode[k])
    if not held:
        return parts
    values = scratch((FINEST + 1) * count)
    stride = FINEST // PARTS
    known = 2 * FINEST  # none
    while True:
        for i in range(0, FINEST + 1, stride):
            if i % known != 0 or known > FINEST:
                room = values[i * count : (i + 1) * count]
                if i == 0:
                    margins(w.system, w.time, w.y, room)
                else:
                    margins_within(state, last * i / FINEST, room)
        if stride == 1 or not bends(rows, values, stride):
            return FINEST // stride
        known, stride = stride, stride // 4


@native
def bends(rows: int, values: Any, stride: int) -> bool:
    """Whether a margin of a held row, known at every stride-th place, is far from straight in the middle of two."""
    r = load_rows(rows)
    count = EACH * r.count
    for k in range(r.count):
        if is_held(r.mode[k]):
            for i in range(stride, FINEST, 2 * stride):
                here, m = values[i * count + EACH * k + BEARING], EACH * k + BEARING
                between = 0.5 * (values[(i - stride) * count + m] + values[(i + stride) * count + m])
                if here < np.inf and abs(here - between) > 0.5 * abs(here):
                    return True
    return False


@native
def first_end(state: int, last: float, before: Any, after: Any, passed: int) -> Any:
    """(which margin ends first in the step taken until θ = last, −1: none; θ), but for one that is passed over (−1:
    none, `ALL` of them)."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    begin, which, first, parts = 0.0, -1, 2.0, parts_of(state, last)
    places, goals = scratch(2 * r.count), scratch(2 * r.count)
    margins(w.system, w.time, w.y, before)
    stand(state, places)
    measure(state, 0, w.y)
    for part in range(1, parts + 1):
        theta = last * part / parts
        if part == parts and w.plain_step != w.step_of:
            theta *= BEFORE_JUMP
        margins_within(state, theta, after)
        stand(state, goals)
        if part * QUARTERS % parts == 0:
            measure(state, part * QUARTERS // parts, w.new if theta == 1.0 else w.failed)
        for m in range(len(after)):
            if m == passed or passed == ALL:
                continue
            if after[m] < 0.0:
                found = root(state, m, begin, theta, before[m], after[m])
            elif m % EACH == STANDING and before[m] > 0.0:
                found = dip(state, m // EACH, begin, theta, places, goals)
            else:
                continue
            if found < first:
                first, which = found, m
        if which >= 0:
            return which, first
        begin = theta
        copy(after, before)
        copy(goals, places)
    return which, first


@native
def stand(state: int, out: Any) -> None:
    """Coordinates and speeds of rows, as evaluated last."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    for k in range(r.count):
        out[k], out[r.count + k] = r.value[k], r.rate[k]


@native
def dip(state: int, k: int, begin: float, end: float, places: Any, goals: Any) -> float:
    """θ at which row k meets an open stop that it has left again before the end of a part of a step; 2: it meets none.
    places, goals : what `stand` gives there; between them coordinates are about cubic (Hermite)."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    length = (end - begin) * w.taken
    if r.stop[k] != APART or r.measured[k] == 0:
        return 2.0
    for side in (1, -1):
        edge = r.upper[k] if side > 0 else r.lower[k]
        onward, back = side * places[r.count + k], -side * goals[r.count + k]
        if not np.isfinite(edge) or onward <= 0.0 or back <= 0.0:
            continue
        first, last = side * (edge - places[k]), side * (edge - goals[k])
        x = onward / (onward + back)
        rise = x * x * (3.0 - 2.0 * x)
        gap = (1.0 - rise) * first + rise * last - length * x * (1.0 - x) * ((1.0 - x) * onward + x * back)
        if gap <= NEARLY * min(first, last):
            theta, m = begin + x * (end - begin), EACH * k + STANDING
            least_gap = value_within(state, m, theta)
            if least_gap < 0.0:
                return root(state, m, begin, theta, first, least_gap)
    return 2.0


@native
def measure_again(state: int, last: float, room: Any) -> None:
    """Powers at the quarters of the step taken, until θ = last."""
    w = load_state(state)
    margins(w.system, w.time, w.y, room)
    measure(state, 0, w.y)
    for part in range(1, QUARTERS + 1):
        theta = last * part / QUARTERS
        margins_within(state, theta, room)
        measure(state, part, w.new if theta == 1.0 else w.failed)


@native
def root(state: int, m: int, low: float, high: float, below: float, above: float) -> float:
    """θ at which margin m ends; `low` if it had none there."""
    begin, end, soon = low, high, SOON
    while not below > 0.0 and soon < 1.0:
        low = begin + soon * (end - begin)
        below = value_within(state, m, low)
        soon *= 10.0
    if not below > 0.0:
        return begin
    while SOON < soon < 1.0:  # what ends soon after it began is looked for there
        x = value_within(state, m, begin + soon * (end - begin))
        if x <= 0.0:
            high, above = begin + soon * (end - begin), x
            break
        low, below = begin + soon * (end - begin), x
        soon *= 10.0
    ends = scratch(ENDS)
    bracket(ends, low, high, below, above)
    for _ in range(MOST_ROUNDS):
        if ends[RIGHT] - ends[LEFT] < 1e-14:
            break
        theta = between(ends)
        x = value_within(state, m, theta)
        if x == 0.0:
            return theta
        narrow(ends, theta, x)
    return ends[RIGHT]


@native
def value_within(state: int, m: int, theta: float) -> float:
    """One margin at t + θ h."""
    w = load_state(state)
    out = scratch(EACH * load_rows(load_system(w.system).mode_rows).count)
    margins_within(state, theta, out)
    return out[m]


@native
def with_fixed_modes(state: int, h: float) -> Any:
    """A step of length h that was refused because a formula jumps: its side is fixed."""
    w = load_state(state)
    end = w.end
    fix_modes(state, w.time)
    w.step, w.end = h, w.time + h
    happened = call_entry(w.step_of, state, w.time, 0, 0)
    w.end = end
    return happened


@native
def end_at(state: int, m: int, theta: float, room: Any) -> Any:
    """End the step taken where margin m ends, which the continuous extension found at θ; (what happened,
    length; negative if the step taken again was shorter)."""
    w = load_state(state)
    h, length = w.taken, theta * w.taken
    margins(w.system, w.time, w.y, room)
    begun = room[m] if room[m] < np.inf else 0.0
    shortest, longest = 0.0, h
    for _ in range(CORRECTIONS):
        happened = again(state, length)
        if happened == SWITCHED:
            happened = with_fixed_modes(state, length)
        if happened != FINE or w.taken < 0.999999 * length:
            return happened, -w.taken
        margins(w.system, w.time + length, w.new, room)
        swing = max(abs(begun - room[m]), abs(room[m]))
        sharp = max(SHARP * swing, SHARPEST)
        if room[m] <= 0.0 and -room[m] <= sharp:
            break
        if room[m] > 0.0:
            shortest = length
        else:
            longest = length
        slope = slope_at(state, m, length, room[m])
        length -= (room[m] + 0.5 * sharp) / slope if slope < 0.0 else 0.0
        if not shortest < length < longest:
            length = 0.5 * (shortest + longest)
    length = w.taken
    w.step = max(w.step, h)
    w.last_step, w.last_error, w.error = 0.0, 0.0, 1e-4
    return FINE, length


@native
def slope_at(state: int, m: int, length: float, now: float) -> float:
    """Rate of margin m at the end of the step taken, by a difference over what is its last part."""
    part = 1e-4
    return (now - value_within(state, m, 1.0 - part)) / (part * length) if length > 0.0 else 0.0

"""Location of contact changes: ends steps at the root of an event margin (`core.simulation.events.contact_margins`).

1. Margins are looked at within and at the end of each step (`PARTS`), more closely where those of held rows bend.
2. The first root is found by the Illinois method on the continuous extension. With tight tolerances the step is taken
   again with that length, and corrected along the margin's slope until it ends there, to the method's own accuracy, or
   as nearly as rounding lets it; with loose ones, of which the continuous extension is as exact as the step, it is cut
   there (`end_step_at_root`). Where a step taken again comes out shorter, margins are looked at anew
   (`core.simulation.events.contact_steps.end_step_at_first_root`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import address_of, call_entry, native, scratch
from core.machine_code.outcome import FINE, STEP_UNDERFLOW, SWITCHED
from core.simulation.equations.contact_rows import APART, is_active_state, load_rows, update_rows
from core.simulation.equations.system import copy_array, load_system
from core.simulation.events.contact_log import QUARTERS, load_log, record_powers
from core.simulation.events.contact_margins import (
    BEARING,
    EACH,
    STANDING,
    compute_margin,
    compute_margins,
    evaluate_powers,
    has_active_row,
    margin_rounding,
    tabulate_margins,
)
from core.simulation.events.event_location import fix_modes, has_coarse_interpolant
from core.simulation.events.sign_changes import (
    ENDS,
    LEFT,
    MOST_ROUNDS,
    RIGHT,
    begin_bracket,
    estimate_root,
    narrow_bracket,
)
from core.simulation.methods.step_state import LEAST_FIRST, load_state, shortest_resolvable_time
from core.simulation.stepping import repeat_step

ALL = -2
"""Value of `passed` that skips all margins."""
PARTS = 4
"""Number of parts of a step; margins are evaluated at the end of each."""
FINEST = 64
"""Largest number of parts while rows stick: nothing moves then, so that the step size gives no hint of how fast the
forces vary."""
CORRECTIONS = 6
"""Number of times that a step is repeated to end at a root."""
STRAIGHT, LESS = 1e-4, 0.1
"""Share of a step's length over which margins are linear, so that a correction over it reduces them to at most the
second share, unless the remainder is rounding error of non-unique forces, as with several sticking joints in one loop.
"""
SHARP = 1e-13
"""Tolerance of a located root, relative to the change of the margin within the step."""
SHARPEST = 1e-15
"""Relative margin value that always counts as zero."""
SHARP_TOLERANCE = 1e-6
"""Relative tolerance of the run below which friction margins are located sharply; with looser tolerances the location
error is small among the other errors."""
OF_TOLERANCE = 1e-4
"""Location tolerance of friction margins, as a fraction of a loose relative tolerance; stops and limits are always
located sharply."""
BEFORE_JUMP = 1.0 - 1e-11
"""Fraction of a step up to which margins are evaluated if a formula may jump at its end."""
NEARLY = 0.2
"""A stop's gap is searched for a minimum within an interval if it may fall below this fraction of its values at both
ends."""
BESIDE = 1e-9
"""Smallest amount by which a margin must be negative (in its unit; relative for margins above 1) to count as ended
before another."""
SOON = 1e-8
"""Fraction of a step after which a margin that begins at zero is evaluated first; then at ten times that, and so on."""


@native
def interpolate_state(state: int, theta: float) -> None:
    """Interpolate the state at t + θ h within the step taken, without projection, into `failed`."""
    w = load_state(state)
    if load_rows(load_system(w.system).contact_rows).resting == 1:
        copy_array(w.y, w.failed)
        return
    projected = w.projected
    w.projected = 0
    call_entry(w.within_of, state, theta, address_of(w.failed), 0)
    w.projected = projected


@native
def compute_margins_within(state: int, theta: float, out: Any) -> Any:
    """Compute all event margins at t + θ h of the step taken."""
    w = load_state(state)
    if theta == 1.0:
        return compute_margins(w.system, w.time + w.taken, w.new, out)
    interpolate_state(state, theta)
    return compute_margins(w.system, w.time + theta * w.taken, w.failed, out)


@native
def compute_margin_within(state: int, m: int, theta: float) -> float:
    """Return one event margin at t + θ h of the step taken."""
    w = load_state(state)
    if theta == 1.0:
        return compute_margin(w.system, w.time + w.taken, w.new, m)
    interpolate_state(state, theta)
    return compute_margin(w.system, w.time + theta * w.taken, w.failed, m)


@native
def theta_at_point(state: int, last: float, i: int) -> float:
    """Return θ of the i-th of `FINEST` evaluation points between the beginning of the step taken and θ = last."""
    w = load_state(state)
    theta = last * i / FINEST
    return theta * BEFORE_JUMP if i == FINEST and w.plain_step != w.step_of else theta


@native
def evaluate_point(state: int, last: float, i: int, values: Any, positions: Any) -> None:
    """Compute margins (FINEST + 1, 4 count) and row coordinates and speeds (FINEST + 1, 2 count) at the i-th evaluation
    point; also the powers at quarters of the step."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    count, theta = EACH * r.count, theta_at_point(state, last, i)
    compute_margins_within(state, theta, values[i * count : (i + 1) * count])
    copy_positions(state, positions[2 * i * r.count : 2 * (i + 1) * r.count])
    if i % (FINEST // QUARTERS) == 0:
        record_powers(state, i * QUARTERS // FINEST, w.new if theta == 1.0 else w.failed)


@native
def evaluate_step_begin(state: int, values: Any, positions: Any) -> None:
    """Compute margins, coordinates and speeds at the beginning of the step; they are copied from the end of the
    previous step if nothing has changed."""
    w = load_state(state)
    g, r = load_log(w.log), load_rows(load_system(w.system).contact_rows)
    if r.end_known == 0:
        compute_margins(w.system, w.time, w.y, values[: EACH * r.count])
        copy_positions(state, positions[: 2 * r.count])
        record_powers(state, 0, w.y)
        return
    r.end_known = 0
    copy_array(r.ended, values[: EACH * r.count])
    copy_array(r.stood, positions[: 2 * r.count])
    copy_array(g.powers[QUARTERS], g.powers[0])


@native
def is_end_evaluated(state: int, last: float) -> Any:
    """Return true if the equations were last evaluated at the end of this step."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    alone = w.projected == 0 and w.plain_step == w.step_of and last == 1.0 and r.resting == 0
    return alone and r.bearing_loads == 0 and w.stages > 1 and w.stages == len(w.A)


@native
def read_step_end(state: int, values: Any, positions: Any) -> None:
    """Read margins, coordinates and speeds at the end of the step, where the equations were just evaluated."""
    w = load_state(state)
    s = load_system(w.system)
    rows, count = s.contact_rows, load_rows(s.contact_rows).count
    if load_rows(rows).steady == 1:  # all but coordinates and speeds
        update_rows(w.system, w.new[: s.nq], w.new[s.nq : s.nq + s.nv])
    tabulate_margins(rows, values[FINEST * EACH * count : (FINEST + 1) * EACH * count])
    copy_positions(state, positions[FINEST * 2 * count : (FINEST + 1) * 2 * count])
    record_powers(state, QUARTERS, w.new)


@native
def store_step_end(state: int, values: Any, positions: Any) -> None:
    """Store margins, coordinates and speeds at the end of a step in which no contact state changed."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    copy_array(values[FINEST * EACH * r.count : (FINEST + 1) * EACH * r.count], r.ended)
    copy_array(positions[FINEST * 2 * r.count : (FINEST + 1) * 2 * r.count], r.stood)
    r.end_known = 1 if w.plain_step == w.step_of and r.disks == 0 else 0  # formulas may jump, balls aim anew


@native
def refine_points(state: int, last: float, values: Any, positions: Any, end: int) -> int:
    """Refine the evaluation points until the margins of sticking rows are nearly linear between them; returns the
    distance between points. The point `end` was evaluated before."""
    rows = load_system(load_state(state).system).contact_rows
    stride, known = FINEST // PARTS, 2 * FINEST
    while True:
        for i in range(stride, FINEST + 1, stride):
            if i % known != 0 and i != end:
                evaluate_point(state, last, i, values, positions)
        if stride == 1 or not deviates_from_straight(rows, values, stride):
            return stride
        known, stride = stride, stride // 4


@native
def deviates_from_straight(rows: int, values: Any, stride: int) -> bool:
    """Return True if a margin of an active row, known at every stride-th point, deviates strongly from a straight
    line."""
    r = load_rows(rows)
    count = EACH * r.count
    for k in range(r.count):
        if is_active_state(r.mode[k]):
            for i in range(stride, FINEST, 2 * stride):
                here, m = values[i * count + EACH * k + BEARING], EACH * k + BEARING
                between = 0.5 * (values[(i - stride) * count + m] + values[(i + stride) * count + m])
                if here < np.inf and abs(here - between) > 0.5 * abs(here):
                    return True
    return False


@native
def evaluate_end_at_rest(state: int, last: float, values: Any, positions: Any) -> int:
    """Evaluate margins at the end of the step only: when nothing moves and loads are linear in time, friction reserves
    are concave."""
    evaluate_point(state, last, FINEST, values, positions)
    g = load_log(load_state(state).log)
    for quarter in range(1, QUARTERS):
        copy_array(g.powers[0], g.powers[quarter])  # none
    return FINEST


@native
def find_first_root(state: int, last: float, skipped_margin: int) -> Any:
    """Return (first margin to reach zero in the step taken up to θ = last, −1: none; θ), ignoring the margin to be
    skipped (−1: none, `ALL`: all)."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    count = EACH * r.count
    values, places = scratch((FINEST + 1) * count), scratch((FINEST + 1) * 2 * r.count)
    stride, held, which, first = FINEST // PARTS, has_active_row(rows), -1, 2.0
    end, known = FINEST if is_end_evaluated(state, last) else 0, r.end_known == 1
    if known:
        evaluate_step_begin(state, values, places)
    if end == FINEST:  # before anything else is evaluated
        read_step_end(state, values, places)
    if not known:
        evaluate_step_begin(state, values, places)
    if r.resting == 1 and r.linear == 1:
        stride = evaluate_end_at_rest(state, last, values, places)
    elif held:
        stride = refine_points(state, last, values, places, end)
    for i in range(stride, FINEST + 1, stride):
        if not held and i != end:
            evaluate_point(state, last, i, values, places)
        if skipped_margin != ALL:
            which, first = find_first_root_between(state, last, i - stride, i, values, places, skipped_margin)
            if which >= 0:
                before = values[(i - stride) * count : (i - stride + 1) * count]
                return find_earliest_root(
                    state, which, first, theta_at_point(state, last, i - stride), before, skipped_margin
                )
    store_step_end(state, values, places)
    return which, first


@native
def find_first_root_between(
    state: int, last: float, low: int, high: int, values: Any, positions: Any, skipped_margin: int
) -> Any:
    """Return (first margin to reach zero, −1: none; θ) between two evaluation points."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    count, which, first = EACH * r.count, -1, 2.0
    begin, end = theta_at_point(state, last, low), theta_at_point(state, last, high)
    before, after = values[low * count : (low + 1) * count], values[high * count : (high + 1) * count]
    stood = positions[2 * low * r.count : 2 * (low + 1) * r.count]
    stands = positions[2 * high * r.count : 2 * (high + 1) * r.count]
    for m in range(count):
        if m == skipped_margin:
            continue
        if after[m] < 0.0:
            found = find_margin_root(state, m, begin, end, before[m], after[m])
        elif m % EACH == STANDING and before[m] > 0.0:
            found = find_stop_touch(state, m // EACH, begin, end, stood, stands)
        else:
            continue
        if found < first:
            first, which = found, m
    return which, first


@native
def find_earliest_root(
    state: int, margin_index: int, first: float, begin: float, begin_margins: Any, skipped_margin: int
) -> Any:
    """Return (first margin to reach zero; θ) among all that are negative at θ = first, where margin `margin_index`
    reaches zero; another may be negative only between two evaluation points. before (4 count,): margins at θ = begin,
    the previous evaluation point."""
    room, end = scratch(len(begin_margins)), first
    compute_margins_within(state, first, room)
    for m in range(len(begin_margins)):
        if (
            m not in (margin_index, skipped_margin)
            and begin_margins[m] > 0.0
            and room[m] < -BESIDE * max(1.0, begin_margins[m])
        ):
            found = find_margin_root(state, m, begin, end, begin_margins[m], room[m])
            if found < first:
                first, margin_index = found, m
    return margin_index, first


@native
def copy_positions(state: int, out: Any) -> None:
    """Copy coordinates and speeds of rows as evaluated last."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    for k in range(r.count):
        out[k], out[r.count + k] = r.value[k], r.rate[k]


@native
def find_stop_touch(state: int, k: int, begin: float, end: float, positions: Any, end_positions: Any) -> float:
    """Return θ at which row k touches an open stop that it has left again before the next evaluation point; 2: none.
    places, goals: coordinates and speeds at both points, interpolated as cubics (Hermite)."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    length = (end - begin) * w.taken
    if r.stop[k] != APART or r.measured[k] == 0:
        return 2.0
    for side in (1, -1):
        edge = r.upper[k] if side > 0 else r.lower[k]
        onward, back = side * positions[r.count + k], -side * end_positions[r.count + k]
        if not np.isfinite(edge) or onward <= 0.0 or back <= 0.0:
            continue
        first, last = side * (edge - positions[k]), side * (edge - end_positions[k])
        x = onward / (onward + back)
        rise = x * x * (3.0 - 2.0 * x)
        gap = (1.0 - rise) * first + rise * last - length * x * (1.0 - x) * ((1.0 - x) * onward + x * back)
        if gap <= NEARLY * min(first, last):
            theta, m = begin + x * (end - begin), EACH * k + STANDING
            least_gap = compute_margin_within(state, m, theta)
            if least_gap < 0.0:
                return find_margin_root(state, m, begin, theta, first, least_gap)
    return 2.0


@native
def recompute_powers(state: int, last: float) -> None:
    """Recompute the powers at the quarters of the step taken up to θ = last, except at its beginning."""
    w = load_state(state)
    for part in range(1, QUARTERS + 1):
        theta = last * part / QUARTERS
        if theta == 1.0:
            evaluate_powers(w.system, w.time + w.taken, w.new)
        else:
            interpolate_state(state, theta)
            evaluate_powers(w.system, w.time + theta * w.taken, w.failed)
        record_powers(state, part, w.new if theta == 1.0 else w.failed)


@native
def has_loose_tolerance(state: int) -> Any:
    """Return true if the tolerances are so loose that location errors of jumps do not matter."""
    return load_state(state).rtol > SHARP_TOLERANCE


@native
def location_tolerance(state: int, m: int) -> float:
    """Return the location tolerance of margin m, relative to its change within a step."""
    loose = has_loose_tolerance(state) and m % EACH == BEARING
    return OF_TOLERANCE * load_state(state).rtol if loose else SHARP


@native
def find_margin_root(state: int, m: int, low: float, high: float, below: float, above: float) -> float:
    """Return θ at which margin m reaches zero between low and high; `low` if the margin was not positive there."""
    begin, end, soon = low, high, SOON
    hair = max(SHARP * -above, margin_rounding(load_system(load_state(state).system).contact_rows, m))
    while not below > hair and soon < 1.0:  # nothing, but for rounding
        low = begin + soon * (end - begin)
        below = compute_margin_within(state, m, low)
        soon *= 10.0
    if not below > 0.0:
        return begin
    while SOON < soon < 1.0:  # what ends soon after it began is looked for there
        x = compute_margin_within(state, m, begin + soon * (end - begin))
        if x <= 0.0:
            high, above = begin + soon * (end - begin), x
            break
        low, below = begin + soon * (end - begin), x
        soon *= 10.0
    ends, sharp = scratch(ENDS), location_tolerance(state, m) if has_loose_tolerance(state) else 0.0
    nothing, least = sharp * (below - above), 1e-14
    if load_rows(load_system(load_state(state).system).contact_rows).resting == 1:
        least *= high  # steps there are as long as runs
    begin_bracket(ends, low, high, below, above)
    for _ in range(MOST_ROUNDS):
        if ends[RIGHT] - ends[LEFT] < max(least, sharp):
            break
        theta = estimate_root(ends)
        x = compute_margin_within(state, m, theta)
        if -nothing <= x <= 0.0:
            return theta
        narrow_bracket(ends, theta, x)
    return ends[RIGHT]


@native
def repeat_with_fixed_modes(state: int, h: float) -> Any:
    """Repeat a step of length h that was rejected because a formula jumps, with its mode variables fixed."""
    w = load_state(state)
    end = w.end
    fix_modes(state, w.time)
    w.step, w.end = h, w.time + h
    happened = call_entry(w.step_of, state, w.time, 0, 0)
    w.end = end
    return happened


@native
def end_step_at_root(state: int, m: int, theta: float) -> Any:
    """End the step taken where margin m reaches zero, which the continuous extension located at θ; returns (outcome,
    length; 0: at the very beginning; negative if the repeated step was shorter)."""
    w = load_state(state)
    if load_rows(load_system(w.system).contact_rows).resting == 1:
        return FINE, theta * w.taken
    if has_loose_tolerance(state) and w.plain_step == w.step_of and not has_coarse_interpolant(state):
        return cut_step_at(state, theta)
    h, length, change = w.taken, theta * w.taken, np.inf
    now = compute_margin(w.system, w.time, w.y, m)
    begun, before = now if now < np.inf else 0.0, np.inf
    shortest, longest = 0.0, h
    for _ in range(CORRECTIONS):
        if length <= shortest_resolvable_time(w.time):
            return FINE, 0.0
        happened = repeat_step(state, length)
        if happened == SWITCHED:
            happened = repeat_with_fixed_modes(state, length)
        if happened == STEP_UNDERFLOW and length <= LEAST_FIRST * shortest_resolvable_time(
            w.time
        ):  # it is but rounding
            w.accepted += 1
            return FINE, 0.0
        if happened != FINE or w.taken < 0.999999 * length - shortest_resolvable_time(w.time):
            return happened, -w.taken
        now = compute_margin(w.system, w.time + length, w.new, m)
        sharp = max(location_tolerance(state, m) * max(abs(begun - now), abs(now)), SHARPEST)
        rounded = abs(change) < STRAIGHT * length and abs(now) > LESS * abs(before)
        if rounded or (now <= 0.0 and -now <= sharp):
            break
        slope, before = margin_rate(state, m, length, now), now
        change = -(now + 0.5 * sharp) / slope if slope < 0.0 else np.inf
        if now > 0.0 and longest == h and not length + change < h:  # it hardly ends
            break
        if now > 0.0:
            shortest = length
        else:
            longest = length
        if not shortest < length + change < longest:
            change = 0.5 * (shortest + longest) - length
        length += change
    length = w.taken
    w.step = max(w.step, h)
    w.last_step, w.last_error, w.error = 0.0, 0.0, 1e-4
    return FINE, length


@native
def cut_step_at(state: int, theta: float) -> Any:
    """End the step taken at θ of its continuous extension; returns (outcome, length)."""
    w = load_state(state)
    happened = call_entry(w.within_of, state, theta, address_of(w.failed), 0)
    copy_array(w.failed, w.new)
    w.step = max(w.step, w.taken)
    w.last_step, w.last_error, w.error = 0.0, 0.0, 1e-4
    return happened, theta * w.taken


@native
def margin_rate(state: int, m: int, length: float, now: float) -> float:
    """Return the rate of margin m at the end of the step taken, by a difference over its last part."""
    part = 1e-4
    return (now - compute_margin_within(state, m, 1.0 - part)) / (part * length) if length > 0.0 else 0.0

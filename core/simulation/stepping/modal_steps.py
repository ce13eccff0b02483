"""Steps that end where a mode does, of methods with variable and with fixed steps.

Modes change at the beginning of the next step, so that samples until then are those before (`StepState.pending`);
one-step methods go on, those that look back begin anew. Changes at one instant are counted: what goes on changing
there is stepped over (`MOST_CHANGES`), and told.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.held_rows import act, keep_forces, responses
from core.simulation.equations.mode_rows import (
    APART,
    LEAVING,
    MOVING,
    OVERRUN,
    PRESSED,
    SATURATED,
    adjust,
    command,
    load_rows,
    normal,
    refresh,
    rubs,
    take_aim,
)
from core.simulation.equations.system import load_system
from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.stepping.ball_steps import (
    aim_balls,
    forget_stiffness,
    mark_stopping,
    steady,
    steady_part,
    stop_balls,
)
from core.simulation.stepping.illinois import AT_RIGHT, ENDS, LEFT, MOST_ROUNDS, RIGHT, between, bracket, narrow
from core.simulation.stepping.mode_changes import (
    BEGINS,
    LOOK_AGAIN,
    NOTHING_PENDING,
    change,
    clip,
    give_way,
)
from core.simulation.stepping.mode_ends import ALL, SOON, end_at, first_end, measure_again
from core.simulation.stepping.mode_log import (
    QUARTERS,
    begin_log,
    book,
    keep_after,
    keep_before,
    keep_contact,
    load_log,
    measure,
    spans,
)
from core.simulation.stepping.mode_margins import EACH, margins
from core.simulation.stepping.outcome import FINE, NOT_FINITE, WRONG_FRICTION
from core.simulation.stepping.sliding_modes import MODE as FORMULAS
from core.simulation.stepping.step_loop import fixed_step
from core.simulation.stepping.step_state import (
    begin_anew,
    copy,
    load_state,
    project,
    take_back,
)
from core.simulation.stepping.steps_at_rest import longest_held, stay, stretch
from core.simulation.stepping.stops import is_slow, stiffen, suit_step

MOST_CHANGES = 8
"""Changes at one instant for each row."""
DECAY, GENTLY = 10.0, 0.05
"""1/s, and 1/steps: how quickly what rounding leaves of the speeds of held rows decays at most."""
MOST_PARTS, MOST_STEADY = 1000, 100
"""Of a fixed step; of them, in which balls do not turn about."""


@native
def shorten(state: int) -> None:
    """Steps not too long to see when held rows let go."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING:
            if r.resting == 0:
                w.step = min(w.step, longest_held(w.limit))
        elif r.shares[k] > 1 and w.jacobian == 0 and r.zone[k] == 0.0 and r.free[k] == 0:
            steady(state, k)


@native
def decay(h: float) -> float:
    """Of what rounding leaves of held rows, in a step of length h; 0: it is not chosen yet."""
    return min(DECAY, GENTLY / h) if h > 0.0 else 0.0


@native
def show_inertia(state: int) -> None:
    """Responses of rows that have shown none, so that dead points are known for what they are when they are met."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r, shown = load_rows(s.mode_rows), True
    for k in range(r.count):
        shown = shown and r.largest[k] > 0.0
    if shown:
        return
    n = len(w.y)
    chosen, A, columns, base = scratch(r.count), scratch(r.count * r.count), scratch(r.count * s.nv), scratch(n)
    for k in range(r.count):
        chosen[k] = k
    act(place, w.time, w.y)
    call_entry(r.inner, place, w.time, address_of(w.y), address_of(base))
    responses(place, w.time, w.y, base, chosen, columns, A, r.count)


@native
def begin_modes(state: int) -> None:
    """Stops that a run begins beyond are pushed in."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    refresh(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
    r.resting, r.step_before, r.step_apart, r.end_known = 0, 0.0, 0.0, 0
    for k in range(r.count):
        fast = abs(r.rate[k]) > r.fastest[k]
        r.mode[k], r.stop[k], r.carried[k] = OVERRUN if fast else MOVING, APART, 0.0
        r.mode[k] *= -1 if r.rate[k] < 0.0 and r.shares[k] == 1 else 1
        r.began[k], r.quickest[k], r.zone[k] = np.nan, 0.0, 0.0
        side = 1 if r.value[k] > r.upper[k] else -1 if r.value[k] < r.lower[k] else 0
        if r.rigid[k] == 0 and side != 0:
            r.stop[k] = side * PRESSED
    for k in range(r.count):
        if r.shares[k] > 1:
            take_aim(s.mode_rows, k, r.rate, 1.0)
    stiffen(state, w.y, LOOK_AGAIN)
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED:
            side = 1 if r.stop[k] > 0 else -1
            r.stop[k] = side * (PRESSED if normal(s.mode_rows, k, side) >= 0.0 else LEAVING)
    show_inertia(state)
    command(w.system, w.time, w.y)
    for k in range(r.count):
        r.clipped[k] = 0
        if abs(r.wished[k]) > r.strongest[k]:
            clip(s.mode_rows, k)


@native
def ready(state: int) -> None:
    """Modes for the step that begins: as they are, unless the last one ended at a change or a run begins."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.mode_rows)
    r.steady = 0
    if r.balls == 1 and w.pending == NOTHING_PENDING:
        aim_balls(state)
    if r.own < r.count:
        refresh(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
        copy(r.value, r.reference)
    if w.pending == NOTHING_PENDING:
        return
    which = w.pending
    w.pending = NOTHING_PENDING
    if which == BEGINS:
        begin_modes(state)
        change(state, w.y, LOOK_AGAIN)
        begin_log(state)
    elif which != LOOK_AGAIN or others_hold_no_more(state):
        known = keep_before(state)
        change(state, w.y, which)
        keep_after(state, known)
        suit_step(state)
    else:
        return
    w.fresh = w.renewed = 0
    w.last_step = w.last_error = 0.0
    begin_anew(state)


@native
def others_hold_no_more(state: int) -> bool:
    """Whether a look at saturated rows changes a mode; the state and the modes stay as they are."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    y, modes, stops, began = scratch(len(w.y)), scratch(r.count), scratch(r.count), scratch(r.count)
    aim, zone = scratch(r.count), scratch(r.count)
    copy(r.aim, aim)
    copy(r.zone, zone)
    copy(w.y, y)
    copy(r.mode, modes)
    copy(r.stop, stops)
    copy(r.began, began)
    change(state, y, LOOK_AGAIN)
    changed = False
    for k in range(r.count):
        slips = abs(r.mode[k]) == MOVING and not rubs(load_system(w.system).mode_rows, k)  # which way is nothing
        same = int(modes[k]) == r.mode[k] or (slips and int(modes[k]) == -r.mode[k])
        changed = changed or not same or int(stops[k]) != r.stop[k]
        r.mode[k], r.stop[k] = int(modes[k]), int(stops[k])
    copy(began, r.began)
    copy(aim, r.aim)
    copy(zone, r.zone)
    return changed


@entry
def begin_entry(state: int) -> int:
    """The modes that a run begins with, and speeds that they allow."""
    ready(state)
    w = load_state(state)
    copy(w.y, w.new)
    return FINE


@native
def keep_events(state: int, kept: Any) -> None:
    """Mode variables of formulas as the step begins."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        kept[k] = w.events[FORMULAS, k]
    kept[count], kept[count + 1], kept[count + 2] = w.modes_fixed, w.sliding, w.plain_steps


@native
def restore_events(state: int, kept: Any) -> None:
    """The same again: what formulas do later in the step has not been."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        w.events[FORMULAS, k] = kept[k]
    w.modes_fixed, w.sliding, w.plain_steps = int(kept[count]), int(kept[count + 1]), int(kept[count + 2])
    w.turned = 0


@native
def asks_again(state: int) -> Any:
    """Whether the next step begins with a look at rows that are saturated, or hardly move in an elastic stop, and
    nothing else is pending."""
    w = load_state(state)
    r = load_rows(load_system(w.system).mode_rows)
    if w.pending == NOTHING_PENDING:
        for k in range(r.count):
            if abs(r.mode[k]) == SATURATED or is_slow(load_system(w.system).mode_rows, k):
                w.pending = LOOK_AGAIN
    return w.pending == LOOK_AGAIN


@entry
def modal_step(state: int, t: float, first: int, second: int) -> int:
    """One step of the method that ends where a mode does."""
    w = load_state(state)
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    rounds, passed = 0, -1
    kept = scratch(w.events.shape[1] + 3)
    keep_contact(state)
    book(state)
    while True:
        r.unsettled = 0
        ready(state)
        r.wrong = adjust(w.system, t, w.y)
        if r.wrong >= 0 or r.unsettled == 1:
            return WRONG_FRICTION
        keep_events(state, kept)
        stretch(state)
        shorten(state)
        r.decay = decay(w.step)
        keep_forces(rows)
        if w.fresh == 0:
            r.end_known = 0
        spared = r.resting == 1 and w.stages > 1
        happened: int = stay(state) if spared else call_entry(w.plain_step, state, t, 0, 0)
        if happened != FINE:
            return happened
        length = w.reach - t if w.plain_step != w.step_of else w.taken
        which, theta = first_end(state, length / w.taken, passed)
        if which < 0:
            break
        restore_events(state, kept)
        if theta * w.taken <= 1e-14 * max(abs(t), 1.0):  # at the beginning of the step: it is taken again
            take_back(state)
            w.pending = which
            rounds += 1
            if rounds > MOST_CHANGES * (r.count + 1):
                give_way(state, which)
                rounds, passed = 0, which if passed == -1 else ALL
            continue
        happened, length = end_at(state, which, theta)
        if happened != FINE:
            return happened
        if length > 0.0:
            w.pending, w.jumped = which, 1
        length = abs(length)
        measure_again(state, length / w.taken)
        break
    if asks_again(state):
        w.jumped = 1
    w.reach = t + length
    spans(state, t, length)
    if r.balls == 1:
        forget_stiffness(state)
    return happened


@native
def idle(rows: int) -> Any:
    """Whether no row exerts anything, and none is made to: all move freely, between their stops."""
    r = load_rows(rows)
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING or r.stop[k] != APART or rubs(rows, k):
            return False
    return r.bearing_loads == 0 and r.levels == 0


@native
def plain(state: int, t: float, h: float) -> Any:
    """A fixed step from w.y on, without a look at modes."""
    w = load_state(state)
    w.time, w.taken = t, h
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    r.decay = decay(h)
    keep_forces(rows)
    well = call_entry(w.step_of, state, t, 0, 0) == FINE if w.step_of != 0 else fixed_step(state, t, h)
    r.steady = 0
    return project(state, t + h, w.y, w.failed[:0]) if well else NOT_FINITE


@native
def stepped(state: int, t: float, begun: Any, h: float, m: int, room: Any) -> float:
    """Margin m at the end of a fixed step of length h from `begun` (n,) on, which ends in w.y."""
    w = load_state(state)
    copy(begun, w.y)
    plain(state, t, h)
    margins(w.system, t + h, w.y, room)
    return room[m]


@native
def fixed_root(state: int, t: float, begun: Any, h: float, m: int, room: Any) -> float:
    """The length of the fixed step that ends where margin m does, by the Illinois method; 0: it had none."""
    low, soon, ends = 0.0, SOON, scratch(ENDS)
    above, below = stepped(state, t, begun, h, m, room), 0.0
    while not below > 0.0 and soon < 1.0:
        low = soon * h
        below = stepped(state, t, begun, low, m, room)
        soon *= 10.0
    if not below > 0.0:
        return 0.0
    bracket(ends, low, h, below, above)
    for _ in range(MOST_ROUNDS):
        if ends[RIGHT] - ends[LEFT] < 1e-13 * h or ends[AT_RIGHT] == 0.0:
            break
        length = between(ends)
        x = stepped(state, t, begun, length, m, room)
        if x == 0.0:
            return length
        narrow(ends, length, x)
    return ends[RIGHT]


@native
def first_root(state: int, t: float, begun: Any, h: float, passed: int, ended: Any) -> Any:
    """(which margin ends first in a fixed step of length h from `begun` (n,) on, −1: none; when, s); `ended`: margins
    at its end; passed : one that is passed over (−1: none, `ALL` of them)."""
    which, shortest, room = -1, h, scratch(len(ended))
    for m in range(len(ended)):
        if ended[m] < 0.0 and m != passed and passed != ALL:
            length = fixed_root(state, t, begun, h, m, room)
            if which < 0 or length < shortest:
                which, shortest = m, length
    return which, shortest


@native
def speeds_within(state: int, begun: Any, h: float, x: float, out: Any) -> None:
    """Speeds at a part x of a fixed step from `begun` (n,) to w.y, into `out` (n,), in which coordinates are cubic in
    time; where they have quaternions they are linear."""
    w = load_state(state)
    s = load_system(w.system)
    for i in range(s.nv):
        out[s.nq + i] = (1.0 - x) * begun[s.nq + i] + x * w.y[s.nq + i]
        if len(s.quaternions) == 0:
            growth = (w.y[i] - begun[i]) / h
            turned = (1.0 - x) * (1.0 - 3.0 * x) * begun[s.nq + i] + x * (3.0 * x - 2.0) * w.y[s.nq + i]
            out[s.nq + i] = 6.0 * x * (1.0 - x) * growth + turned


@native
def measure_part(state: int, t: float, begun: Any, h: float, room: Any) -> None:
    """Powers at the quarters of a part of a fixed step, from `begun` (n,) to w.y: coordinates are cubic in time, joint
    forces linear."""
    w = load_state(state)
    s = load_system(w.system)
    r, n = load_rows(s.mode_rows), s.nv
    value, rate, given, other = scratch(r.count), scratch(r.count), scratch(n), scratch(len(begun))
    ends, onward, asked = scratch(r.count), scratch(r.count), scratch(n)
    book(state)
    margins(w.system, t, begun, room)
    copy(r.value, value)
    copy(r.rate, rate)
    copy(r.given, given)
    margins(w.system, t + h, w.y, room)
    copy(r.value, ends)
    copy(r.rate, onward)
    copy(r.given, asked)
    for quarter in range(QUARTERS + 1):
        x = quarter / QUARTERS
        for k in range(r.count):
            if r.measured[k] == 0:  # speeds of a ball are no rates of coordinates
                r.rate[k] = (1.0 - x) * rate[k] + x * onward[k]
                continue
            growth = ends[k] - value[k]
            rise = x * x * (3.0 - 2.0 * x)
            r.value[k] = value[k] + rise * growth + h * x * (1.0 - x) * ((1.0 - x) * rate[k] - x * onward[k])
            r.rate[k] = 6.0 * x * (1.0 - x) * growth / h + (1.0 - x) * (1.0 - 3.0 * x) * rate[k]
            r.rate[k] += x * (3.0 * x - 2.0) * onward[k]
        for i in range(n):
            r.given[i] = (1.0 - x) * given[i] + x * asked[i]
        speeds_within(state, begun, h, x, other)
        measure(state, quarter, other)
    spans(state, t, h)


@native
def measure_given(state: int, t: float, begun: Any, h: float) -> None:
    """The same where no row exerts anything: powers of joint forces alone."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r, n = load_rows(s.mode_rows), s.nv
    given, other, some = scratch(n), scratch(len(begun)), False
    book(state)
    for quarter in range(QUARTERS + 1):
        for i in range(g.powers.shape[1]):
            g.powers[quarter, i] = 0.0
    command(w.system, t, begun)
    copy(r.given, given)
    command(w.system, t + h, w.y)
    for i in range(n):
        some = some or given[i] != 0.0 or r.given[i] != 0.0
    for quarter in range(QUARTERS + 1 if some else 0):
        x, total = quarter / QUARTERS, 0.0
        speeds_within(state, begun, h, x, other)
        for i in range(n):
            total += ((1.0 - x) * given[i] + x * r.given[i]) * other[s.nq + i]
        g.powers[quarter, g.powers.shape[1] - 1] = total
    spans(state, t, h)


@entry
def modal_parts(state: int, t: float, first: int, second: int) -> int:
    """A fixed step of length w.taken, in parts that end where modes do."""
    w = load_state(state)
    n, h, done, rounds, parts, steady_parts = len(w.y), w.taken, 0.0, 0, 0, 0
    rows = load_system(w.system).mode_rows
    r = load_rows(rows)
    begun, room, ended = scratch(n), scratch(EACH * r.count), scratch(n)
    other, passed, stopping = scratch(EACH * r.count), -1, scratch(r.count)
    keep_contact(state)
    while True:
        w.time, r.unsettled = t + done, 0
        ready(state)
        r.wrong = adjust(w.system, w.time, w.y)
        if r.wrong >= 0 or r.unsettled == 1:
            return WRONG_FRICTION
        copy(w.y, begun)
        part = h - done
        if r.balls == 1:
            mark_stopping(state, part, stopping)
            part = steady_part(state, part, stopping) if steady_parts < MOST_STEADY else part
        happened: int = plain(state, t + done, part)
        if happened != FINE:
            return happened
        margins(w.system, t + done + part, w.y, room)
        copy(w.y, ended)
        which, shortest = first_root(state, t + done, begun, part, passed, room)
        copy(ended, w.y)
        if which >= 0 and (rounds > MOST_CHANGES * (r.count + 1) or parts > MOST_PARTS):
            copy(begun, w.y)
            give_way(state, which)
            rounds, parts, passed = 0, 0, which if passed == -1 else ALL
            continue
        if which < 0:
            if idle(rows):
                measure_given(state, t + done, begun, part)
            else:
                measure_part(state, t + done, begun, part, other)
            if part < h - done:
                done += part
                steady_parts += 1
                continue
            w.taken = h
            if r.balls == 1:
                stop_balls(state, stopping)
            break
        copy(begun, w.y)
        if shortest > 1e-14 * max(abs(t), 1.0):
            plain(state, t + done, shortest)
            measure_part(state, t + done, begun, shortest, other)
            rounds, parts = 0, parts + 1
            done += shortest
        else:
            rounds += 1
        w.pending = which
    asks_again(state)
    return happened

"""Steps with contact rows, for methods with variable step size: steps end where a contact state changes.

States change at the beginning of the next step, so that samples until then are those before (`StepState.pending`);
one-step methods go on, those that look back begin again. Changes at one instant are counted: what goes on changing
there is stepped over (`MOST_CHANGES`), with a note.

While rows stick, their forces follow the loads although nothing moves, so that state errors give no hint of the step
size (`longest_sticking_step`). Where all speeds of a machine are held at zero the end of a step is its beginning, and
the method is not asked; where loads are linear in time, too, the step goes to the end of the run, for then what rows
may carry more is concave (`stretch`, `stay`). What moves thereafter goes on with the step it had before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.contact_derivative import apply_known_forces, is_a_speed, keep_forces, responses
from core.simulation.equations.contact_rows import (
    APART,
    HELD,
    LEAVING,
    MOVING,
    OVERRUN,
    PRESSED,
    SATURATED,
    evaluate_friction_levels,
    evaluate_motor_commands,
    has_friction,
    load_rows,
    set_sliding_direction,
    stop_force,
    update_rows,
)
from core.simulation.equations.system import copy, load_system
from core.simulation.events.contact_changes import BEGINS, LOOK_AGAIN, NOTHING_PENDING, change, clip, give_way
from core.simulation.events.contact_location import ALL, end_at, first_end, measure_again
from core.simulation.events.contact_log import (
    add_step_energies,
    assign_powers_to_step,
    begin_log,
    log_after_change,
    log_before_change,
    log_contact,
)
from core.simulation.events.elastic_stops import choose_stop_step, derive_stop_stiffness, is_slow
from core.simulation.events.friction_disk_steps import forget_stiffness, onset_is_over, steady, update_disk_directions
from core.simulation.events.sliding_modes import MODE as FORMULAS
from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import address_of, call_entry, native, scratch
from core.simulation.machine_code.outcome import FINE, WRONG_FRICTION
from core.simulation.methods.step_state import derivative, least_time, load_state, scaled_norm
from core.simulation.stepping import begin_anew, take_back

LONGEST_HELD, PARTS_HELD = 0.1, 500.0
"""Largest step while a row sticks: seconds, and share of a run. Sticking is checked during steps, and loads may come
and go without any effect on state errors."""
FIRST = 1e-6
"""s: shortest time over which the change of forces is evaluated when motion begins."""


@native
def longest_sticking_step(limit: float) -> float:
    """Return the longest step, s, while loads may come and go; limit: longest step in any case."""
    return min(limit, max(LONGEST_HELD, limit / PARTS_HELD))


@native
def nothing_can_move(state: int) -> Any:
    """Return true if nothing moves or can move: all speeds of a machine without loops are held at zero by friction."""
    w = load_state(state)
    s = load_system(w.system)
    r, held = load_rows(s.contact_rows), 0
    if s.nx > 0 or s.rows > 0 or w.plain_step != w.step_of:
        return False
    for i in range(s.nq, s.nq + s.nv):
        if w.y[i] != 0.0:
            return False
    known = scratch(s.nv)
    for i in range(s.nv):
        known[i] = 0.0
    for k in range(r.count):
        if r.mode[k] == HELD and is_a_speed(w.system, k) and known[r.columns[r.begins[k]]] == 0.0:
            known[r.columns[r.begins[k]]] = 1.0
            held += 1
    return held == s.nv


@native
def step_from_rest(state: int) -> float:
    """Return a first step size when motion begins, for Runge–Kutta methods: as `step_state.first_step`, but from the
    time in which speeds grow to the tolerances, since states at rest give no scale; 0: the method chooses."""
    w = load_state(state)
    f, point, other = scratch(len(w.y)), scratch(len(w.y)), scratch(len(w.y))
    if w.stages == 1 or not derivative(state, w.time, w.y, f):
        return 0.0
    slope = scaled_norm(state, f, w.y, w.y)
    if not slope > 0.0:
        return 0.0
    h = max(1.0 / slope, FIRST)
    for j in range(len(f)):
        point[j] = w.y[j] + h * f[j]
    if not derivative(state, w.time + h, point, other):
        return 0.0
    for j in range(len(f)):
        other[j] -= f[j]
    largest = max(slope, scaled_norm(state, other, w.y, w.y) / h)
    return min(1000.0 * h, (0.01 / largest) ** (1.0 / w.error_power))


@native
def stretch(state: int) -> None:
    """Extend the step to the longest allowed one while nothing moves; afterwards resume the step size from before, or
    one that the method chooses."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    if nothing_can_move(state):
        if r.resting == 0:
            r.resting, r.step_before = 1, w.step
        w.step = w.limit if r.linear == 1 else longest_sticking_step(w.limit)
    elif r.resting == 1:
        r.resting, w.step = 0, r.step_before if r.step_before > 0.0 else step_from_rest(state)


@native
def stay(state: int) -> int:
    """Take a step of a Runge–Kutta method in which nothing moves."""
    w = load_state(state)
    for i in range(len(w.A)):
        for j in range(len(w.y)):
            w.k[i, j] = 0.0
    copy(w.y, w.new)
    w.taken, w.fresh = min(min(w.step, w.limit), w.end - w.time), 1
    w.accepted += 1
    return FINE


MOST_CHANGES = 8
"""Largest number of changes per row at one instant."""
SHORTER = 0.5
"""Step factor after a step in which a friction disk became too fast to be just beginning to slide."""
DECAY, GENTLY = 10.0, 0.05
"""1/s, and 1/steps: largest decay rate of rounding errors in the speeds of active rows."""


@native
def longest_step(state: int) -> float:
    """Return a step size, s, small enough to detect when active rows release, for methods that choose each step;
    sliding friction disks also shorten the next step (`steady`)."""
    w = load_state(state)
    r, limit = load_rows(load_system(w.system).contact_rows), w.limit
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING:
            if r.resting == 0:
                limit = min(limit, longest_sticking_step(w.limit))
        elif r.shares[k] > 1 and w.jacobian == 0 and r.zone[k] == 0.0 and r.free[k] == 0:
            steady(state, k)
    return limit


@native
def decay(h: float) -> float:
    """Return the decay rate of rounding errors in active rows for a step of length h; 0 if h is not yet known."""
    return min(DECAY, GENTLY / h) if h > 0.0 else 0.0


@native
def measure_responses(state: int) -> None:
    """Measure the responses of rows that have none recorded, so that dead points can be recognised."""
    w = load_state(state)
    place = w.system
    s = load_system(place)
    r, shown = load_rows(s.contact_rows), True
    for k in range(r.count):
        shown = shown and r.largest[k] > 0.0
    if shown:
        return
    n = len(w.y)
    chosen, A, columns, base = scratch(r.count), scratch(r.count * r.count), scratch(r.count * s.nv), scratch(n)
    for k in range(r.count):
        chosen[k] = k
    apply_known_forces(place, w.time, w.y)
    call_entry(r.inner, place, w.time, address_of(w.y), address_of(base))
    responses(place, w.time, w.y, base, chosen, columns, A, r.count)


@native
def begin_contact_states(state: int) -> None:
    """Initialise the contact states of a run; elastic stops that it begins beyond are compressed."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    update_rows(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
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
            set_sliding_direction(s.contact_rows, k, r.rate, 1.0)
    derive_stop_stiffness(state, w.y, LOOK_AGAIN)
    for k in range(r.count):
        if abs(r.stop[k]) == PRESSED:
            side = 1 if r.stop[k] > 0 else -1
            r.stop[k] = side * (PRESSED if stop_force(s.contact_rows, k, side) >= 0.0 else LEAVING)
    measure_responses(state)
    evaluate_motor_commands(w.system, w.time, w.y)
    for k in range(r.count):
        r.clipped[k] = 0
        if abs(r.wished[k]) > r.strongest[k]:
            clip(s.contact_rows, k)


@native
def settle_pending_change(state: int) -> None:
    """Set the contact states for the next step; they change only if the last step ended at a change or if a run
    begins."""
    w = load_state(state)
    s = load_system(w.system)
    r = load_rows(s.contact_rows)
    r.steady = 0
    if r.disks == 1 and w.pending == NOTHING_PENDING:
        update_disk_directions(state)
    if r.own < r.count:
        update_rows(w.system, w.y[: s.nq], w.y[s.nq : s.nq + s.nv])
        copy(r.value, r.reference)
    if w.pending == NOTHING_PENDING:
        return
    which = w.pending
    w.pending = NOTHING_PENDING
    if which == BEGINS:
        begin_contact_states(state)
        change(state, w.y, LOOK_AGAIN)
        begin_log(state)
    elif which != LOOK_AGAIN or recheck_changes_states(state):
        known = log_before_change(state)
        change(state, w.y, which)
        log_after_change(state, known)
        choose_stop_step(state)
    else:
        return
    w.fresh = w.renewed = 0
    w.last_step = w.last_error = 0.0
    begin_anew(state)


@native
def recheck_changes_states(state: int) -> bool:
    """Return True if checking saturated rows would change a contact state; state and contact states are left
    unchanged."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
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
        slips = abs(r.mode[k]) == MOVING and not has_friction(
            load_system(w.system).contact_rows, k
        )  # which way is nothing
        same = int(modes[k]) == r.mode[k] or (slips and int(modes[k]) == -r.mode[k])
        changed = changed or not same or int(stops[k]) != r.stop[k]
        r.mode[k], r.stop[k] = int(modes[k]), int(stops[k])
    copy(began, r.began)
    copy(aim, r.aim)
    copy(zone, r.zone)
    return changed


@entry
def begin_entry(state: int) -> int:
    """Determine the initial contact states of a run and adjust the speeds to them."""
    settle_pending_change(state)
    w = load_state(state)
    copy(w.y, w.new)
    return FINE


@native
def keep_events(state: int, kept: Any) -> None:
    """Save the mode variables of formulas at the beginning of the step."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        kept[k] = w.events[FORMULAS, k]
    kept[count], kept[count + 1], kept[count + 2] = w.modes_fixed, w.sliding, w.plain_steps


@native
def restore_events(state: int, kept: Any) -> None:
    """Restore the mode variables of formulas from the beginning of the step."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        w.events[FORMULAS, k] = kept[k]
    w.modes_fixed, w.sliding, w.plain_steps = int(kept[count]), int(kept[count + 1]), int(kept[count + 2])
    w.turned = 0


@native
def needs_only_recheck(state: int) -> Any:
    """Return true if the next step only needs to check saturated rows or rows that hardly move in an elastic stop."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    if w.pending == NOTHING_PENDING:
        for k in range(r.count):
            if abs(r.mode[k]) == SATURATED or is_slow(load_system(w.system).contact_rows, k):
                w.pending = LOOK_AGAIN
    return w.pending == LOOK_AGAIN


@native
def end_first(state: int, length: float, passed: int, kept: Any) -> Any:
    """End the step taken, of the given length, where the first margin reaches zero, with mode variables of formulas as
    `kept`; returns (outcome, margin, −1: none; length, 0: at the very beginning)."""
    w = load_state(state)
    which, theta = first_end(state, length / w.taken, passed)
    happened, tried = FINE, w.taken
    while which >= 0:
        restore_events(state, kept)
        length = 0.0
        if theta * w.taken > least_time(w.time):
            happened, length = end_at(state, which, theta)
        if happened != FINE or length >= 0.0:
            w.taken = tried if length == 0.0 else w.taken
            break
        which, theta = first_end(state, 1.0, passed)  # of the step taken now, which is shorter
        length = w.taken
    return happened, which, length


@entry
def contact_step(state: int, t: float, first: int, second: int) -> int:
    """Take one step of the method that ends where a contact state changes."""
    w = load_state(state)
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    rounds, passed = 0, -1
    kept = scratch(w.events.shape[1] + 3)
    log_contact(state)
    add_step_energies(state)
    while True:
        r.unsettled = 0
        settle_pending_change(state)
        r.wrong = evaluate_friction_levels(w.system, t, w.y)
        if r.wrong >= 0 or r.unsettled == 1:
            return WRONG_FRICTION
        keep_events(state, kept)
        stretch(state)
        limit, w.limit = w.limit, longest_step(state)
        w.step = min(w.step, w.limit)
        r.decay = decay(w.step)
        keep_forces(rows)
        if w.fresh == 0:
            r.end_known = 0
        spared = r.resting == 1 and w.stages > 1
        happened: int = stay(state) if spared else call_entry(w.plain_step, state, t, 0, 0)
        w.limit = limit
        if happened != FINE:
            return happened
        if r.disks == 1 and onset_is_over(state):
            restore_events(state, kept)
            take_back(state)
            w.step, w.renewed = SHORTER * w.taken, 0
            continue
        length = w.reach - t if w.plain_step != w.step_of else w.taken
        happened, which, length = end_first(state, length, passed, kept)
        if happened != FINE:
            return happened
        if which < 0:
            break
        if length > 0.0:
            w.pending, w.jumped = which, 1
            measure_again(state, length / w.taken)
            break
        take_back(state)  # it is taken again
        w.pending = which
        rounds += 1
        if rounds > MOST_CHANGES * (r.count + 1):
            give_way(state, which)
            rounds, passed = 0, which if passed == -1 else ALL
    if needs_only_recheck(state):
        w.jumped = 1
    w.reach = t + length
    assign_powers_to_step(state, t, length)
    if r.disks == 1:
        forget_stiffness(state)
    return happened

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

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, scratch
from core.machine_code.outcome import FINE, WRONG_FRICTION
from core.simulation.equations.contact_derivative import (
    apply_known_forces,
    compute_response_matrix,
    is_generalized_speed,
    mark_constant_forces,
)
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
from core.simulation.equations.system import copy_array, load_system
from core.simulation.events.contact_changes import (
    BEGINS,
    LOOK_AGAIN,
    NOTHING_PENDING,
    release_chattering_row,
    toggle_clipping,
    update_contact_states,
)
from core.simulation.events.contact_location import ALL, end_step_at_root, find_first_root, recompute_powers
from core.simulation.events.contact_log import (
    add_step_energies,
    assign_powers_to_step,
    begin_log,
    log_after_change,
    log_before_change,
    log_compressed_stop,
)
from core.simulation.events.elastic_stops import choose_stop_step, derive_stop_stiffness, is_slow_enough_to_settle
from core.simulation.events.friction_disk_steps import (
    is_onset_over,
    limit_step_against_reversal,
    reset_stiffness_counters,
    update_disk_directions,
)
from core.simulation.events.sliding_modes import MODE as FORMULAS
from core.simulation.methods.step_state import compute_derivative, load_state, scaled_norm, shortest_resolvable_time
from core.simulation.stepping import reset_history, undo_step

LONGEST_HELD, PARTS_HELD = 0.1, 500.0
"""Largest step while a row sticks: seconds, and share of a run. Sticking is checked during steps, and loads may come
and go without any effect on state errors."""
FIRST = 1e-6
"""s: shortest time over which forces are compared to find their rate of change when motion begins."""


@native
def longest_sticking_step(limit: float) -> float:
    """Return the longest step, s, while loads may come and go; limit: longest step in any case."""
    return min(limit, max(LONGEST_HELD, limit / PARTS_HELD))


@native
def nothing_can_move(state: int) -> Any:
    """Return true if nothing moves or can move: friction keeps all speeds of a machine without loops at zero."""
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
        if r.mode[k] == HELD and is_generalized_speed(w.system, k) and known[r.columns[r.begins[k]]] == 0.0:
            known[r.columns[r.begins[k]]] = 1.0
            held += 1
    return held == s.nv


@native
def choose_first_step_from_rest(state: int) -> float:
    """Return a first step size for Runge–Kutta methods when motion begins (0: the method chooses). It is chosen as in
    `step_state.choose_first_step`, but from the time in which speeds grow to the tolerances, because states at rest
    give no scale."""
    w = load_state(state)
    f, point, other = scratch(len(w.y)), scratch(len(w.y)), scratch(len(w.y))
    if w.stages == 1 or not compute_derivative(state, w.time, w.y, f):
        return 0.0
    slope = scaled_norm(state, f, w.y, w.y)
    if not slope > 0.0:
        return 0.0
    h = max(1.0 / slope, FIRST)
    for j in range(len(f)):
        point[j] = w.y[j] + h * f[j]
    if not compute_derivative(state, w.time + h, point, other):
        return 0.0
    for j in range(len(f)):
        other[j] -= f[j]
    largest = max(slope, scaled_norm(state, other, w.y, w.y) / h)
    return min(1000.0 * h, (0.01 / largest) ** (1.0 / w.error_power))


@native
def lengthen_resting_step(state: int) -> None:
    """Lengthen the step to the longest allowed one while nothing moves; when motion starts again, resume the previous
    step size or one that the method chooses."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    if nothing_can_move(state):
        if r.resting == 0:
            r.resting, r.step_before = 1, w.step
        w.step = w.limit if r.linear == 1 else longest_sticking_step(w.limit)
    elif r.resting == 1:
        r.resting, w.step = 0, r.step_before if r.step_before > 0.0 else choose_first_step_from_rest(state)


@native
def take_resting_step(state: int) -> int:
    """Take a step of a Runge–Kutta method during which nothing moves."""
    w = load_state(state)
    for i in range(len(w.A)):
        for j in range(len(w.y)):
            w.k[i, j] = 0.0
    copy_array(w.y, w.new)
    w.taken, w.fresh = min(min(w.step, w.limit), w.end - w.time), 1
    w.accepted += 1
    return FINE


MOST_CHANGES = 8
"""Largest number of changes per row at one instant."""
SHORTER = 0.5
"""Factor by which the step is shortened after a friction disk has become too fast to count as just beginning to slide.
"""
DECAY, GENTLY = 10.0, 0.05
"""1/s, and 1/steps: largest decay rate of rounding errors in the speeds of active rows."""


@native
def choose_longest_step(state: int) -> float:
    """Return a step size, s, small enough to detect when active rows are released, for methods that choose each step;
    sliding friction disks also shorten the next step (`steady`)."""
    w = load_state(state)
    r, limit = load_rows(load_system(w.system).contact_rows), w.limit
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING:
            if r.resting == 0:
                limit = min(limit, longest_sticking_step(w.limit))
        elif r.shares[k] > 1 and w.jacobian == 0 and r.zone[k] == 0.0 and r.free[k] == 0:
            limit_step_against_reversal(state, k)
    return limit


@native
def drift_decay_rate(h: float) -> float:
    """Return the rate at which rounding errors in active rows are made to decay in a step of length h; 0 if h is not
    known yet."""
    return min(DECAY, GENTLY / h) if h > 0.0 else 0.0


@native
def compute_missing_responses(state: int) -> None:
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
    compute_response_matrix(place, w.time, w.y, base, chosen, columns, A, r.count)


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
    compute_missing_responses(state)
    evaluate_motor_commands(w.system, w.time, w.y)
    for k in range(r.count):
        r.clipped[k] = 0
        if abs(r.wished[k]) > r.strongest[k]:
            toggle_clipping(s.contact_rows, k)


@native
def apply_pending_change(state: int) -> None:
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
        copy_array(r.value, r.reference)
    if w.pending == NOTHING_PENDING:
        return
    which = w.pending
    w.pending = NOTHING_PENDING
    if which == BEGINS:
        begin_contact_states(state)
        update_contact_states(state, w.y, LOOK_AGAIN)
        begin_log(state)
    elif which != LOOK_AGAIN or would_recheck_change_states(state):
        known = log_before_change(state)
        update_contact_states(state, w.y, which)
        log_after_change(state, known)
        choose_stop_step(state)
    else:
        return
    w.fresh = w.renewed = 0
    w.last_step = w.last_error = 0.0
    reset_history(state)


@native
def would_recheck_change_states(state: int) -> bool:
    """Return True if checking saturated rows would change a contact state; state and contact states are left
    unchanged."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    y, modes, stops, began = scratch(len(w.y)), scratch(r.count), scratch(r.count), scratch(r.count)
    aim, zone = scratch(r.count), scratch(r.count)
    copy_array(r.aim, aim)
    copy_array(r.zone, zone)
    copy_array(w.y, y)
    copy_array(r.mode, modes)
    copy_array(r.stop, stops)
    copy_array(r.began, began)
    update_contact_states(state, y, LOOK_AGAIN)
    changed = False
    for k in range(r.count):
        slips = abs(r.mode[k]) == MOVING and not has_friction(
            load_system(w.system).contact_rows, k
        )  # which way is nothing
        same = int(modes[k]) == r.mode[k] or (slips and int(modes[k]) == -r.mode[k])
        changed = changed or not same or int(stops[k]) != r.stop[k]
        r.mode[k], r.stop[k] = int(modes[k]), int(stops[k])
    copy_array(began, r.began)
    copy_array(aim, r.aim)
    copy_array(zone, r.zone)
    return changed


@native
def adjust_to_contact_states(state: int) -> None:
    """Determine the contact states where motion begins, and adjust the speeds to them."""
    w = load_state(state)
    apply_pending_change(state)
    copy_array(w.y, w.new)


@entry
def begin_entry(state: int) -> int:
    """Determine the initial contact states of a run and adjust the speeds to them."""
    adjust_to_contact_states(state)
    return FINE


@entry
def begin_again_entry(state: int, t: float, first: int, second: int) -> int:
    """Determine the contact states where forces have jumped."""
    w = load_state(state)
    w.pending = BEGINS
    adjust_to_contact_states(state)
    return FINE


@native
def save_mode_variables(state: int, saved_modes: Any) -> None:
    """Save the mode variables of formulas at the beginning of the step."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        saved_modes[k] = w.events[FORMULAS, k]
    saved_modes[count], saved_modes[count + 1], saved_modes[count + 2] = w.modes_fixed, w.sliding, w.plain_steps


@native
def restore_mode_variables(state: int, saved_modes: Any) -> None:
    """Restore the mode variables of formulas from the beginning of the step."""
    w = load_state(state)
    count = w.events.shape[1]
    for k in range(count):
        w.events[FORMULAS, k] = saved_modes[k]
    w.modes_fixed, w.sliding, w.plain_steps = (
        int(saved_modes[count]),
        int(saved_modes[count + 1]),
        int(saved_modes[count + 2]),
    )
    w.turned = 0


@native
def needs_only_recheck(state: int) -> Any:
    """Return true if the next step only has to check rows that are saturated or that hardly move in an elastic stop."""
    w = load_state(state)
    r = load_rows(load_system(w.system).contact_rows)
    if w.pending == NOTHING_PENDING:
        for k in range(r.count):
            if abs(r.mode[k]) == SATURATED or is_slow_enough_to_settle(load_system(w.system).contact_rows, k):
                w.pending = LOOK_AGAIN
    return w.pending == LOOK_AGAIN


@native
def end_step_at_first_root(state: int, length: float, skipped_margin: int, saved_modes: Any) -> Any:
    """End the step taken, of the given length, where the first margin reaches zero, with mode variables of formulas as
    `saved_modes`; returns (outcome, margin, −1: none; length, 0: at the very beginning)."""
    w = load_state(state)
    which, theta = find_first_root(state, length / w.taken, skipped_margin)
    happened, tried = FINE, w.taken
    while which >= 0:
        restore_mode_variables(state, saved_modes)
        length = 0.0
        if theta * w.taken > shortest_resolvable_time(w.time):
            happened, length = end_step_at_root(state, which, theta)
        if happened != FINE or length >= 0.0:
            w.taken = tried if length == 0.0 else w.taken
            break
        which, theta = find_first_root(state, 1.0, skipped_margin)  # of the step taken now, which is shorter
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
    log_compressed_stop(state)
    add_step_energies(state)
    while True:
        r.unsettled = 0
        apply_pending_change(state)
        r.wrong = evaluate_friction_levels(w.system, t, w.y)
        if r.wrong >= 0 or r.unsettled == 1:
            return WRONG_FRICTION
        save_mode_variables(state, kept)
        lengthen_resting_step(state)
        limit, w.limit = w.limit, choose_longest_step(state)
        w.step = min(w.step, w.limit)
        r.decay = drift_decay_rate(w.step)
        mark_constant_forces(rows)
        if w.fresh == 0:
            r.end_known = 0
        spared = r.resting == 1 and w.stages > 1
        happened: int = take_resting_step(state) if spared else call_entry(w.plain_step, state, t, 0, 0)
        w.limit = limit
        if happened != FINE:
            return happened
        if r.disks == 1 and is_onset_over(state):
            restore_mode_variables(state, kept)
            undo_step(state)
            w.step, w.renewed = SHORTER * w.taken, 0
            continue
        length = w.reach - t if w.plain_step != w.step_of else w.taken
        happened, which, length = end_step_at_first_root(state, length, passed, kept)
        if happened != FINE:
            return happened
        if which < 0:
            break
        if length > 0.0:
            w.pending, w.jumped = which, 1
            recompute_powers(state, length / w.taken)
            break
        undo_step(state)  # it is taken again
        w.pending = which
        rounds += 1
        if rounds > MOST_CHANGES * (r.count + 1):
            release_chattering_row(state, which)
            rounds, passed = 0, which if passed == -1 else ALL
    if needs_only_recheck(state):
        w.jumped = 1
    w.reach = t + length
    assign_powers_to_step(state, t, length)
    if r.disks == 1:
        reset_stiffness_counters(state)
    return happened

"""Fixed steps with contact rows: a step is divided at changes of contact state, each located by trial steps of other
lengths, since a fixed-step method has no continuous extension (`core.simulation.events.contact_steps`)."""

from __future__ import annotations

from typing import Any

from core.machine_code.entry import entry
from core.machine_code.language import call_entry, native, scratch
from core.machine_code.outcome import FINE, NOT_FINITE, WRONG_FRICTION
from core.simulation.equations.contact_derivative import mark_constant_forces
from core.simulation.equations.contact_rows import (
    APART,
    MOVING,
    evaluate_friction_levels,
    evaluate_motor_commands,
    has_friction,
    load_rows,
)
from core.simulation.equations.system import copy_array, load_system
from core.simulation.events.contact_changes import release_chattering_row
from core.simulation.events.contact_location import ALL, SOON
from core.simulation.events.contact_log import (
    QUARTERS,
    add_step_energies,
    assign_powers_to_step,
    load_log,
    log_compressed_stop,
    record_powers,
)
from core.simulation.events.contact_margins import EACH, compute_margins
from core.simulation.events.contact_steps import (
    MOST_CHANGES,
    apply_pending_change,
    drift_decay_rate,
    needs_only_recheck,
)
from core.simulation.events.friction_disk_steps import length_without_reversal, mark_stopping_disks, stop_disks
from core.simulation.events.sign_changes import (
    AT_RIGHT,
    ENDS,
    LEFT,
    MOST_ROUNDS,
    RIGHT,
    begin_bracket,
    estimate_root,
    narrow_bracket,
)
from core.simulation.methods.step_state import load_state, project, shortest_resolvable_time
from core.simulation.stepping import take_fixed_step

MOST_PARTS, MOST_STEADY = 1000, 100
"""Largest number of parts of a fixed step; of them, parts that keep friction disks from reversing."""


@native
def all_rows_free(rows: int) -> Any:
    """Return true if no row exerts a force or may begin to: all rows move freely between their stops."""
    r = load_rows(rows)
    for k in range(r.count):
        if abs(r.mode[k]) != MOVING or r.stop[k] != APART or has_friction(rows, k):
            return False
    return r.bearing_loads == 0 and r.levels == 0


@native
def take_plain_step(state: int, t: float, h: float) -> Any:
    """Take a fixed step from w.y on, without event detection."""
    w = load_state(state)
    w.time, w.taken = t, h
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    r.decay = drift_decay_rate(h)
    mark_constant_forces(rows)
    well = call_entry(w.step_of, state, t, 0, 0) == FINE if w.step_of != 0 else take_fixed_step(state, t, h)
    r.steady = 0
    return project(state, t + h, w.y, w.failed[:0]) if well else NOT_FINITE


@native
def margin_after_step(state: int, t: float, start_state: Any, h: float, m: int, workspace: Any) -> float:
    """Take a fixed step of length h from `start_state` (n,) on, which ends in w.y, and return event margin m there."""
    w = load_state(state)
    copy_array(start_state, w.y)
    take_plain_step(state, t, h)
    compute_margins(w.system, t + h, w.y, workspace)
    return workspace[m]


@native
def find_step_to_root(state: int, t: float, start_state: Any, h: float, m: int, workspace: Any) -> float:
    """Return the length of the fixed step that ends where margin m reaches zero, by the Illinois method; 0 if the
    margin is negative from the beginning."""
    low, soon, ends = 0.0, SOON, scratch(ENDS)
    above, below = margin_after_step(state, t, start_state, h, m, workspace), 0.0
    while not below > 0.0 and soon < 1.0:
        low = soon * h
        below = margin_after_step(state, t, start_state, low, m, workspace)
        soon *= 10.0
    if not below > 0.0:
        return 0.0
    begin_bracket(ends, low, h, below, above)
    for _ in range(MOST_ROUNDS):
        if ends[RIGHT] - ends[LEFT] < 1e-13 * h or ends[AT_RIGHT] == 0.0:
            break
        length = estimate_root(ends)
        x = margin_after_step(state, t, start_state, length, m, workspace)
        if x == 0.0:
            return length
        narrow_bracket(ends, length, x)
    return ends[RIGHT]


@native
def find_first_root(state: int, t: float, start_state: Any, h: float, skipped_margin: int, end_margins: Any) -> Any:
    """Return (first margin to reach zero in a fixed step of length h from `start_state` (n,) on, −1: none; time, s);
    `end_margins`: margins at its end; passed: a margin to be skipped (−1: none, `ALL`: all)."""
    which, shortest, room = -1, h, scratch(len(end_margins))
    for m in range(len(end_margins)):
        if end_margins[m] < 0.0 and m != skipped_margin and skipped_margin != ALL:
            length = find_step_to_root(state, t, start_state, h, m, room)
            if which < 0 or length < shortest:
                which, shortest = m, length
    return which, shortest


@native
def interpolate_speeds(state: int, start_state: Any, h: float, x: float, out: Any) -> None:
    """Interpolate the speeds at a fraction x of a fixed step from `start_state` (n,) to w.y into `out` (n,), with
    coordinates cubic in time; linear if there are quaternions."""
    w = load_state(state)
    s = load_system(w.system)
    for i in range(s.nv):
        out[s.nq + i] = (1.0 - x) * start_state[s.nq + i] + x * w.y[s.nq + i]
        if len(s.quaternions) == 0:
            growth = (w.y[i] - start_state[i]) / h
            turned = (1.0 - x) * (1.0 - 3.0 * x) * start_state[s.nq + i] + x * (3.0 * x - 2.0) * w.y[s.nq + i]
            out[s.nq + i] = 6.0 * x * (1.0 - x) * growth + turned


@native
def interpolate_coordinates(state: int, start_state: Any, h: float, x: float, out: Any) -> None:
    """Interpolate the coordinates, cubic in time, and force element states, linear, at a fraction x of a fixed step
    into `out` (n,); coordinates are linear, too, if there are quaternions."""
    w = load_state(state)
    s = load_system(w.system)
    for i in range(len(start_state)):
        if i < s.nq or i >= s.nq + s.nv:
            out[i] = (1.0 - x) * start_state[i] + x * w.y[i]
        if i < s.nq and len(s.quaternions) == 0:
            bend = (1.0 - x) * start_state[s.nq + i] - x * w.y[s.nq + i]
            rise = x * x * (3.0 - 2.0 * x)
            out[i] = start_state[i] + rise * (w.y[i] - start_state[i]) + h * x * (1.0 - x) * bend


@native
def compute_powers(state: int, t: float, start_state: Any, h: float, workspace: Any) -> None:
    """Compute the powers at the quarters of a part of a fixed step from `start_state` (n,) to w.y: coordinates are
    cubic in time, joint forces linear, and friction formulas evaluated there."""
    w = load_state(state)
    s = load_system(w.system)
    r, n = load_rows(s.contact_rows), s.nv
    value, rate, given, other = scratch(r.count), scratch(r.count), scratch(n), scratch(len(start_state))
    ends, onward, asked = scratch(r.count), scratch(r.count), scratch(n)
    add_step_energies(state)
    compute_margins(w.system, t, start_state, workspace)
    copy_array(r.value, value)
    copy_array(r.rate, rate)
    copy_array(r.given, given)
    compute_margins(w.system, t + h, w.y, workspace)
    copy_array(r.value, ends)
    copy_array(r.rate, onward)
    copy_array(r.given, asked)
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
        interpolate_speeds(state, start_state, h, x, other)
        if r.levels != 0:  # friction that is a formula, as it is at this quarter
            interpolate_coordinates(state, start_state, h, x, other)
            evaluate_friction_levels(w.system, t + x * h, other)
        record_powers(state, quarter, other)
    assign_powers_to_step(state, t, h)


@native
def compute_joint_powers(state: int, t: float, start_state: Any, h: float) -> None:
    """Compute the powers of joint forces at the quarters of a part of a fixed step in which no row exerts a force."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r, n = load_rows(s.contact_rows), s.nv
    given, other, some = scratch(n), scratch(len(start_state)), False
    add_step_energies(state)
    for quarter in range(QUARTERS + 1):
        for i in range(g.powers.shape[1]):
            g.powers[quarter, i] = 0.0
    evaluate_motor_commands(w.system, t, start_state)
    copy_array(r.given, given)
    evaluate_motor_commands(w.system, t + h, w.y)
    for i in range(n):
        some = some or given[i] != 0.0 or r.given[i] != 0.0
    for quarter in range(QUARTERS + 1 if some else 0):
        x, total = quarter / QUARTERS, 0.0
        interpolate_speeds(state, start_state, h, x, other)
        for i in range(n):
            total += ((1.0 - x) * given[i] + x * r.given[i]) * other[s.nq + i]
        g.powers[quarter, g.powers.shape[1] - 1] = total
    assign_powers_to_step(state, t, h)


@entry
def contact_parts(state: int, t: float, first: int, second: int) -> int:
    """Take a fixed step of length w.taken, divided at changes of contact state."""
    w = load_state(state)
    n, h, done, rounds, parts, steady_parts = len(w.y), w.taken, 0.0, 0, 0, 0
    rows = load_system(w.system).contact_rows
    r = load_rows(rows)
    begun, room, ended = scratch(n), scratch(EACH * r.count), scratch(n)
    other, passed, stopping = scratch(EACH * r.count), -1, scratch(r.count)
    log_compressed_stop(state)
    while True:
        w.time, r.unsettled = t + done, 0
        apply_pending_change(state)
        r.wrong = evaluate_friction_levels(w.system, w.time, w.y)
        if r.wrong >= 0 or r.unsettled == 1:
            return WRONG_FRICTION
        copy_array(w.y, begun)
        part = h - done
        if r.disks == 1:
            mark_stopping_disks(state, part, stopping)
            part = length_without_reversal(state, part, stopping) if steady_parts < MOST_STEADY else part
        happened: int = take_plain_step(state, t + done, part)
        if happened != FINE:
            return happened
        compute_margins(w.system, t + done + part, w.y, room)
        copy_array(w.y, ended)
        which, shortest = find_first_root(state, t + done, begun, part, passed, room)
        copy_array(ended, w.y)
        if which >= 0 and (rounds > MOST_CHANGES * (r.count + 1) or parts > MOST_PARTS):
            copy_array(begun, w.y)
            release_chattering_row(state, which)
            rounds, parts, passed = 0, 0, which if passed == -1 else ALL
            continue
        if which < 0:
            if all_rows_free(rows):
                compute_joint_powers(state, t + done, begun, part)
            else:
                compute_powers(state, t + done, begun, part, other)
            if part < h - done:
                done += part
                steady_parts += 1
                continue
            w.taken = h
            if r.disks == 1:
                stop_disks(state, stopping)
            break
        copy_array(begun, w.y)
        if shortest > shortest_resolvable_time(t):
            take_plain_step(state, t + done, shortest)
            compute_powers(state, t + done, begun, shortest, other)
            rounds, parts = 0, parts + 1
            done += shortest
        else:
            rounds += 1
        w.pending = which
    needs_only_recheck(state)
    return happened

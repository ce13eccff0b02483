"""Main loop of a run in machine code: takes steps and evaluates the samples within them.

Methods with variable steps take steps as long as they like; samples are taken within them from the continuous
extension, so that steps do not depend on how many are wanted (`advance_adaptive`). Fixed steps are equal parts of the
time between two samples, and end on them (`advance_fixed`).

A run is advanced in pieces: everything that must outlast a piece is in `StepState`, so that cutting a run into pieces
changes nothing in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, scratch, view_rows
from core.machine_code.outcome import FINE, NOT_FINITE, PAUSED, STIFF, STOPPED, TOO_MANY
from core.simulation.equations.event_indicators import set_modes
from core.simulation.equations.system import copy_array
from core.simulation.methods.step_state import STIFF_EVIDENCE, compute_derivative, load_state, project

MANY_STEPS = 50_000
"""Number of remaining steps above which stiffness matters; with fewer, a change of method would take longer than the
steps."""


@native
def record_step_length(state: int, h: float) -> None:
    """Record the longest and the shortest step."""
    w = load_state(state)
    w.longest = max(w.longest, h)
    w.shortest = min(w.shortest, h)


@native
def take_fixed_step(state: int, t: float, h: float) -> Any:
    """Take one step of a Runge–Kutta method without error estimate."""
    w = load_state(state)
    y, k = w.y, w.k
    for i in range(w.stages):
        for j in range(len(y)):
            x = 0.0
            for m in range(i):
                x += w.A[i, m] * k[m, j]
            w.new[j] = y[j] + h * x
        if not compute_derivative(state, t + w.rows[1, i] * h, w.new, k[i]):
            return False
    for j in range(len(y)):
        x = 0.0
        for i in range(w.stages):
            x += w.rows[0, i] * k[i, j]
        y[j] += h * x
    return True


@native
def step_to_sample(state: int, sample: int) -> Any:
    """Take equal steps from one sample to the next, or to the time of sampled laws, none longer than the limit."""
    w = load_state(state)
    begin, end = max(w.times[sample - 1], w.resumed), w.times[sample]
    if w.stops == 1 and is_at_stop(state, end):
        end = w.end
    parts = max(1, int(np.ceil((end - begin) / w.limit - 1e-9))) if end > begin else 0
    h = (end - begin) / max(parts, 1)
    nothing = w.failed[:0]
    while w.part < parts:
        t = begin + w.part * h
        w.time = t
        if w.accepted >= w.most:
            return TOO_MANY
        if w.budget <= 0:
            return PAUSED
        w.budget -= 1
        if w.parts_of != 0:
            w.taken = h
            happened = call_entry(w.parts_of, state, t, 0, 0)
            if happened != FINE:
                return happened
            w.accepted += 1
            w.part += 1
            record_step_length(state, h)
            continue
        if w.step_of != 0:
            w.taken = h
            well = call_entry(w.step_of, state, t, 0, 0) == FINE
        else:
            well = take_fixed_step(state, t, h)
        if not well:
            copy_array(w.k[0], w.failed)
            return NOT_FINITE
        happened = project(state, t + h, w.y, nothing)
        if happened != FINE:
            return happened
        w.accepted += 1
        w.part += 1
        record_step_length(state, h)
    w.time = end
    w.part = 0
    if w.stops == 1 and end >= w.end:
        w.resumed = end
        return STOPPED
    return FINE


@native
def are_finite(y: Any) -> Any:
    """Return true if all entries are finite numbers."""
    total = 0.0
    for x in y:
        total += x * 0.0
    return total == 0.0


@entry
def advance_fixed(state: int, samples: int, rows: int) -> int:
    """Advance with fixed steps until the (rows, n) samples at an address are full or the step budget is used up."""
    w = load_state(state)
    out = view_rows(samples, rows, len(w.y))
    for row in range(rows):
        sample = w.sample
        if sample > 0:
            happened = step_to_sample(state, sample)
            while happened == STOPPED:
                happened = call_entry(w.sample_of, state, w.time, 0, 0)
                if happened == FINE:
                    happened = step_to_sample(state, sample)
            if happened != FINE:
                return happened
        if not are_finite(w.y):
            return NOT_FINITE
        copy_array(w.y, out[row])
        if w.keep_of != 0:
            call_entry(w.keep_of, state, w.time, address_of(out[row]), 0)
        w.sample += 1
    return FINE


@native
def take_step(state: int) -> Any:
    """Take one step of the method; its end is in w.new, and samples may be evaluated from it."""
    w = load_state(state)
    t = w.time
    if w.accepted + w.rejected >= w.most:
        return TOO_MANY
    if w.budget <= 0:
        return PAUSED
    if is_limited_by_stability(state):
        return STIFF
    w.budget -= 1
    if w.switch_step != 0:
        happened = call_entry(w.switch_step, state, t, 0, 0)
    else:
        happened = call_entry(w.step_of, state, t, 0, 0)
        w.reach = t + w.taken
    if happened != FINE:
        return happened
    reach, end = w.reach, w.end
    record_step_length(state, reach - t)
    w.reach = end if reach >= end - 1e-14 * abs(end) else reach
    w.between = 1
    return FINE


@entry
def advance_adaptive(state: int, samples: int, rows: int) -> int:
    """Advance with variable steps until the (rows, n) samples at an address are full. w.new and w.reach are the end of
    the step that samples are taken from; w.between is 0 before the first step."""
    w = load_state(state)
    out, row = view_rows(samples, rows, len(w.y)), 0
    # in turn: a sample, if one lies in the step there is; else the next step
    while row < rows:
        sample = w.sample
        t, reach, time = w.time, w.reach, w.times[sample]
        at_begin = sample == 0 or (w.between == 0 and time <= t)
        is_inside = w.between == 1 and time <= reach and not (w.stops == 1 and is_at_stop(state, time))
        if at_begin or is_inside:
            if at_begin:
                copy_array(w.y, out[row])
            elif time == reach:
                copy_array(w.new, out[row])
            else:
                theta, at = (time - t) / w.taken, samples + 8 * row * len(w.y)
                happened = call_entry(w.within_of, state, theta, at, 0)
                if happened != FINE:
                    return happened
            if w.keep_of != 0:
                call_entry(w.keep_of, state, time, address_of(out[row]), 0)
                free_modes(state)
            elif w.sliding > 0 and w.made + row < len(w.slid):
                compute_derivative(state, time, out[row], w.slid[w.made + row])
                free_modes(state)
            row += 1
            w.sample += 1
            continue
        happened = use_up_step(state) if w.between == 1 else take_step(state)
        if happened != FINE:
            return happened
    return FINE


@native
def use_up_step(state: int) -> int:
    """Make the end of the step the beginning of the next; sampled laws that are due there are evaluated."""
    w = load_state(state)
    w.time = w.reach
    copy_array(w.new, w.y)
    w.between = 0
    known = w.stages > 1 and w.projected == 0 and w.jumped == 0
    w.fresh, w.jumped = 1 if known else 0, 0
    if w.fresh == 1:  # the last stage is the first of the next step
        copy_array(w.k[w.stages - 1], w.k[0])
    if w.stops == 1 and w.time >= w.end:
        return call_entry(w.sample_of, state, w.time, 0, 0)
    return FINE


@native
def free_modes(state: int) -> None:
    """Free the mode variables between steps, because samples within the last step lie before its event."""
    w = load_state(state)
    none = scratch(w.events.shape[1])
    for k in range(len(none)):
        none[k] = 0.0
    set_modes(w.system, none)


@native
def undo_step(state: int) -> None:
    """Undo the step taken, so that it can be tried again with its length."""
    w = load_state(state)
    w.accepted -= 1
    w.rejected += 1
    w.step, w.last_step, w.last_error = w.taken, 0.0, 0.0
    if w.taken_back != 0:
        call_entry(w.taken_back, state, w.time, 0, 0)


@native
def repeat_step(state: int, h: float) -> Any:
    """Repeat the step taken, with the length h."""
    w = load_state(state)
    end = w.end
    if w.taken_back != 0:
        call_entry(w.taken_back, state, w.time, 0, 0)
    w.last_step = w.last_error = 0.0
    w.renewed, w.step, w.end = 0, h, w.time + h
    happened = call_entry(w.step_of, state, w.time, 0, 0)
    w.end = end
    w.accepted -= 1
    w.rejected += 1
    return happened


@native
def is_limited_by_stability(state: int) -> Any:
    """Return true if stability limits the step size so strongly that very many steps remain."""
    w = load_state(state)
    return w.stiff_steps >= STIFF_EVIDENCE and w.end - w.time > MANY_STEPS * w.taken


@native
def is_at_stop(state: int, t: float) -> Any:
    """Return true if a time is not before that of sampled laws, but for rounding."""
    w = load_state(state)
    return t >= w.end - 1e-13 * max(abs(w.end), 1.0)


@native
def reset_history(state: int) -> None:
    """Discard the history of steps and the derivative at the present state."""
    w = load_state(state)
    w.fresh = 0
    if w.forget != 0:
        call_entry(w.forget, state, w.time, 0, 0)

"""A run in machine code: steps, and samples taken from them.

Methods with variable steps take steps as long as they like; samples are taken within them from the continuous
extension, so that steps do not depend on how many are wanted (`advance_adaptive`). Fixed steps are equal parts of the
time between two samples, and end on them (`advance_fixed`).

A run is advanced in pieces: everything that must outlast a piece is in `StepState`, so that cutting a run into pieces
changes nothing in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import call_entry, native, view_rows
from core.simulation.stepping.sliding_modes import free_modes
from core.simulation.stepping.step_state import (
    ACCEPTED,
    BETWEEN,
    BUDGET,
    END,
    FINE,
    FRESH,
    JUMPED,
    LIMIT,
    LONGEST,
    MOST,
    NOT_FINITE,
    PART,
    PAUSED,
    PROJECTED,
    REACH,
    REJECTED,
    SAMPLE,
    SELF,
    SHORTEST,
    SLIDING,
    STAGES,
    STEP_OF,
    STIFF,
    SWITCH_STEP,
    TAKEN,
    TIME,
    TOO_MANY,
    WITHIN_OF,
    copy,
    derivative,
    held_short,
    load_state,
    project,
)


@native
def note_step(state: int, h: float) -> None:
    """Keep the longest and the shortest step."""
    w = load_state(state)
    w.numbers[LONGEST] = max(w.numbers[LONGEST], h)
    w.numbers[SHORTEST] = min(w.numbers[SHORTEST], h)


@native
def fixed_step(state: int, t: float, h: float) -> Any:
    """One step of a Runge–Kutta method without error estimate."""
    w = load_state(state)
    y, k = w.y, w.k
    for i in range(w.counts[STAGES]):
        for j in range(len(y)):
            x = 0.0
            for m in range(i):
                x += w.A[i, m] * k[m, j]
            w.new[j] = y[j] + h * x
        if not derivative(state, t + w.rows[1, i] * h, w.new, k[i]):
            return False
    for j in range(len(y)):
        x = 0.0
        for i in range(w.counts[STAGES]):
            x += w.rows[0, i] * k[i, j]
        y[j] += h * x
    return True


@native
def reach_sample(state: int, sample: int) -> Any:
    """Equal steps from one sample to the next, none longer than the limit."""
    w = load_state(state)
    begin, end = w.times[sample - 1], w.times[sample]
    parts = max(1, int(np.ceil((end - begin) / w.numbers[LIMIT] - 1e-9)))
    h = (end - begin) / parts
    nothing = w.failed[:0]
    while w.counts[PART] < parts:
        t = begin + w.counts[PART] * h
        w.numbers[TIME] = t
        if w.counts[ACCEPTED] >= w.counts[MOST]:
            return TOO_MANY
        if w.counts[BUDGET] <= 0:
            return PAUSED
        w.counts[BUDGET] -= 1
        if w.addresses[STEP_OF] != 0:
            w.numbers[TAKEN] = h
            well = call_entry(w.addresses[STEP_OF], w.addresses[SELF], t, 0, 0) == FINE
        else:
            well = fixed_step(state, t, h)
        if not well:
            copy(w.k[0], w.failed)
            return NOT_FINITE
        happened = project(state, t + h, w.y, nothing)
        if happened != FINE:
            return happened
        w.counts[ACCEPTED] += 1
        w.counts[PART] += 1
        note_step(state, h)
    w.numbers[TIME] = end
    w.counts[PART] = 0
    return FINE


@native
def finite(y: Any) -> Any:
    """True if all entries are finite numbers."""
    total = 0.0
    for x in y:
        total += x * 0.0
    return total == 0.0


@entry
def advance_fixed(state: int, place: int, rows: int) -> int:
    """Go on until the (rows, n) samples at an address are full, or the budget of steps is used up."""
    w = load_state(state)
    out = view_rows(place, rows, len(w.y))
    for row in range(rows):
        sample = w.counts[SAMPLE]
        if sample > 0:
            happened = reach_sample(state, sample)
            if happened != FINE:
                return happened
        if not finite(w.y):
            return NOT_FINITE
        copy(w.y, out[row])
        w.counts[SAMPLE] += 1
    return FINE


@native
def take_step(state: int) -> Any:
    """One step of the method; its end is in w.new, samples may be taken from it."""
    w = load_state(state)
    t = w.numbers[TIME]
    if w.counts[ACCEPTED] + w.counts[REJECTED] >= w.counts[MOST]:
        return TOO_MANY
    if w.counts[BUDGET] <= 0:
        return PAUSED
    if held_short(state):
        return STIFF
    w.counts[BUDGET] -= 1
    if w.addresses[SWITCH_STEP] != 0:
        happened = call_entry(w.addresses[SWITCH_STEP], w.addresses[SELF], t, 0, 0)
    else:
        happened = call_entry(w.addresses[STEP_OF], w.addresses[SELF], t, 0, 0)
        w.numbers[REACH] = t + w.numbers[TAKEN]
    if happened != FINE:
        return happened
    reach, end = w.numbers[REACH], w.numbers[END]
    note_step(state, reach - t)
    w.numbers[REACH] = end if reach >= end - 1e-14 * abs(end) else reach
    w.counts[BETWEEN] = 1
    return FINE


@entry
def advance_adaptive(state: int, place: int, rows: int) -> int:
    """Go on until the (rows, n) samples at an address are full. w.new and w.numbers[REACH] are the end of the step that
    samples are taken from; none is there before the first step: w.counts[BETWEEN] is then 0."""
    w = load_state(state)
    out, row = view_rows(place, rows, len(w.y)), 0
    # in turn: a sample, if one lies in the step there is; else the next step
    while row < rows:
        sample = w.counts[SAMPLE]
        t, reach, time = w.numbers[TIME], w.numbers[REACH], w.times[sample]
        if sample == 0 or (w.counts[BETWEEN] == 1 and time <= reach):
            if sample == 0:
                copy(w.y, out[row])
            elif time == reach:
                copy(w.new, out[row])
            else:
                theta, at = (time - t) / w.numbers[TAKEN], place + 8 * row * len(w.y)
                happened = call_entry(w.addresses[WITHIN_OF], w.addresses[SELF], theta, at, 0)
                if happened != FINE:
                    return happened
            if w.counts[SLIDING] > 0 and sample < len(w.slid):
                derivative(state, time, out[row], w.slid[sample])
                free_modes(state)
            row += 1
            w.counts[SAMPLE] += 1
            continue
        if w.counts[BETWEEN] == 1:
            # the step is used up: its end is the beginning of the next
            w.numbers[TIME] = reach
            copy(w.new, w.y)
            w.counts[BETWEEN] = 0
            known = w.counts[STAGES] > 1 and w.counts[PROJECTED] == 0 and w.counts[JUMPED] == 0
            w.counts[FRESH], w.counts[JUMPED] = 1 if known else 0, 0
            if w.counts[FRESH] == 1:  # the last stage is the first of the next step
                copy(w.k[w.counts[STAGES] - 1], w.k[0])
        happened = take_step(state)
        if happened != FINE:
            return happened
    return FINE

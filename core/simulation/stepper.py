"""Steps in time, in machine code: one text for all Runge–Kutta methods (Hairer, Nørsett, Wanner, Solving ODE I, II.4).

A run is advanced in pieces: everything that must outlast a piece is in `State`, so that cutting a run into pieces
changes nothing in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.simulation.equations import (
    FINE,
    KIND,
    NOT_FINITE,
    TORQUE,
    accelerations,
    derivative,
    project,
    rates,
    result,
)
from core.simulation.native import native

COLLAPSED, TOO_MANY, PAUSED = 3, 5, 6
"""More endings besides those of `equations`: the step became too small; the limit of steps is reached; the steps of
this piece are used up."""

SAFETY, SMALLEST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 10.0
BETA = 0.04
"""Weight of the error before in the choice of the step (PI control, Hairer II.4: steadier steps)."""

TIME, STEP, ERROR, END = 0, 1, 2, 3
"""Places in `State.numbers`: time, step to try next, error of the last accepted step, end of the run."""
ACCEPTED, REJECTED, CALLS, FRESH, SAMPLE = 0, 1, 2, 3, 4
"""Places in `State.counts`; FRESH: 1 if the first row of `k` holds f(t, y); SAMPLE: samples written so far."""
LONGEST, SHORTEST, REACH = 4, 5, 6
"""More places in `State.numbers`: longest and shortest accepted step, s; end of the step samples are taken from."""
BETWEEN, PART, BUDGET = 5, 6, 7
"""More places in `State.counts`: 1 while samples are taken from a step; fixed steps done since the last sample;
steps left in this piece."""


START: Any = np.int64(0)
"""The first stage."""


class Plan(NamedTuple):
    """What a run does not change."""

    A: Any
    rows: Any
    """(4, S): b, c, e, e_low of the tableau."""
    P: Any
    steps: int
    error_order: int
    adaptive: bool
    symplectic: bool
    rtol: float
    atol: float
    longest: float
    """Longest step, s (the step itself where it is fixed)."""
    most: int
    """Steps allowed."""
    times: Any
    """(n,) times of the samples, s."""


class State(NamedTuple):
    """What a run changes."""

    numbers: Any
    counts: Any
    y: Any
    k: Any
    """(S, nq + nv) stages."""
    failed: Any
    """(nq + nv,) scaled error, or derivative, of the step that failed."""


@native
def stages(s: Any, plan: Any, state: Any, first: int, last: int, t: float, h: float, point: Any) -> Any:
    """Stages first … last − 1 into state.k; `point` is the last point they were taken at."""
    n = len(state.y)
    k = state.k
    for i in range(first, last):
        for j in range(n):
            x = 0.0
            for m in range(i):
                x += plan.A[i, m] * k[m, j]
            point[j] = state.y[j] + h * x
        state.counts[CALLS] += 1
        if not derivative(s, t + plan.rows[1, i] * h, point, k[i]):
            return False
    return True


@native
def fixed_step(s: Any, plan: Any, state: Any, t: float, h: float, point: Any) -> Any:
    """One step of a method without error estimate."""
    y, k = state.y, state.k
    if plan.symplectic:
        # v ← v + h a(q, v), then q ← q + h N(q) v
        state.counts[CALLS] += 1
        if not derivative(s, t, y, k[0]):
            return False
        for j in range(s.nq, len(y)):
            y[j] += h * k[0, j]
        rates(s, y[: s.nq], y[s.nq :], point)
        for j in range(s.nq):
            y[j] += h * point[j]
        return True
    if not stages(s, plan, state, START, plan.steps, t, h, point):
        return False
    for j in range(len(y)):
        x = 0.0
        for i in range(plan.steps):
            x += plan.rows[0, i] * k[i, j]
        y[j] += h * x
    return True


@native
def error_of(plan: Any, state: Any, new: Any, h: float) -> Any:
    """Error of a step in units of what is allowed (root mean square); entries into state.failed."""
    n = len(new)
    high, low = 0.0, 0.0
    for j in range(n):
        e, e_low = 0.0, 0.0
        for i in range(plan.steps):
            e += plan.rows[2, i] * state.k[i, j]
            e_low += plan.rows[3, i] * state.k[i, j]
        scale = plan.atol + plan.rtol * max(abs(state.y[j]), abs(new[j]))
        state.failed[j] = h * e / scale
        high += (e / scale) ** 2
        low += (e_low / scale) ** 2
    if high == 0.0:
        return 0.0
    return h * high / np.sqrt((high + 0.01 * low) * n)


@native
def first_step(s: Any, plan: Any, state: Any, t: float, point: Any) -> Any:
    """A step to begin with, from f and its change over a small Euler step (Hairer II.4, starting step size)."""
    n = len(state.y)
    if n == 0:
        return plan.longest
    f = state.k[0]
    d0, d1, d2 = 0.0, 0.0, 0.0
    for j in range(n):
        scale = plan.atol + plan.rtol * abs(state.y[j])
        d0 += (state.y[j] / scale) ** 2
        d1 += (f[j] / scale) ** 2
    d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, plan.longest)
    other = np.empty(n)
    for j in range(n):
        point[j] = state.y[j] + h0 * f[j]
    state.counts[CALLS] += 1
    if not derivative(s, t + h0, point, other):
        return 1e-3 * h0
    for j in range(n):
        d2 += ((other[j] - f[j]) / (plan.atol + plan.rtol * abs(state.y[j]))) ** 2
    d2 = np.sqrt(d2 / n) / h0
    size = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3) if size <= 1e-15 else (0.01 / size) ** (1.0 / (plan.error_order + 1))
    return min(100.0 * h0, h1, plan.longest)


@native
def embedded_step(s: Any, plan: Any, state: Any, new: Any) -> Any:
    """One accepted step: (what happened, h). state.y is still the old point, `new` the new one."""
    t, end = state.numbers[TIME], state.numbers[END]
    power = 1.0 / (plan.error_order + 1)
    rejected, broken = False, False
    while True:
        h = min(state.numbers[STEP], plan.longest)
        # no sliver before the end
        if t + 1.01 * h >= end:
            h = end - t
        if not h > 1e-14 * max(abs(t), 1e-3):
            return (NOT_FINITE if broken else COLLAPSED), h
        well = stages(s, plan, state, START + 1, plan.steps, t, h, new)
        broken = not well
        error = error_of(plan, state, new, h) if well else np.inf
        if error <= 1.0:
            small = max(error, 1e-10)
            factor = SAFETY * small ** (0.75 * BETA - power) * max(state.numbers[ERROR], 1e-4) ** BETA
            factor = min(max(factor, SMALLEST_FACTOR), 1.0 if rejected else LARGEST_FACTOR)
            state.numbers[STEP] = h * factor
            state.numbers[ERROR] = error
            state.counts[ACCEPTED] += 1
            return FINE, h
        rejected = True
        state.counts[REJECTED] += 1
        if state.counts[REJECTED] + state.counts[ACCEPTED] >= plan.most:
            return TOO_MANY, h
        shrink = max(SMALLEST_FACTOR, SAFETY * error ** (-power)) if np.isfinite(error) else SMALLEST_FACTOR
        state.numbers[STEP] = h * shrink


@native
def within(s: Any, plan: Any, state: Any, theta: float, h: float, out: Any) -> Any:
    """The point at t + θ h from the continuous extension, on the manifold."""
    S, m = plan.P.shape
    out[:] = state.y
    for i in range(S):
        weight = 0.0
        for j in range(m - 1, -1, -1):
            weight = (weight + plan.P[i, j]) * theta
        for j in range(len(out)):
            out[j] += h * weight * state.k[i, j]
    return project(s, out)


@native
def note_step(state: Any, h: float) -> None:
    """Keep the longest and the shortest step."""
    state.numbers[LONGEST] = max(state.numbers[LONGEST], h)
    state.numbers[SHORTEST] = min(state.numbers[SHORTEST], h)


@native
def reach_sample(s: Any, plan: Any, state: Any, sample: int, point: Any) -> Any:
    """Equal steps from one sample to the next, none longer than the plan's."""
    begin, end = plan.times[sample - 1], plan.times[sample]
    parts = max(1, int(np.ceil((end - begin) / plan.longest - 1e-9)))
    h = (end - begin) / parts
    while state.counts[PART] < parts:
        t = begin + state.counts[PART] * h
        state.numbers[TIME] = t
        if state.counts[ACCEPTED] >= plan.most:
            return TOO_MANY
        if state.counts[BUDGET] <= 0:
            return PAUSED
        state.counts[BUDGET] -= 1
        if not fixed_step(s, plan, state, t, h, point):
            for j in range(len(point)):
                state.failed[j] = state.k[0, j]
            return NOT_FINITE
        happened = project(s, state.y)
        if happened != FINE:
            return happened
        state.counts[ACCEPTED] += 1
        state.counts[PART] += 1
        note_step(state, h)
    state.numbers[TIME] = end
    state.counts[PART] = 0
    return FINE


@native
def advance_fixed(s: Any, plan: Any, state: Any, out: Any) -> Any:
    """Go on until `out` (m, nq + nv) is full, or the budget of steps is used up."""
    point = np.empty(len(state.y))
    for row in range(len(out)):
        sample = state.counts[SAMPLE]
        if sample > 0:
            happened = reach_sample(s, plan, state, sample, point)
            if happened != FINE:
                return happened
        if not np.all(np.isfinite(state.y)):
            return NOT_FINITE
        out[row] = state.y
        state.counts[SAMPLE] += 1
    return FINE


@native
def advance_adaptive(s: Any, plan: Any, state: Any, out: Any, since: Any) -> Any:
    """Go on until `out` is full. `since` (nq + nv,) and the stages keep the step that samples are taken from:
    state.numbers[REACH] is its end, none before the first step: state.counts[BETWEEN] is then 0."""
    row = 0
    new = np.empty(len(state.y))
    while row < len(out):
        sample = state.counts[SAMPLE]
        t, reach, time = state.numbers[TIME], state.numbers[REACH], plan.times[sample]
        if sample == 0 or (state.counts[BETWEEN] == 1 and time <= reach):
            if sample == 0:
                out[row] = state.y
            elif time == reach:
                out[row] = since
            else:
                happened = within(s, plan, state, (time - t) / (reach - t), reach - t, out[row])
                if happened != FINE:
                    return happened
            row += 1
            state.counts[SAMPLE] += 1
            continue
        if state.counts[BETWEEN] == 1:
            # the step is used up: its end is the beginning of the next
            state.numbers[TIME] = reach
            state.y[:] = since
            state.counts[BETWEEN] = 0
            state.counts[FRESH] = 0 if (s.rows > 0 or len(s.quaternions) > 0) else 1
            if state.counts[FRESH] == 1:
                state.k[0] = state.k[plan.steps - 1]
        happened = take_step(s, plan, state, new)
        if happened != FINE:
            return happened
        since[:] = new
    return FINE


@native
def take_step(s: Any, plan: Any, state: Any, new: Any) -> Any:
    """One step with its continuous extension; its end, on the manifold, into `new`."""
    t = state.numbers[TIME]
    if state.counts[FRESH] == 0:
        state.counts[CALLS] += 1
        if not derivative(s, t, state.y, state.k[0]):
            state.failed[:] = state.k[0]
            return NOT_FINITE
        state.counts[FRESH] = 1
    if state.numbers[STEP] <= 0.0:
        state.numbers[STEP] = first_step(s, plan, state, t, new)
    if state.counts[ACCEPTED] + state.counts[REJECTED] >= plan.most:
        return TOO_MANY
    if state.counts[BUDGET] <= 0:
        return PAUSED
    state.counts[BUDGET] -= 1
    happened, h = embedded_step(s, plan, state, new)
    if happened != FINE:
        return happened
    extra = len(plan.A)
    if extra > plan.steps and plan.times[state.counts[SAMPLE]] < t + h:
        scratch = np.empty(len(new))
        if not stages(s, plan, state, plan.steps, extra, t, h, scratch):
            return NOT_FINITE
    note_step(state, h)
    end = state.numbers[END]
    state.numbers[REACH] = end if t + h >= end - 1e-14 * abs(end) else t + h
    happened = project(s, new)
    state.counts[BETWEEN] = 1 if happened == FINE else 0
    return happened


@native
def sampled_accelerations(s: Any, times: Any, states: Any, out: Any, forces: Any) -> Any:
    """a and τ at every sample; the number of samples with a result that is not finite."""
    bad = 0
    for k in range(len(times)):
        if not accelerations(s, times[k], states[k], out[k]):
            bad += 1
        u = result(s, TORQUE, s.nv) if s.words[TORQUE, KIND] != 0 else s.u
        for i in range(s.nv):
            forces[k, i] = u[i]
    return bad

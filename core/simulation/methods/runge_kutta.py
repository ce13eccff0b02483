"""Embedded Runge–Kutta pairs with continuous extensions: one text for all tableaux (Hairer, Nørsett, Wanner, Solving
ODE I, II.4–II.6).

1. Stages k_i = f(t + c_i h, y + h Σ_{j<i} a_ij k_j). The last of them is taken at the end of the step, a_sj = b_j, and
   is the first of the next step, unless projection or an event changes the state.
2. The difference of the pair's two formulas, h Σ e_i k_i, estimates the error; the end of the step is projected onto
   the manifold, and what projection takes away anyhow is taken off the estimate.
3. Its size is a root mean square in units of atol + rtol max(|y|, |y_new|). Up to 1 the step is accepted, and the next
   has 0.9 h err^(−1/p + 0.75 β) err_before^β with p the power of the estimate (PI control).
4. Else the step may end at an event, or is tried again with 0.9 h err^(−1/p).
5. Now and then h |λ| is estimated from the last two stages, both taken at the end of the step: the change of f between
   them as a part of their distance (IV.2; speeds count h times, so that what swings fast without damping is no more
   than ω h). Where that lies beyond the stability of the method in step after step, the machine is stiff.
6. Values within are y + h Σ_i k_i Σ_j P_ij θ^(j+1), projected; some methods take more stages for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.machine_code.entry import entry
from core.simulation.machine_code.language import merged, native, scratch, view
from core.simulation.methods.tableaux import tableau
from core.simulation.stepping.step_state import (
    ACCEPTED,
    END,
    ERROR,
    FINE,
    FRESH,
    LIMIT,
    MODES_FIXED,
    MOST,
    NOT_FINITE,
    OTHER_EVIDENCE,
    OTHER_STEPS,
    REJECTED,
    SAMPLE,
    SPEEDS,
    STABILITY,
    STAGES,
    STEP,
    STEP_OF,
    STEP_UNDERFLOW,
    STEPS,
    STIFF_EVIDENCE,
    STIFF_STEPS,
    SWITCHED,
    TAKEN,
    TIME,
    TOLD,
    TOO_MANY,
    WITHIN_OF,
    copy,
    derivative,
    first_step,
    load_state,
    method_parts,
    note_failure,
    project,
    refused,
    scaled_norm,
    too_small,
)

SAFETY, SMALLEST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 10.0
WATCHED_STEP = 32
"""Every which step is looked at, while nothing speaks for stiffness."""
BETA = 0.04
"""Weight of the error before in the choice of the step (PI control, Hairer II.4: steadier steps)."""


@merged
def add_rows(k: Any, weights: Any, count: int, h: float, y: Any, out: Any) -> None:
    """out ← y + h Σ_m weights_m k_m over the first rows of k: four sums at a time, which do not wait for one another,
    and few are written before they are whole."""
    n = len(out)
    whole = n - n % 4
    for j in range(0, whole, 4):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for m in range(count):
            x = weights[m]
            a += x * k[m, j]
            b += x * k[m, j + 1]
            c += x * k[m, j + 2]
            d += x * k[m, j + 3]
        out[j] = y[j] + h * a
        out[j + 1] = y[j + 1] + h * b
        out[j + 2] = y[j + 2] + h * c
        out[j + 3] = y[j + 3] + h * d
    for j in range(whole, n):
        a = 0.0
        for m in range(count):
            a += weights[m] * k[m, j]
        out[j] = y[j] + h * a


@native
def stages(state: int, first: int, last: int, t: float, h: float, point: Any) -> Any:
    """Stages first … last − 1 into w.k; `point` is the last point they were taken at."""
    w = load_state(state)
    for i in range(first, last):
        add_rows(w.k, w.A[i], i, h, w.y, point)
        if not derivative(state, t + w.rows[1, i] * h, point, w.k[i]):
            return False
    return True


@native
def error_of(state: int, h: float, e: Any, e_low: Any) -> None:
    """The error estimates of a step, (n,) each."""
    w = load_state(state)
    e[:] = 0.0
    e_low[:] = 0.0
    add_rows(w.k, w.rows[2], w.counts[STAGES], h, e, e)
    add_rows(w.k, w.rows[3], w.counts[STAGES], h, e_low, e_low)


@native
def weighed(state: int, e: Any, e_low: Any) -> Any:
    """Size of the error in units of what is allowed (Hairer II.10.1 where there are two estimates)."""
    w = load_state(state)
    high, low = scaled_norm(state, e, w.y, w.new), scaled_norm(state, e_low, w.y, w.new)
    note_failure(state, e, w.new)
    if high == 0.0:
        return 0.0
    return high * high / np.sqrt(high * high + 0.01 * low * low)


@native
def accept(state: int, h: float, error: float, rejected: int) -> None:
    """Note an accepted step and choose the next."""
    w = load_state(state)
    power = 1.0 / w.counts[STEPS]
    factor = SAFETY * max(error, 1e-10) ** (0.75 * BETA - power) * max(w.numbers[ERROR], 1e-4) ** BETA
    w.numbers[STEP] = h * min(max(factor, SMALLEST_FACTOR), 1.0 if rejected else LARGEST_FACTOR)
    w.numbers[ERROR] = error
    w.numbers[TAKEN] = h
    w.counts[ACCEPTED] += 1


@native
def watch_stiffness(state: int, h: float, point: Any, other: Any) -> None:
    """Count accepted steps that stability held short; point, other : (n,) room."""
    w = load_state(state)
    counts, last = w.counts, w.counts[STAGES] - 1
    suspected = counts[STIFF_STEPS] > 0 and counts[STIFF_STEPS] < STIFF_EVIDENCE
    if w.numbers[STABILITY] == 0.0 or counts[STIFF_STEPS] == TOLD:
        return
    if not (suspected or counts[ACCEPTED] % WATCHED_STEP == 0):
        return
    add_rows(w.k, w.A[last - 1], last - 1, h, w.y, point)
    add_rows(w.k, w.A[last], last, h, w.y, other)
    distance, change = 0.0, 0.0
    for j in range(len(w.y)):
        weight = 1.0 if j < counts[SPEEDS] else h * h
        distance += weight * (other[j] - point[j]) ** 2
        change += weight * (h * (w.k[last, j] - w.k[last - 1, j])) ** 2
    if change > w.numbers[STABILITY] ** 2 * distance:
        counts[STIFF_STEPS] = min(counts[STIFF_STEPS] + 1, STIFF_EVIDENCE)
        counts[OTHER_STEPS] = 0
    elif counts[STIFF_STEPS] > 0:
        counts[OTHER_STEPS] += 1
        if counts[OTHER_STEPS] >= OTHER_EVIDENCE:
            counts[STIFF_STEPS] = 0


@native
def embedded_step(state: int, e: Any, e_low: Any) -> Any:
    """One accepted step from w.y to w.new, on the manifold."""
    w = load_state(state)
    t, end = w.numbers[TIME], w.numbers[END]
    rejected, happened = 0, FINE
    while True:
        h = min(w.numbers[STEP], w.numbers[LIMIT])
        if t + 1.01 * h >= end:  # no sliver before the end
            h = end - t
        if too_small(t, h):  # whatever refused the longer ones is the reason
            return STEP_UNDERFLOW if happened == FINE else happened
        happened = FINE if stages(state, 1, w.counts[STAGES], t, h, w.new) else NOT_FINITE
        error = np.inf
        if happened == FINE:
            error_of(state, h, e, e_low)
            happened = project(state, t + h, w.new, e)
        if happened == FINE:
            error = weighed(state, e, e_low)
        if error <= 1.0:
            accept(state, h, error, rejected)
            watch_stiffness(state, h, e, e_low)
            return FINE
        rejected = 1
        w.counts[REJECTED] += 1
        if w.counts[REJECTED] + w.counts[ACCEPTED] >= w.counts[MOST]:
            return TOO_MANY
        if refused(state, t, h, happened):
            return SWITCHED
        shrink = SMALLEST_FACTOR
        if error < np.inf:
            shrink = max(shrink, SAFETY * error ** (-1.0 / w.counts[STEPS]))
        w.numbers[STEP] = h * shrink


@entry
def step_entry(state: int, t: float, first: int, second: int) -> int:
    """One step with its continuous extension."""
    w = load_state(state)
    n = len(w.y)
    e, e_low = scratch(n), scratch(n)
    if w.counts[FRESH] == 0:
        if not derivative(state, t, w.y, w.k[0]):
            copy(w.k[0], w.failed)
            return NOT_FINITE
        w.counts[FRESH] = 1
    if w.numbers[STEP] <= 0.0:
        w.numbers[STEP] = first_step(state, t, w.k[0], float(w.counts[STEPS]), e, e_low)
    happened: int = embedded_step(state, e, e_low)
    if happened != FINE:
        return happened
    h, extra = w.numbers[TAKEN], len(w.A)
    # the stages of the continuous extension, where a sample or the search for events needs it
    if extra > w.counts[STAGES] and (w.times[w.counts[SAMPLE]] < t + h or w.counts[MODES_FIXED] == 1):
        happened = FINE if stages(state, w.counts[STAGES], extra, t, h, e) else NOT_FINITE
    return happened


@entry
def within_entry(state: int, theta: float, out: int, second: int) -> int:
    """The point at t + θ h from the continuous extension, on the manifold."""
    w = load_state(state)
    n, h = len(w.y), w.numbers[TAKEN]
    point = view(out, n)
    S, m = w.P.shape
    copy(w.y, point)
    for i in range(S):
        weight = 0.0
        for j in range(m - 1, -1, -1):
            weight = (weight + w.P[i, j]) * theta
        for j in range(n):
            point[j] += h * weight * w.k[i, j]
    result: int = project(state, w.numbers[TIME] + theta * h, point, w.failed[:0])
    return result


def begin(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    """Addresses of the entries, and the room of a run of n numbers that begins; counts are set."""
    table = tableau(method)
    counts[[STAGES, STEPS]] = table.steps, table.error_order + 1
    if table.e.any():
        addresses[STEP_OF] = step_entry.address
        addresses[WITHIN_OF] = within_entry.address
    rows = np.stack([table.b, table.c, table.e, table.e_low])
    return method_parts(n, len(table.A), (table.A, rows, table.P))

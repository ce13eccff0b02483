"""What a step works on, and how it calls the equations of motion: by address, so that a method is compiled once for
all machines, alone, when it is first chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.machine_code.language import address_of, call_entry, loader, merged, native
from core.simulation.machine_code.records import ComplexRows, FloatRows, Floats, IntRows, Ints, Record

FINE, NOT_FINITE, STEP_UNDERFLOW, DRIFTED, TOO_MANY, PAUSED, SWITCHED, STIFF = 0, 2, 3, 4, 5, 6, 7, 8
"""What a call says: all is well; a result is not a finite number; the step became too small; loops have drifted
open; the limit of steps is reached; the steps of this piece are used up; a step was refused because of an event
(`core.simulation.stepping.event_location`); the machine proved stiff for an explicit method, which could go on."""

DERIVATIVE, PROJECT, JACOBIAN, IMPULSE, STEP_OF, WITHIN_OF, SYSTEM, SELF, SWITCH_STEP, REFUSED, SLIDE = range(11)
"""`StepState.addresses`: entries of `core.simulation.equations.entry_points` and of the method; where `System`
and `StepState` are stored; entries of `core.simulation.stepping.event_location`, 0 where no indicators are."""

TIME, STEP, ERROR, END, LONGEST, SHORTEST, REACH, TAKEN, RTOL, ATOL, LIMIT, LAST_STEP, LAST_ERROR = range(13)
"""`StepState.numbers`: time; step to try next; error of the last accepted step; end of the run; longest and shortest
accepted step; end of the step samples are taken from; its length; tolerances; longest step allowed, s; length and
error of the step before (of methods that look back)."""

ACCEPTED, REJECTED, CALLS, FRESH, SAMPLE, BETWEEN, PART, BUDGET, MOST, STAGES, STEPS = range(11)
"""`StepState.counts`: steps; evaluations; 1 if the first row of `k` holds f(t, y); samples written; 1 while samples are
taken from a step; fixed steps done since the last sample; steps left in this piece; steps allowed; stages to step;
power of the error estimate + 1."""
JACOBIANS, FACTORISATIONS, PROJECTED, ORDER, RAISED, DELAY, ROUNDS = range(11, 18)
"""More `StepState.counts`: Jacobians; factorisations; 1 if projection may change the state; state of methods that look
back: order, 1 while it is being raised, steps until it may change; rounds of the last iteration."""
MODES_FIXED, PLAIN, JUMPED, TURNED, SLIDING = range(27, 32)
"""Of events: 1 while mode variables are fixed; steps to be taken without; 1 if the last step ended at an event; events
at the very beginning of this one; switching surfaces on which the machine slides."""
USED, NOTHING = 18, -2
"""Of methods that look back: order of the step samples are taken from; that there is none to go on from."""
RENEWED = 32
"""Of implicit methods: 0 if the Jacobian must be taken anew."""
STIFF_STEPS, OTHER_STEPS, SPEEDS = 33, 34, 35
"""Of explicit methods: steps that stability held short, TOLD once that was said; others since; where the speeds begin
in y."""
TOLD = -1
STABILITY = 14
"""Place in `StepState.numbers`: h |λ| at which stability ends; 0: not looked at."""
NUMBERS, COUNTS = 16, 36
STIFF_EVIDENCE, OTHER_EVIDENCE = 15, 6
"""Steps held short by stability that prove a machine stiff; steps in a row that are not so, which refute it."""
MANY_STEPS = 50_000
"""Steps still to go from which on stiffness matters: fewer take less time than it takes to do anything about it."""


class StepState(Record):
    """All that a run changes, and the coefficients of its method. n: length of y = (q, v)."""

    addresses: Ints
    numbers: Floats
    counts: Ints
    y: Floats
    new: Floats
    """(n,) the end of the step samples are taken from."""
    failed: Floats
    """(n,) scaled error, or derivative, of the step that failed."""
    k: FloatRows
    """(rows, n) stages, or whatever the method keeps for each entry of y."""
    A: FloatRows
    rows: FloatRows
    P: FloatRows
    """Coefficients, see `core.simulation.methods.tableaux`."""
    past: Floats
    """Times, newest first, of methods that look back."""
    square: FloatRows
    """(2 n, n) Jacobian, and its factors, of implicit methods; otherwise empty."""
    complexes: ComplexRows
    """(n + 1, n) factors and right-hand side, complex, of implicit methods; otherwise empty."""
    pivots: IntRows
    """(2, n) of implicit methods; otherwise empty."""
    times: Floats
    """(m,) times of the samples, s."""
    events: FloatRows
    """(6, indicators), see `core.simulation.stepping.sliding_modes`."""
    slid: FloatRows
    """(m, n) ẏ at samples on switching surfaces, other rows not finite; (0, 0) without indicators."""


load_state = loader(StepState)


@merged
def derivative(state: int, t: float, y: Any, out: Any) -> Any:
    """ẏ into out; false if it is not finite."""
    w = load_state(state)
    w.counts[CALLS] += 1
    if w.counts[SLIDING] > 0:
        return call_entry(w.addresses[SLIDE], w.addresses[SELF], t, address_of(y), address_of(out)) == FINE
    return call_entry(w.addresses[DERIVATIVE], w.addresses[SYSTEM], t, address_of(y), address_of(out)) == FINE


@native
def project(state: int, t: float, y: Any, error: Any) -> Any:
    """y onto the manifold; of an error (n,), if one is given, what the manifold leaves. FINE, NOT_FINITE or DRIFTED."""
    w = load_state(state)
    if w.counts[PROJECTED] == 0:
        return FINE
    place = address_of(error) if len(error) > 0 else 0
    return call_entry(w.addresses[PROJECT], w.addresses[SYSTEM], t, address_of(y), place)


@merged
def copy(source: Any, target: Any) -> None:
    """target ← source, (n,)."""
    for j in range(len(target)):
        target[j] = source[j]


@native
def refused(state: int, t: float, h: float, happened: int) -> Any:
    """Whether a step from w.y to w.new was refused because of an event that can be located."""
    w = load_state(state)
    if w.addresses[REFUSED] == 0:
        return False
    w.numbers[TAKEN] = h
    return call_entry(w.addresses[REFUSED], w.addresses[SELF], t, happened, 0) == 1


@native
def take_back(state: int) -> None:
    """The step taken has not been; it is tried again with its length."""
    w = load_state(state)
    w.counts[ACCEPTED] -= 1
    w.counts[REJECTED] += 1
    w.numbers[STEP], w.numbers[LAST_STEP], w.numbers[LAST_ERROR] = w.numbers[TAKEN], 0.0, 0.0
    if w.counts[ORDER] > 0:
        for j in range(len(w.past) - 1):
            w.past[j] = w.past[j + 1]
        w.counts[ORDER], w.counts[USED], w.counts[RAISED] = w.counts[USED], NOTHING, 0
        w.counts[DELAY] = max(w.counts[DELAY] - 1, 0)


@native
def held_short(state: int) -> Any:
    """Whether stability holds the steps so short that very many are left to go."""
    w = load_state(state)
    return w.counts[STIFF_STEPS] >= STIFF_EVIDENCE and w.numbers[END] - w.numbers[TIME] > MANY_STEPS * w.numbers[TAKEN]


@native
def begin_anew(state: int) -> None:
    """What was known of the past, and of f at the state, holds no more."""
    w = load_state(state)
    w.counts[FRESH] = 0
    if w.counts[ORDER] > 0:
        w.counts[ORDER], w.numbers[STEP] = 0, 0.0


@native
def scaled_norm(state: int, x: Any, y: Any, new: Any) -> Any:
    """Root mean square of x in units of what the tolerances allow between y and new."""
    w = load_state(state)
    n = len(x)
    total = 0.0
    for j in range(n):
        scale = w.numbers[ATOL] + w.numbers[RTOL] * max(abs(y[j]), abs(new[j]))
        total += (x[j] / scale) ** 2
    return np.sqrt(total / max(n, 1))


@native
def note_failure(state: int, x: Any, new: Any) -> None:
    """Keep the entries of an error for the message, in units of what is allowed."""
    w = load_state(state)
    for j in range(len(x)):
        w.failed[j] = x[j] / (w.numbers[ATOL] + w.numbers[RTOL] * max(abs(w.y[j]), abs(new[j])))


@native
def first_step(state: int, t: float, f: Any, order: float, point: Any, other: Any) -> Any:
    """A step to begin with, from f and its change over a small Euler step (Hairer II.4, starting step size).

    point, other : (n,) room for a state and its derivative
    """
    w = load_state(state)
    n = len(w.y)
    longest = min(w.numbers[LIMIT], w.numbers[END] - t)
    if n == 0:
        return longest
    d0, d1 = scaled_norm(state, w.y, w.y, w.y), scaled_norm(state, f, w.y, w.y)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, longest)
    for j in range(n):
        point[j] = w.y[j] + h * f[j]
    if not derivative(state, t + h, point, other):
        return min(h, longest)
    for j in range(n):
        other[j] -= f[j]
    largest = max(d1, scaled_norm(state, other, w.y, w.y) / h)
    h1 = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
    return min(min(100.0 * h, h1), longest)


@native
def too_small(t: float, h: float) -> Any:
    """True if a step can hardly be told from the time it begins at."""
    return not h > 1e-14 * max(abs(t), 1e-3)


def method_parts(n: int, rows: int, table: Any = None) -> list[Any]:
    """k, A, rows, P, past, square, complexes, pivots of `StepState`, of a method that needs k only.

    rows : of k; table : A, rows, P of a Runge–Kutta method
    """
    none = np.zeros((1, 1))
    A, coefficients, P = (none, none, none) if table is None else table
    return [
        np.zeros((rows, n)),
        A,
        coefficients,
        P,
        np.zeros(16),
        none,
        np.zeros((1, 1), dtype=complex),
        np.zeros((1, 1), dtype=np.int64),
    ]

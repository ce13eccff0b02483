"""What a step works on, and how it calls the equations of motion: by address, so that a method is compiled once for
all machines, alone, when it is first chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.machine_code.language import address_of, call_entry, loader, merged, native
from core.simulation.machine_code.records import Fixed, FloatRows, Floats, Record
from core.simulation.stepping.outcome import FINE

LEAST_FIRST = 100.0
"""Of times that end at once: how long the first step is at least. A state that is but rounding says nothing of it."""
LOOKS_AHEAD, LONGER = 3, 100.0
"""Euler steps from which the first step is chosen; how much longer than they it is at most, and the next of them."""
TOLD = -1
"""`StepState.stiff_steps` once it was said that the machine is stiff."""
STIFF_EVIDENCE, OTHER_EVIDENCE = 15, 6
"""Steps held short by stability that prove a machine stiff; steps in a row that are not so, which refute it."""
MANY_STEPS = 50_000
"""Steps still to go from which on stiffness matters: fewer take less time than it takes to do anything about it."""


NOTHING = np.zeros((1, 1))


class StepState(Record):
    """All that a run changes, and the coefficients of its method. A method that keeps more derives a class of its own.

    n: length of y = (q, v, x). Entries are addresses, 0 where there is none.
    """

    system: Fixed
    """Address of the `System`."""
    derivative: Fixed
    project: Fixed
    jacobian: Fixed = 0
    impulse: Fixed = 0
    """Entries of `core.simulation.equations.entry_points`."""
    step_of: Fixed = 0
    within_of: Fixed = 0
    extend_of: Fixed = 0
    taken_back: Fixed = 0
    forget: Fixed = 0
    """Entries of the method: one step; a value within it; stages that values within need on top of those of the step
    (0: none); what to do where a step has not been, and where nothing that was known of the past holds any more."""
    switch_step: Fixed = 0
    refused: Fixed = 0
    slide: Fixed = 0
    """Entries of `core.simulation.stepping.event_location`, where there are indicators."""
    plain_step: int = 0
    parts_of: int = 0
    """Where rows have modes (`core.simulation.stepping.modal_steps`): the step that they end, and the entry of fixed
    ones (`core.simulation.stepping.fixed_modal_steps`)."""
    log: int = 0
    keep_of: int = 0
    """What they do is written down there, by this entry (`core.simulation.stepping.mode_log`)."""
    pending: int = -3
    """A change of modes that the next step begins with."""
    stages: Fixed
    """Of a step."""
    error_power: Fixed = 0
    """Power of the error estimate + 1."""
    speeds: Fixed
    """Where the speeds begin in y."""
    most: int
    """Steps allowed."""
    end: float
    """Of the run, s."""
    limit: float
    """Longest step allowed, s."""
    rtol: float
    atol: float
    stability: float
    """h |λ| at which stability ends; 0: not looked at."""
    time: float
    step: float = 0.0
    """The step to try next, s."""
    reach: float = 0.0
    """End of the step that samples are taken from, s."""
    taken: float = 0.0
    """Its length, s."""
    error: float = 1e-4
    """Of the last accepted step."""
    last_step: float = 0.0
    last_error: float = 0.0
    """Length and error of the step before, of methods that look back; 0: there is none."""
    longest: float = 0.0
    shortest: float = np.inf
    """Accepted steps, s."""
    accepted: int = 0
    rejected: int = 0
    """Steps."""
    calls: int = 0
    """Evaluations."""
    jacobians: int = 0
    factorisations: int = 0
    sample: int = 0
    """Samples written."""
    between: int = 0
    """1 while samples are taken from a step."""
    part: int = 0
    """Fixed steps done since the last sample."""
    budget: int = 0
    """Steps left in this piece."""
    fresh: int = 0
    """1 if the first row of `k` holds f(t, y)."""
    renewed: int = 0
    """Of implicit methods: 0 if the Jacobian must be taken anew."""
    projected: int
    """1 if projection may change the state."""
    modes_fixed: int = 0
    """1 while mode variables are fixed."""
    plain_steps: int = 0
    """Steps to be taken with free modes."""
    jumped: int = 0
    """1 if the last step ended at an event."""
    turned: int = 0
    """Events at the very beginning of this step."""
    sliding: int = 0
    """Switching surfaces on which the machine slides."""
    stiff_steps: int = 0
    other_steps: int = 0
    """Of explicit methods: steps that stability held short (TOLD: it was said); others since."""
    y: Floats
    new: Floats
    """(n,) the end of the step samples are taken from."""
    failed: Floats
    """(n,) scaled error, or derivative, of the step that failed."""
    k: FloatRows
    """(rows, n) stages, or whatever the method keeps for each entry of y."""
    A: FloatRows = NOTHING
    rows: FloatRows = NOTHING
    P: FloatRows = NOTHING
    """Coefficients, see `core.simulation.methods.tableaux`."""
    times: Floats
    """(m,) times of the samples, s."""
    events: FloatRows
    """(6, indicators), see `core.simulation.stepping.sliding_modes`."""
    slid: FloatRows
    """(samples made at once, n) ẏ at those on switching surfaces, other rows not finite; (0, 0) without indicators."""


load_state = loader(StepState)


@merged
def derivative(state: int, t: float, y: Any, out: Any) -> Any:
    """ẏ into out; false if it is not finite."""
    w = load_state(state)
    w.calls += 1
    if w.sliding > 0:
        return call_entry(w.slide, state, t, address_of(y), address_of(out)) == FINE
    return call_entry(w.derivative, w.system, t, address_of(y), address_of(out)) == FINE


@native
def project(state: int, t: float, y: Any, error: Any) -> Any:
    """y onto the manifold; of an error (n,), if one is given, what the manifold leaves. FINE, NOT_FINITE or DRIFTED."""
    w = load_state(state)
    if w.projected == 0:
        return FINE
    place = address_of(error) if len(error) > 0 else 0
    return call_entry(w.project, w.system, t, address_of(y), place)


@merged
def copy(source: Any, target: Any) -> None:
    """target ← source, (n,)."""
    for j in range(len(target)):
        target[j] = source[j]


@native
def refused(state: int, t: float, h: float, happened: int) -> Any:
    """Whether a step from w.y to w.new was refused because of an event that can be located."""
    w = load_state(state)
    if w.refused == 0:
        return False
    w.taken = h
    return call_entry(w.refused, state, t, happened, 0) == 1


@native
def take_back(state: int) -> None:
    """The step taken has not been; it is tried again with its length."""
    w = load_state(state)
    w.accepted -= 1
    w.rejected += 1
    w.step, w.last_step, w.last_error = w.taken, 0.0, 0.0
    if w.taken_back != 0:
        call_entry(w.taken_back, state, w.time, 0, 0)


@native
def again(state: int, h: float) -> Any:
    """The step taken once more, with the length h."""
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
def held_short(state: int) -> Any:
    """Whether stability holds the steps so short that very many are left to go."""
    w = load_state(state)
    return w.stiff_steps >= STIFF_EVIDENCE and w.end - w.time > MANY_STEPS * w.taken


@native
def begin_anew(state: int) -> None:
    """What was known of the past, and of f at the state, holds no more."""
    w = load_state(state)
    w.fresh = 0
    if w.forget != 0:
        call_entry(w.forget, state, w.time, 0, 0)


@native
def scaled_norm(state: int, x: Any, y: Any, new: Any) -> Any:
    """Root mean square of x in units of what the tolerances allow between y and new."""
    w = load_state(state)
    n = len(x)
    total = 0.0
    for j in range(n):
        scale = w.atol + w.rtol * max(abs(y[j]), abs(new[j]))
        total += (x[j] / scale) ** 2
    return np.sqrt(total / max(n, 1))


@native
def note_failure(state: int, x: Any, new: Any) -> None:
    """Keep the entries of an error for the message, in units of what is allowed."""
    w = load_state(state)
    for j in range(len(x)):
        w.failed[j] = x[j] / (w.atol + w.rtol * max(abs(w.y[j]), abs(new[j])))


@native
def at_rest(state: int) -> Any:
    """Whether nothing moves."""
    w = load_state(state)
    for j in range(w.speeds, len(w.y)):
        if w.y[j] != 0.0:
            return False
    return True


@native
def first_step(state: int, t: float, f: Any, order: float, point: Any, other: Any) -> Any:
    """A step to begin with, from f and its change over a small Euler step (Hairer II.4, starting step size), which is
    taken again, longer, of what begins at rest: its speeds are nothing, and say nothing of it.

    point, other : (n,) room for a state and its derivative
    """
    w = load_state(state)
    n = len(w.y)
    longest = min(w.limit, w.end - t)
    if n == 0:
        return longest
    d0, d1 = scaled_norm(state, w.y, w.y, w.y), scaled_norm(state, f, w.y, w.y)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else max(0.01 * d0 / d1, LEAST_FIRST * least_time(t))
    h = first = min(h, longest)
    for _ in range(LOOKS_AHEAD if at_rest(state) else 1):
        for j in range(n):
            point[j] = w.y[j] + h * f[j]
        if not derivative(state, t + h, point, other):
            break
        for j in range(n):
            other[j] -= f[j]
        largest = max(d1, scaled_norm(state, other, w.y, w.y) / h)
        h1 = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
        first = min(min(LONGER * h, h1), longest)
        h *= LONGER
        if first < h:
            break
    return first


@native
def least_time(t: float) -> float:
    """s: what ends sooner after t ends at once."""
    return 1e-14 * max(abs(t), 1.0)


@native
def too_small(t: float, h: float) -> Any:
    """True if a step can hardly be told from the time it begins at."""
    return not h > 1e-14 * max(abs(t), 1e-3)

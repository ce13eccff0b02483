"""State of the step loop, and its calls of the equations of motion: by address, so that each method is compiled once
for all machines, and only when it is first chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import address_of, call_entry, loader, merged, native
from core.machine_code.outcome import FINE
from core.machine_code.records import Fixed, FloatRows, Floats, Record

LEAST_FIRST = 100.0
"""Smallest first step, as a multiple of the shortest resolvable time. At a state that consists of rounding errors only,
the error estimate is meaningless."""
LOOKS_AHEAD, LONGER = 3, 100.0
"""Number of trial Euler steps for choosing the first step; largest factor from one to the next, and to the first step.
"""
TOLD = -1
"""Value of `StepState.stiff_steps` once stiffness has been reported."""
STIFF_EVIDENCE, OTHER_EVIDENCE = 15, 6
"""Number of stability-limited steps that prove a machine stiff; number of consecutive other steps that refute it."""


NOTHING = np.zeros((1, 1))


class StepState(Record):
    """State of a run in machine code and the coefficients of its method. Methods that need more derive a class from it.

    n: length of y = (q, v, x). Entries are addresses, 0 where there is none.
    """

    system: Fixed
    """Address of the `System`."""
    derivative: Fixed
    project: Fixed
    jacobian: Fixed = 0
    impulse: Fixed = 0
    """Addresses of functions of `core.simulation.equations.entry_points`."""
    step_of: Fixed = 0
    within_of: Fixed = 0
    extend_of: Fixed = 0
    taken_back: Fixed = 0
    forget: Fixed = 0
    """Addresses of the method's functions: take a step; interpolate within it; compute additional stages for
    interpolation (0: none); undo a step; forget the history."""
    switch_step: Fixed = 0
    refused: Fixed = 0
    slide: Fixed = 0
    """Addresses of functions of `core.simulation.events.event_location`, if there are event indicators."""
    plain_step: int = 0
    parts_of: int = 0
    """For contact rows (`core.simulation.events.contact_steps`): the step function without contact events, and the
    function for fixed steps (`core.simulation.events.fixed_contact_steps`)."""
    log: int = 0
    keep_of: int = 0
    """Address of the log of contact rows, and of the function that writes it (`core.simulation.events.contact_log`)."""
    pending: int = -3
    """Contact change with which the next step begins."""
    stages: Fixed
    """Number of stages of a step."""
    error_power: Fixed = 0
    """Order of the error estimate + 1."""
    speeds: Fixed
    """Index of the first speed in y."""
    most: int
    """Largest number of steps."""
    end: float
    """End of the run, or of its part until sampled laws are evaluated, s."""
    stops: int = 0
    """1 if sampled laws are evaluated at `end`."""
    samples: int = 0
    sample_of: int = 0
    begins_of: int = 0
    """Addresses of the sampled signals, of the function that evaluates them (`core.simulation.events.sampled_signals`),
    and of the one that determines contact states after that."""
    resumed: float = -np.inf
    """Fixed steps: time at which sampled laws were last evaluated, s."""
    made: int = 0
    """Number of samples of this piece before the host was last called for sampled laws."""
    limit: float
    """Longest allowed step, s."""
    rtol: float
    atol: float
    stability: float
    """Stability limit h |λ|; 0: stiffness is not detected."""
    time: float
    step: float = 0.0
    """Next step size to try, s."""
    reach: float = 0.0
    """End of the step that samples are taken from, s."""
    taken: float = 0.0
    """Length of the step that samples are taken from, s."""
    error: float = 1e-4
    """Error norm of the last accepted step."""
    last_step: float = 0.0
    last_error: float = 0.0
    """Length and error of the previous step, for multistep methods; 0: there is none."""
    longest: float = 0.0
    shortest: float = np.inf
    """Longest and shortest accepted step, s."""
    accepted: int = 0
    rejected: int = 0
    """Number of accepted and rejected steps."""
    calls: int = 0
    """Number of evaluations."""
    jacobians: int = 0
    factorisations: int = 0
    sample: int = 0
    """Number of samples written."""
    between: int = 0
    """1 while samples are being taken from a step."""
    part: int = 0
    """Number of fixed steps since the last sample."""
    budget: int = 0
    """Number of steps left in this piece."""
    fresh: int = 0
    """1 if the first row of `k` holds f(t, y) at the present state."""
    renewed: int = 0
    """Implicit methods: 0 if the Jacobian has to be computed again."""
    projected: int
    """1 if projection may change the state."""
    modes_fixed: int = 0
    """1 while mode variables are fixed."""
    plain_steps: int = 0
    """Number of steps still to be taken with free mode variables."""
    jumped: int = 0
    """1 if the last step ended at an event (a switch of a formula)."""
    turned: int = 0
    """Number of events at the very beginning of this step."""
    sliding: int = 0
    """Number of switching surfaces on which the machine slides."""
    stiff_steps: int = 0
    other_steps: int = 0
    """Explicit methods: number of steps limited by stability (TOLD: stiffness was reported); number of other steps
    since."""
    y: Floats
    new: Floats
    """(n,) state at the beginning, and at the end, of the step that samples are taken from."""
    failed: Floats
    """(n,) scaled error, or derivative, of the step that failed."""
    k: FloatRows
    """(rows, n) stages, or other vectors of the method."""
    A: FloatRows = NOTHING
    rows: FloatRows = NOTHING
    P: FloatRows = NOTHING
    """Coefficients, see `core.simulation.methods.tableaux`."""
    times: Floats
    """(m,) times of the samples, s."""
    events: FloatRows
    """(6, indicators), see `core.simulation.events.sliding_modes`."""
    slid: FloatRows
    """(samples per piece, n) ẏ at samples on switching surfaces, other rows not finite; (0, 0) without indicators."""


load_state = loader(StepState)


@merged
def compute_derivative(state: int, t: float, y: Any, out: Any) -> Any:
    """Compute ẏ into out; returns false if it is not finite."""
    w = load_state(state)
    w.calls += 1
    if w.sliding > 0:
        return call_entry(w.slide, state, t, address_of(y), address_of(out)) == FINE
    return call_entry(w.derivative, w.system, t, address_of(y), address_of(out)) == FINE


@native
def project(state: int, t: float, y: Any, error: Any) -> Any:
    """Project y onto the constraint manifold, and reduce an error (n,), if one is given, to its tangential part.
    Returns FINE, NOT_FINITE or DRIFTED."""
    w = load_state(state)
    if w.projected == 0:
        return FINE
    place = address_of(error) if len(error) > 0 else 0
    return call_entry(w.project, w.system, t, address_of(y), place)


@native
def was_rejected_by_event(state: int, t: float, h: float, outcome: int) -> Any:
    """Return true if the step from w.y to w.new was rejected because of an event that can be located."""
    w = load_state(state)
    if w.refused == 0:
        return False
    w.taken = h
    return call_entry(w.refused, state, t, outcome, 0) == 1


@native
def scaled_norm(state: int, x: Any, y: Any, new: Any) -> Any:
    """Return the root mean square of x, scaled by the tolerances between y and new."""
    w = load_state(state)
    n = len(x)
    total = 0.0
    for j in range(n):
        scale = w.atol + w.rtol * max(abs(y[j]), abs(new[j]))
        total += (x[j] / scale) ** 2
    return np.sqrt(total / max(n, 1))


@native
def record_scaled_error(state: int, x: Any, new: Any) -> None:
    """Store the scaled entries of an error for an error message."""
    w = load_state(state)
    for j in range(len(x)):
        w.failed[j] = x[j] / (w.atol + w.rtol * max(abs(w.y[j]), abs(new[j])))


@native
def is_at_rest(state: int) -> Any:
    """Return true if all speeds are zero."""
    w = load_state(state)
    for j in range(w.speeds, len(w.y)):
        if w.y[j] != 0.0:
            return False
    return True


@native
def choose_first_step(state: int, t: float, f: Any, order: float, point: Any, workspace: Any) -> Any:
    """Choose the first step size from f and its change over a small Euler step (Hairer II.4, starting step size),
    repeated with longer ones for motion from rest, where speeds are zero and give no scale.

    point, workspace : (n,) room for a state and its derivative
    """
    w = load_state(state)
    n = len(w.y)
    longest = min(w.limit, w.end - t)
    if n == 0:
        return longest
    d0, d1 = scaled_norm(state, w.y, w.y, w.y), scaled_norm(state, f, w.y, w.y)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else max(0.01 * d0 / d1, LEAST_FIRST * shortest_resolvable_time(t))
    h = first = min(h, longest)
    for _ in range(LOOKS_AHEAD if is_at_rest(state) else 1):
        for j in range(n):
            point[j] = w.y[j] + h * f[j]
        if not compute_derivative(state, t + h, point, workspace):
            break
        for j in range(n):
            workspace[j] -= f[j]
        largest = max(d1, scaled_norm(state, workspace, w.y, w.y) / h)
        h1 = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
        first = min(min(LONGER * h, h1), longest)
        h *= LONGER
        if first < h:
            break
    return first


@native
def shortest_resolvable_time(t: float) -> float:
    """Return the shortest time, s, that can be resolved after t."""
    return 1e-14 * max(abs(t), 1.0)


@native
def is_too_small(t: float, h: float) -> Any:
    """Return true if floating-point numbers can hardly resolve a step h at time t."""
    return not h > 1e-14 * max(abs(t), 1e-3)

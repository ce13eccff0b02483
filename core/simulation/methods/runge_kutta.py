"""Embedded Runge–Kutta pairs with continuous extensions: one implementation for all tableaux (Hairer, Nørsett, Wanner,
Solving ODE I, II.4–II.6).

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

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import merged, native, scratch, view
from core.machine_code.outcome import FINE, NOT_FINITE, STEP_UNDERFLOW, SWITCHED, TOO_MANY
from core.simulation.equations.system import copy_array
from core.simulation.methods.method import AUTOMATIC, Method
from core.simulation.methods.step_state import (
    OTHER_EVIDENCE,
    STIFF_EVIDENCE,
    TOLD,
    StepState,
    choose_first_step,
    compute_derivative,
    is_too_small,
    load_state,
    project,
    record_scaled_error,
    scaled_norm,
    was_rejected_by_event,
)
from core.simulation.methods.tableaux import build_tableau

if TYPE_CHECKING:
    from core.simulation.equations.compiled_equations import CompiledEquations


SAFETY, SMALLEST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 10.0
LOW = 3
"""Row of the coefficients of the second error estimate, for methods that have one."""
WATCHED_STEP = 32
"""Interval, in steps, of the stiffness check while there is no sign of stiffness."""
BETA = 0.04
"""Exponent of the previous error in step size control (PI controller, Hairer II.4)."""


@merged
def add_weighted_rows(k: Any, weights: Any, count: int, h: float, y: Any, out: Any) -> None:
    """Compute out ← y + h Σ_m weights_m k_m over the first rows of k, with four independent sums at a time for
    speed."""
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
def evaluate_stages(state: int, first: int, last: int, t: float, h: float, point: Any) -> Any:
    """Compute stages first … last − 1 into w.k; `point` receives the state of the last one."""
    w = load_state(state)
    for i in range(first, last):
        add_weighted_rows(w.k, w.A[i], i, h, w.y, point)
        if not compute_derivative(state, t + w.rows[1, i] * h, point, w.k[i]):
            return False
    return True


@native
def estimate_errors(state: int, h: float, e: Any, e_low: Any) -> None:
    """Compute the error estimates of a step, (n,) each; `e_low` for methods that have two."""
    w = load_state(state)
    e[:] = 0.0
    add_weighted_rows(w.k, w.rows[2], w.stages, h, e, e)
    if len(w.rows) > LOW:
        e_low[:] = 0.0
        add_weighted_rows(w.k, w.rows[LOW], w.stages, h, e_low, e_low)


@native
def compute_error_norm(state: int, e: Any, e_low: Any) -> Any:
    """Return the error norm relative to the tolerances (Hairer II.10.1 if there are two estimates)."""
    w = load_state(state)
    high = scaled_norm(state, e, w.y, w.new)
    record_scaled_error(state, e, w.new)
    if high == 0.0 or len(w.rows) == LOW:
        return high
    low = scaled_norm(state, e_low, w.y, w.new)
    return high * high / np.sqrt(high * high + 0.01 * low * low)


@native
def accept_step(state: int, h: float, error: float, rejected: int) -> None:
    """Record an accepted step and choose the next step size."""
    w = load_state(state)
    power = 1.0 / w.error_power
    factor = SAFETY * max(error, 1e-10) ** (0.75 * BETA - power) * max(w.error, 1e-4) ** BETA
    w.step = h * min(max(factor, SMALLEST_FACTOR), 1.0 if rejected else LARGEST_FACTOR)
    w.error = error
    w.taken = h
    w.accepted += 1


@native
def count_stiff_steps(state: int, h: float, point: Any, workspace: Any) -> None:
    """Count accepted steps that were limited by stability; point, other: (n,) workspace."""
    w = load_state(state)
    last = w.stages - 1
    suspected = w.stiff_steps > 0 and w.stiff_steps < STIFF_EVIDENCE
    if w.stability == 0.0 or w.stiff_steps == TOLD:
        return
    if not (suspected or w.accepted % WATCHED_STEP == 0):
        return
    add_weighted_rows(w.k, w.A[last - 1], last - 1, h, w.y, point)
    add_weighted_rows(w.k, w.A[last], last, h, w.y, workspace)
    distance, change = 0.0, 0.0
    for j in range(len(w.y)):
        weight = 1.0 if j < w.speeds else h * h
        distance += weight * (workspace[j] - point[j]) ** 2
        change += weight * (h * (w.k[last, j] - w.k[last - 1, j])) ** 2
    if change > w.stability**2 * distance:
        w.stiff_steps = min(w.stiff_steps + 1, STIFF_EVIDENCE)
        w.other_steps = 0
    elif w.stiff_steps > 0:
        w.other_steps += 1
        if w.other_steps >= OTHER_EVIDENCE:
            w.stiff_steps = 0


@native
def take_accepted_step(state: int, e: Any, e_low: Any) -> Any:
    """Take one accepted step from w.y to w.new, projected onto the constraint manifold."""
    w = load_state(state)
    t, end = w.time, w.end
    rejected, happened = 0, FINE
    while True:
        h = min(w.step, w.limit)
        if t + 1.01 * h >= end:  # no sliver before the end
            h = end - t
        if is_too_small(t, h):  # whatever refused the longer ones is the reason
            return STEP_UNDERFLOW if happened == FINE else happened
        happened = FINE if evaluate_stages(state, 1, w.stages, t, h, w.new) else NOT_FINITE
        error = np.inf
        if happened == FINE:
            estimate_errors(state, h, e, e_low)
            happened = project(state, t + h, w.new, e)
        if happened == FINE:
            error = compute_error_norm(state, e, e_low)
        if error <= 1.0:
            accept_step(state, h, error, rejected)
            count_stiff_steps(state, h, e, e_low)
            return FINE
        rejected = 1
        w.rejected += 1
        if w.rejected + w.accepted >= w.most:
            return TOO_MANY
        if was_rejected_by_event(state, t, h, happened):
            return SWITCHED
        shrink = SMALLEST_FACTOR
        if error < np.inf:
            shrink = max(shrink, SAFETY * error ** (-1.0 / w.error_power))
        w.step = h * shrink


@entry
def step_entry(state: int, t: float, first: int, second: int) -> int:
    """Take one step with its continuous extension."""
    w = load_state(state)
    n = len(w.y)
    e, e_low = scratch(n), scratch(n)
    if w.fresh == 0:
        if not compute_derivative(state, t, w.y, w.k[0]):
            copy_array(w.k[0], w.failed)
            return NOT_FINITE
        w.fresh = 1
    if w.step <= 0.0:
        w.step = choose_first_step(state, t, w.k[0], float(w.error_power), e, e_low)
    happened: int = take_accepted_step(state, e, e_low)
    if happened != FINE:
        return happened
    # the continuous extension, where a sample or the search for events needs it; `has_sign_change_inside` makes it with
    # fixed modes
    if w.extend_of != 0 and (w.times[w.sample] < t + w.taken or w.modes_fixed == 1 or w.plain_step != 0):
        happened = extend_step(state, t)
    return happened


@native
def extend_step(state: int, t: float) -> int:
    """Compute the additional stages of the continuous extension for the step taken."""
    w = load_state(state)
    return FINE if evaluate_stages(state, w.stages, len(w.A), t, w.taken, scratch(len(w.y))) else NOT_FINITE


@entry
def extend_entry(state: int, t: float, first: int, second: int) -> int:
    """Entry point of `extend_step`."""
    return extend_step(state, t)


@entry
def within_entry(state: int, theta: float, out: int, second: int) -> int:
    """Evaluate the state at t + θ h from the continuous extension, projected onto the constraint manifold."""
    w = load_state(state)
    S, m = w.P.shape
    point, weights = view(out, len(w.y)), scratch(S)
    for i in range(S):
        weight = 0.0
        for j in range(m - 1, -1, -1):
            weight = (weight + w.P[i, j]) * theta
        weights[i] = weight
    add_weighted_rows(w.k, weights, S, w.taken, w.y, point)
    result: int = project(state, w.time + theta * w.taken, point, w.failed[:0])
    return result


def prepare_state(method: str, n: int, equations: CompiledEquations) -> partial[StepState]:
    """Return the constructor of the method's initial state for a run with n states."""
    table = build_tableau(method)
    adaptive = table.e.any()
    return partial(
        StepState,
        step_of=step_entry.address if adaptive else 0,
        within_of=within_entry.address if adaptive else 0,
        extend_of=extend_entry.address if adaptive and len(table.A) > table.steps else 0,
        stages=table.steps,
        error_power=table.error_order + 1,
        k=np.zeros((len(table.A), n)),
        A=table.A,
        rows=np.stack([table.b, table.c, table.e, *([table.e_low] if table.e_low.any() else [])]),
        P=table.P,
    )


METHODS = (
    Method(
        id=AUTOMATIC,
        title="Automatic",
        place=0,
        order=5,
        adaptive=True,
        help="Runge–Kutta 5(4); switches to Radau if the machine proves stiff, and the run notes when.",
        begin=prepare_state,
        stability=3.25,
        begins_with="rk54",
    ),
    Method(
        id="rk54",
        title="Runge–Kutta 5(4), Dormand–Prince",
        place=1,
        order=5,
        adaptive=True,
        help="For machines that are not stiff.",
        begin=prepare_state,
        stability=3.25,
    ),
    Method(
        id="rk853",
        title="Runge–Kutta 8(5,3), Dormand–Prince",
        place=2,
        order=8,
        adaptive=True,
        help="For tight tolerances and long runs.",
        begin=prepare_state,
        stability=6.1,
    ),
    Method(
        id="rk32",
        title="Runge–Kutta 3(2), Bogacki–Shampine",
        place=3,
        order=3,
        adaptive=True,
        help="For loose tolerances and discontinuous forces.",
        begin=prepare_state,
    ),
    Method(
        id="rk4",
        title="Runge–Kutta 4, fixed step",
        place=7,
        order=4,
        adaptive=False,
        help="Fixed cost per step; also steps over force jumps.",
        begin=prepare_state,
    ),
    Method(
        id="euler",
        title="Explicit Euler, fixed step",
        place=9,
        order=1,
        adaptive=False,
        help="For comparison with other methods only.",
        begin=prepare_state,
    ),
)

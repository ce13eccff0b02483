"""Adams methods of variable order and step size in PECE mode (Hairer, Nørsett, Wanner, Solving ODE I, III.5; order
control after Shampine and Gordon, Computer Solution of ODEs).

The past is kept as Newton differences Φ_j(n) = Π_{i<j} (t_n − t_{n−1−i}) · f[t_n, …, t_{n−j}]. The weights h g_j,
integrals of Newton's products, are taken by Gauss quadrature, which is exact for them.

1. Predict with order k: y* = y_n + h Σ_{j<k} g_j Φ*_j(n), where Φ*_j(n) = β_j Φ_j(n) are the differences in terms of
   the new step.
2. Evaluate f at y*; the next difference is Φ_k(n+1) = f − Σ_{j<k} Φ*_j(n).
3. Correct: y_{n+1} = y* + h g_k Φ_k(n+1), of order k + 1, projected onto the manifold. The change by the last order, h
   (g_k − g_{k−1}) Φ_k(n+1), estimates the error.
4. Accepted: evaluate f at y_{n+1}, and all differences move on by one point (`shift_history`).
5. The order goes down where lower orders would have had no larger error, up after more than k steps where the next
   difference promises a smaller one; at the beginning it goes up with every step while the step doubles
   (`choose_next_step`).
6. Steps are doubled, kept, or shortened to 0.5 … 0.9: equal ones make good differences. Refused steps are halved; after
   three refusals the order is one.
7. Values within a step integrate the polynomial through the derivatives back from its end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import loader, native, scratch, view
from core.machine_code.outcome import FINE, NOT_FINITE, STEP_UNDERFLOW, SWITCHED, TOO_MANY
from core.machine_code.records import Floats
from core.simulation.equations.system import copy_array
from core.simulation.methods.method import Method
from core.simulation.methods.step_state import (
    StepState,
    choose_first_step,
    compute_derivative,
    is_too_small,
    project,
    record_scaled_error,
    scaled_norm,
    was_rejected_by_event,
)

if TYPE_CHECKING:
    from core.simulation.equations.compiled_equations import CompiledEquations


MOST_ORDER = 12
DIFFERENCES = MOST_ORDER + 2
"""Number of modified divided differences, Φ_0 … Φ_13."""
NEXT, WRONG, ROOM, REACHED = DIFFERENCES, *range(2 * DIFFERENCES, 2 * DIFFERENCES + 3)
ROWS = 2 * DIFFERENCES + 3
"""Rows of `StepState.k`: Φ(n); Φ(n + 1); error; workspace; end of the full step, before it is cut at an event."""


class AdamsState(StepState):
    """State of an Adams method, with the history of past steps."""

    order: int = 0
    """Order of the next step; 0: no history."""
    used: int = 0
    """Order of the step from which samples are taken; NOTHING: there is no step to continue from."""
    highest: int
    """Highest allowed order."""
    raised: int = 0
    """1 while the order is being raised, as in the starting phase."""
    delay: int = 0
    """Number of steps since the order changed."""
    past: Floats
    """Times of the past steps, newest first, s."""


NOTHING = -2
load_adams = loader(AdamsState)


def build_coefficients() -> tuple[Any, Any, Any]:
    """Return (Gauss nodes and weights on [0, 1], error constants γ*_j for equal steps, an empty array)."""
    nodes, weights = np.polynomial.legendre.leggauss(MOST_ORDER // 2 + 2)
    star = np.zeros(MOST_ORDER + 3)
    star[0] = 1.0
    for m in range(1, len(star)):  # Σ_{j ≤ m} γ*_j / (m + 1 − j) = 0 (III.1.9)
        star[m] = -sum(star[j] / (m + 1 - j) for j in range(m))
    return np.stack([(nodes + 1.0) / 2.0, weights / 2.0]), star[None, :], np.zeros((1, 1))


@native
def compute_step_integrals(state: int, h: float, count: int, out: Any) -> None:
    """Compute the coefficients h g_j = ∫ Π_{i<j} (s − t_{n−i}) / (t_{n+1} − t_{n−i}) ds from t_n to t_{n+1} = t_n + h,
    for j = 0 … count − 1."""
    w = load_adams(state)
    for j in range(count):
        out[j] = 0.0
    for m in range(w.A.shape[1]):
        s, product = w.A[0, m] * h, w.A[1, m] * h
        for j in range(count):
            out[j] += product
            back = w.past[0] - w.past[j]
            product *= (s + back) / (h + back)


@native
def predict(state: int, h: float, order: int, g: Any) -> None:
    """Predict y_{n+1} from `order` differences into w.new, and store Φ*_j(n) = β_j Φ_j(n) in the rows of the next
    differences."""
    w = load_adams(state)
    n = len(w.y)
    copy_array(w.y, w.new)
    beta = 1.0
    for j in range(order + 2):
        for i in range(n):
            w.k[NEXT + j, i] = beta * w.k[j, i]
        if j < order:
            for i in range(n):
                w.new[i] += g[j] * w.k[NEXT + j, i]
        if j <= order:
            back = w.past[0] - w.past[j]
            step = w.past[0] - w.past[j + 1]
            beta = beta * (h + back) / step if step != 0.0 else 0.0


@native
def compute_corrector_difference(state: int, f: Any, order: int, out: Any) -> Any:
    """Compute Φ_order(n + 1) = f − Σ_{j<order} Φ*_j(n) into out, with f in place of f_{n+1}."""
    w = load_adams(state)
    for i in range(len(f)):
        x = f[i]
        for j in range(order):
            x -= w.k[NEXT + j, i]
        out[i] = x


@native
def estimate_error_at_order(state: int, f: Any, order: int, weight: float) -> Any:
    """Return the scaled norm of weight · Φ_order(n + 1)."""
    w = load_adams(state)
    compute_corrector_difference(state, f, order, w.k[ROOM])
    return abs(weight) * scaled_norm(state, w.k[ROOM], w.y, w.new)


@native
def suggest_order_change(state: int, f: Any, order: int, g: Any, error: float) -> Any:
    """Return −1 if the order should be lowered, otherwise 0."""
    if order > 2:
        lower = estimate_error_at_order(state, f, order - 1, g[order - 1] - g[order - 2])
        lowest = estimate_error_at_order(state, f, order - 2, g[order - 2] - g[order - 3])
        return -1 if max(lower, lowest) <= error else 0
    if order == 2:
        return -1 if estimate_error_at_order(state, f, 1, g[1] - g[0]) <= 0.5 * error else 0
    return 0


@native
def try_step(state: int, t: float, h: float, order: int, g: Any, f: Any) -> Any:
    """Try one step: predict, evaluate, correct, project. Returns (outcome, error norm); f receives the evaluation at
    the prediction."""
    w = load_adams(state)
    compute_step_integrals(state, h, order + 2, g)
    predict(state, h, order, g)
    if not compute_derivative(state, t + h, w.new, f):
        return NOT_FINITE, np.inf
    compute_corrector_difference(state, f, order, w.k[ROOM])
    # the corrector, and its last order as the error
    for i in range(len(w.y)):
        w.new[i] += g[order] * w.k[ROOM, i]
        w.k[WRONG, i] = (g[order] - g[order - 1]) * w.k[ROOM, i]
    happened = project(state, t + h, w.new, w.k[WRONG])
    if happened != FINE:
        return happened, np.inf
    record_scaled_error(state, w.k[WRONG], w.new)
    return FINE, scaled_norm(state, w.k[WRONG], w.y, w.new)


@native
def shift_history(state: int, t: float, f: Any, order: int) -> None:
    """Update Φ(n + 1) from Φ*(n) and f_{n+1}, and shift the times of past steps."""
    w = load_adams(state)
    n = len(f)
    # Φ_0 = f, Φ_{j+1}(n+1) = Φ_j(n+1) − Φ*_j(n)
    for i in range(n):
        x = f[i]
        for j in range(order + 2):
            before = w.k[NEXT + j, i]
            w.k[NEXT + j, i] = x
            x -= before
    for j in range(len(w.past) - 1, 0, -1):
        w.past[j] = w.past[j - 1]
    w.past[0] = t


@native
def choose_next_step(state: int, h: float, order: int, g: Any, error: float, down: int) -> None:
    """Choose order and size of the next step (Shampine and Gordon, chapter 7)."""
    w = load_adams(state)
    raised = 0  # 1: as at the beginning; 2: because the next order promises less error
    n = len(w.y)
    upper = 0.0
    if w.raised == 1 and order < w.highest and down == 0:
        raised = 1
    elif down == 0 and order < w.highest and w.delay > order:
        for i in range(n):
            w.k[ROOM, i] = w.k[NEXT + order + 1, i]
        upper = abs(h * w.rows[0, order + 1]) * scaled_norm(state, w.k[ROOM], w.y, w.new)
        if (order == 1 and upper < 0.5 * error) or (order > 1 and upper < error):
            raised = 2
    if raised == 1:
        w.order = order + 1
        w.step = 2.0 * h
        return
    w.raised = 0
    used = error
    if raised == 2:
        w.order, used = order + 1, upper
    elif down != 0:
        w.order = order - 1
    # doubling, or nothing, or a little less: steps of equal length make good differences
    power = 1.0 / (w.order + 1)
    factor = (0.5 / max(used, 1e-12)) ** power
    if factor >= 2.0:
        w.step = 2.0 * h
    elif factor >= 1.0:
        w.step = h
    else:
        w.step = h * max(0.5, min(0.9, factor))


@native
def start_history(state: int, t: float) -> Any:
    """Start with order one and the first difference."""
    w = load_adams(state)
    if not compute_derivative(state, t, w.y, w.k[0]):
        copy_array(w.k[0], w.failed)
        return NOT_FINITE
    for j in range(len(w.past)):
        w.past[j] = t
    w.order, w.raised, w.delay = 1, 1, 0
    if w.step <= 0.0:
        w.step = choose_first_step(state, t, w.k[0], 2.0, w.k[WRONG], w.k[ROOM])
    return FINE


@native
def take_accepted_step(state: int, g: Any, f: Any) -> Any:
    """Take one accepted step from w.y to w.new, projected onto the constraint manifold."""
    w = load_adams(state)
    t, end = w.time, w.end
    failures, happened = 0, FINE
    while True:
        h, order = min(w.step, w.limit), w.order
        if t + 1.01 * h >= end:  # no sliver before the end
            h = end - t
        if is_too_small(t, h):
            return STEP_UNDERFLOW if happened == FINE else happened
        happened, error = try_step(state, t, h, order, g, f)
        down = suggest_order_change(state, f, order, g, error) if happened == FINE else 0
        if error <= 1.0:
            break
        failures += 1
        w.rejected += 1
        if w.rejected + w.accepted >= w.most:
            return TOO_MANY
        if was_rejected_by_event(state, t, h, happened):
            w.step, w.used = h, NOTHING
            return SWITCHED
        w.raised = 0
        w.order = 1 if failures >= 3 else order + down
        w.delay = 0
        w.step = h * (0.5 if happened == FINE else 0.1)
    # accepted: the second evaluation, of which the differences are made
    if not compute_derivative(state, t + h, w.new, f):
        copy_array(f, w.failed)
        return NOT_FINITE
    shift_history(state, t + h, f, order)
    copy_array(w.new, w.k[REACHED])
    w.taken = h
    w.accepted += 1
    w.delay += 1
    w.used = order
    choose_next_step(state, h, order, g, error, down)
    return FINE


@entry
def step_entry(state: int, t: float, first: int, second: int) -> int:
    """Take one step."""
    w = load_adams(state)
    g, f = scratch(DIFFERENCES + 1), scratch(len(w.y))
    g[:] = 0.0
    happened: int = FINE
    if w.order == 0:
        happened = start_history(state, t)
    else:
        for j in range(w.used + 2):
            copy_array(w.k[NEXT + j], w.k[j])
    if happened == FINE:
        happened = take_accepted_step(state, g, f)
    return happened


@entry
def within_entry(state: int, theta: float, out: int, second: int) -> int:
    """Evaluate the state at t + θ h: the polynomial through the derivatives, integrated backward from the end of the
    step."""
    w = load_adams(state)
    point, h, count = view(out, len(w.y)), w.taken, w.used + 1
    g = scratch(DIFFERENCES + 1)
    g[:] = 0.0
    span = (theta - 1.0) * h
    for m in range(w.A.shape[1]):
        s, product = w.A[0, m] * span, w.A[1, m] * span
        for j in range(count):
            g[j] += product
            step = w.past[0] - w.past[j + 1]
            product = product * (s + w.past[0] - w.past[j]) / step if step != 0.0 else 0.0
    copy_array(w.k[REACHED], point)
    for j in range(count):
        for i in range(len(point)):
            point[i] += g[j] * w.k[NEXT + j, i]
    result: int = project(state, w.time + theta * h, point, w.failed[:0])
    return result


@entry
def take_back(state: int, t: float, first: int, second: int) -> int:
    """Undo the step taken: restore the order and the past times from before it."""
    w = load_adams(state)
    if w.order > 0:
        for j in range(len(w.past) - 1):
            w.past[j] = w.past[j + 1]
        w.order, w.used, w.raised = w.used, NOTHING, 0
        w.delay = max(w.delay - 1, 0)
    return FINE


@entry
def forget(state: int, t: float, first: int, second: int) -> int:
    """Restart the method with order one and no history."""
    w = load_adams(state)
    if w.order > 0:
        w.order, w.step = 0, 0.0
    return FINE


def prepare_state(method: str, n: int, equations: CompiledEquations) -> partial[AdamsState]:
    """Return the constructor of the method's initial state for a run with n states."""
    A, rows, P = build_coefficients()
    return partial(
        AdamsState,
        step_of=step_entry.address,
        within_of=within_entry.address,
        taken_back=take_back.address,
        forget=forget.address,
        stages=1,
        k=np.zeros((ROWS, n)),
        A=A,
        rows=rows,
        P=P,
        highest=MOST_ORDER,
        past=np.zeros(16),
    )


METHODS = (
    Method(
        id="adams",
        title="Adams, order 1 to 12",
        place=6,
        order=12,
        adaptive=True,
        help="For smooth motion of large machines: needs few evaluations.",
        begin=prepare_state,
    ),
)

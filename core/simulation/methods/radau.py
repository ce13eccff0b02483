"""Radau IIA methods of orders 5, 9 and 13 for stiff machines (Hairer and Wanner, Solving ODE II, IV.8; order control as
in their RADAU, J. Comput. Appl. Math. 111, 1999).

The s stages Z_i = y(t + c_i h) − y solve Z = h A F(Z), F_i = f(t + c_i h, y + Z_i); the last is the end of the step.

1. `prepare_factors`: the Jacobian J is kept as long as iterations converge fast with it; otherwise it is taken anew, in
   the middle of the step. With A⁻¹ = T Λ T⁻¹, Λ of a real μ and (s − 1)/2 pairs α ± iβ, the matrix of Newton's method
   falls into μ/h − J and the complex (α − iβ)/h − J, which are factored when J or h has changed
   (`core.simulation.methods.radau_stages`).
2. `guess_stages`: the stages on the collocation polynomial of the step before, continued.
3. `iterate_stages`: simplified Newton iterations on W = T⁻¹ Z: (Λ/h − J) ΔW = T⁻¹ F − Λ W/h, then Z = T W. With θ the
   ratio of two changes of Z, the iteration ends where θ/(1 − θ) |ΔZ| is small enough, and is given up where it would
   not get there in the rounds that are left.
4. `error_of`: (μ/h − J)⁻¹ (f + Σ e_i Z_i/h), that the stiff components cannot blow up (IV.8.19); after a refusal once
   more with f where the first estimate leads (IV.8.20). The end of the step is projected onto the manifold.
5. `accept_step`: the next step from the errors of the last two (Gustafsson's predictive control), shorter where the
   iteration took many rounds; one that would grow little keeps its length, and with it the factors.
6. `choose_order`: more stages where the error alone limits steps, fewer where convergence does.
7. Values within a step are those of its collocation polynomial.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import address_of, call_entry, native, view
from core.machine_code.outcome import FINE, NOT_FINITE, STEP_UNDERFLOW, SWITCHED, TOO_MANY
from core.simulation.equations.system import copy_array
from core.simulation.methods import radau_stages
from core.simulation.methods.method import STIFF, Method
from core.simulation.methods.radau_stages import (
    BLOCK,
    MOST_STAGES,
    RadauState,
    factorise_systems,
    load_radau,
    solve_shifted_system,
)
from core.simulation.methods.step_state import (
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


_places: Any = 1 + MOST_STAGES * np.arange(6)
Z, W, F, DW, Q, RIGHT = _places
SECOND, WRONG, ROOM, CHANGE, SCALE, ROWS = _places[-1] + np.arange(1, 7)
"""Rows of `StepState.k`: f (0), stages Z, W, F (derivatives of the stages, then ΔZ), ΔW, polynomial, right-hand side,
its second part, error, workspace, a derivative, reciprocals of the tolerances. NumPy integers, as in
`core.simulation.equations.system`."""
DIVERGED = -1

INCREMENT_FRACTION = 1e-8
"""Relative increment of a state in finite differences."""
SLOW_RATE = 1e-3
"""Convergence rate above which the next step gets a new Jacobian."""
GOAL_RATE = 0.2
"""Target convergence rate, for which step sizes are adjusted. The rate grows with the third power of the step where
stiff directions rotate."""
SHORTER = 0.7
"""Smallest factor by which slow convergence of Newton's method shortens the step that follows an accepted one."""
ROUNDING = 1e-3
"""Fraction of its tolerance below which a change counts as rounding error, as in a machine at rest; its convergence
rate is then meaningless."""
SAFETY, SMALLEST, LARGEST, KEPT, FORESEEN = 0.9, 0.2, 8.0, 1.2, 3.0
"""KEPT: a step that would grow by less keeps its length and its factors. FORESEEN: largest ratio to the previous step
at which the middle of the step is extrapolated."""

UP, DOWN, STEADY = 1.5, 1.5, 5
"""The order is raised where convergence allows steps larger by the factor UP than the error does, lowered where the
error allows steps larger by the factor DOWN than convergence does; after more than STEADY steps with the same order."""


@native
def first_table_row(s: int) -> Any:
    """Return the first row of the coefficient table for s stages."""
    return BLOCK * ((s - 3) // 2)


@native
def multiply_rows(state: int, M: Any, source: int, target: int) -> None:
    """Multiply a block of rows of k by a matrix, into another block."""
    w = load_radau(state)
    s = w.stage
    first, n = first_table_row(s), len(w.y)
    for i in range(s):
        out = w.k[target + i]
        for j in range(n):
            out[j] = 0.0
        for m in range(s):
            x, row = M[first + i, m], w.k[source + m]
            for j in range(n):
                out[j] += x * row[j]


@native
def extrapolate_polynomial(state: int, theta: float, out: Any) -> None:
    """Extrapolate the previous step's polynomial to θ of its length after its end, as the difference from the state
    there."""
    w = load_radau(state)
    power, beyond = 1.0, 1.0 + theta
    for j in range(len(out)):
        out[j] = 0.0
    for m in range(w.degree):
        power *= beyond
        for j in range(len(out)):
            out[j] += w.k[Q + m, j] * (power - 1.0)


@native
def difference_jacobian(state: int, t: float, point: Any) -> Any:
    """Compute ∂f/∂y by finite differences on switching surfaces."""
    w = load_radau(state)
    n, J = len(point), w.square
    f, g = w.k[WRONG], w.k[RIGHT]
    if not compute_derivative(state, t, point, f):
        return False
    for j in range(n):
        kept = point[j]
        point[j] = kept + INCREMENT_FRACTION * max(abs(kept), 1.0)
        step = point[j] - kept
        well = compute_derivative(state, t, point, g)
        point[j] = kept
        if not well:
            return False
        for i in range(n):
            J[i, j] = (g[i] - f[i]) / step
    return True


@native
def update_jacobian(state: int, t: float, point: Any) -> Any:
    """Compute ∂f/∂y at a point into the state's Jacobian."""
    w = load_radau(state)
    w.jacobians += 1
    if w.sliding > 0:
        return difference_jacobian(state, t, point)
    w.calls += w.cost
    return call_entry(w.jacobian, w.system, t, address_of(point), address_of(w.square)) == FINE


@native
def extrapolate_jacobian(state: int, t: float, h: float) -> Any:
    """Compute the Jacobian at the middle of the step if that state can be extrapolated: stiff directions that rotate
    then stay close to it, and Newton's method converges several times faster."""
    w = load_radau(state)
    before, middle = w.last_step, w.k[ROOM]
    if before > 0.0 and h <= FORESEEN * before:
        extrapolate_polynomial(state, 0.5 * h / before, middle)
        for j in range(len(w.y)):
            middle[j] += w.y[j]
        if update_jacobian(state, t + 0.5 * h, middle):
            return True
    return update_jacobian(state, t, w.y)


@native
def prepare_factors(state: int, t: float, h: float) -> Any:
    """Update the Jacobian and its factors where the old ones no longer apply."""
    w = load_radau(state)
    if w.renewed == 0:
        if not extrapolate_jacobian(state, t, h):
            return NOT_FINITE
        w.renewed, w.present, w.factored = 1, 1, 0.0
    if w.factored != h:
        s = w.stage
        w.factored = h
        if not factorise_systems(state, h, w.rows[first_table_row(s) + MOST_STAGES], (s - 1) // 2):
            return DIVERGED
    return FINE


@native
def guess_stages(state: int, h: float) -> None:
    """Extrapolate starting values Z from the previous step's polynomial, and W = T⁻¹ Z."""
    w = load_radau(state)
    before, s = w.last_step, w.stage
    for i in range(s):
        if before > 0.0:
            extrapolate_polynomial(state, w.A[first_table_row(s) + MOST_STAGES, i] * h / before, w.k[Z + i])
        else:
            for j in range(len(w.y)):
                w.k[Z + i, j] = 0.0
    multiply_rows(state, w.rows, Z, W)


@native
def compute_newton_increment(state: int, h: float) -> None:
    """Compute the Newton increment ΔW: form the right-hand sides T⁻¹ F − Λ W / h and solve the systems."""
    w = load_radau(state)
    n, k, s = len(w.y), w.k, w.stage
    c, first = w.halved, first_table_row(s)
    spectrum = w.rows[first + MOST_STAGES]
    J = w.square[:n]
    right, found = w.complexes[MOST_STAGES // 2 * n], w.complexes[MOST_STAGES // 2 * n + 1]
    real = spectrum[0] / h
    # the real eigenvalue: (μ/h − J) ΔW₁ = (T⁻¹ F)₁ − μ/h W₁
    for j in range(n):
        x = 0.0
        for m in range(s):
            x += w.rows[first, m] * k[F + m, j]
        k[RIGHT, j] = x - real * k[W, j]
    solve_shifted_system(J, c, real, w.square[n:], w.pivots[0], k[RIGHT], k[DW])
    # each pair α ± iβ: two real rows of W as one complex unknown
    for p in range((s - 1) // 2):
        alpha, beta, a = spectrum[2 * p + 1] / h, spectrum[2 * p + 2] / h, 2 * p + 1
        for j in range(n):
            x, y = 0.0, 0.0
            for m in range(s):
                x += w.rows[first + a, m] * k[F + m, j]
                y += w.rows[first + a + 1, m] * k[F + m, j]
            right[j] = complex(
                x - alpha * k[W + a, j] - beta * k[W + a + 1, j], y - alpha * k[W + a + 1, j] + beta * k[W + a, j]
            )
        solve_shifted_system(
            J, c, complex(alpha, -beta), w.complexes[p * n : (p + 1) * n], w.pivots[p + 1], right, found
        )
        for j in range(n):
            k[DW + a, j], k[DW + a + 1, j] = found[j].real, found[j].imag


@native
def scaled_square(state: int, x: Any) -> Any:
    """Return the sum of squares of x, scaled by the tolerances at the beginning of the step."""
    w = load_radau(state)
    scale, total = w.k[SCALE], 0.0
    for j in range(len(scale)):
        e = x[j] * scale[j]
        total += e * e
    return total


@native
def evaluate_stages(state: int, t: float, h: float) -> Any:
    """Compute the derivatives at the stages; returns false if they are not finite."""
    w = load_radau(state)
    k, s = w.k, w.stage
    nodes = w.A[first_table_row(s) + MOST_STAGES]
    for i in range(s):
        for j in range(len(w.y)):
            k[ROOM, j] = w.y[j] + k[Z + i, j]
        if not compute_derivative(state, t + nodes[i] * h, k[ROOM], k[F + i]):
            return False
    return True


@native
def iteration_limit(s: int) -> Any:
    """Return the largest number of iterations for s stages."""
    return 7 + 5 * (s - 3) // 2


@native
def iterate_stages(state: int, t: float, h: float, tolerance: float) -> Any:
    """Iterate to the stages Z; returns (outcome, convergence rate)."""
    w = load_radau(state)
    k, n, s = w.k, len(w.y), w.stage
    most, before, rate = iteration_limit(s), 0.0, 0.0
    for turn in range(most):
        w.rounds = turn + 1
        if not evaluate_stages(state, t, h):  # with fixed modes formulas may have no value beyond the event
            return NOT_FINITE if w.modes_fixed == 1 else DIVERGED, rate
        compute_newton_increment(state, h)
        multiply_rows(state, w.A, DW, F)
        size = 0.0
        for i in range(s):
            size += scaled_square(state, k[F + i])
        size = np.sqrt(size / (s * n))
        if not size < np.inf:
            return DIVERGED, rate
        if turn > 0:  # θ: given up where the rounds that are left would not bring the rest below the tolerance
            rate = size / before if size > ROUNDING * tolerance else 0.0
            if rate >= 1.0 or rate ** (most - turn) / (1.0 - rate) * size > tolerance:
                return DIVERGED, rate
        for i in range(s):
            for j in range(n):
                k[W + i, j] += k[DW + i, j]
                k[Z + i, j] += k[F + i, j]
        if size == 0.0 or (turn > 0 and rate / (1.0 - rate) * size < tolerance):
            return FINE, rate
        before = size
    return DIVERGED, rate


@native
def estimate_error(state: int, h: float) -> None:
    """Compute the error estimate (μ/h − J)⁻¹ (f + Σ e_i Z_i / h) (IV.8.19)."""
    w = load_radau(state)
    k, s = w.k, w.stage
    first = first_table_row(s)
    for j in range(len(w.y)):
        x = 0.0
        for i in range(s):
            x += w.A[first + MOST_STAGES + 1, i] * k[Z + i, j]
        k[SECOND, j] = x / h
    filter_error(state, h, k[0])


@native
def filter_error(state: int, h: float, f: Any) -> None:
    """Compute (μ/h − J)⁻¹ (f + second part) into the error row."""
    w = load_radau(state)
    k, n = w.k, len(w.y)
    for j in range(n):
        k[RIGHT, j] = f[j] + k[SECOND, j]
    real = w.rows[first_table_row(w.stage) + MOST_STAGES, 0] / h
    solve_shifted_system(w.square[:n], w.halved, real, w.square[n:], w.pivots[0], k[RIGHT], k[WRONG])


@native
def damp_error(state: int, t: float, h: float) -> None:
    """Recompute a large error estimate at the shifted state, which damps its stiff components (IV.8.20)."""
    w = load_radau(state)
    k = w.k
    for j in range(len(w.y)):
        k[ROOM, j] = w.y[j] + k[WRONG, j]
    if compute_derivative(state, t, k[ROOM], k[CHANGE]):
        filter_error(state, h, k[CHANGE])


@native
def compute_step_end(state: int, t: float, h: float, is_retry: bool) -> Any:
    """Compute the end of the step, projected onto the constraint manifold, into w.new; returns (outcome, error
    norm)."""
    w = load_radau(state)
    k = w.k
    copy_last_stage(state)
    estimate_error(state, h)
    if is_retry and scaled_norm(state, k[WRONG], w.y, w.new) > 1.0:
        damp_error(state, t, h)
    happened = project(state, t + h, w.new, k[WRONG])
    record_scaled_error(state, k[WRONG], w.new)
    return happened, scaled_norm(state, k[WRONG], w.y, w.new)


@native
def accept_step(state: int, h: float, error: float, rate: float, rejected: bool) -> None:
    """Record the step and its polynomial, and choose the next step size (IV.8, Gustafsson's predictive controller)."""
    w = load_radau(state)
    s = w.stage
    most, power, present = iteration_limit(s), -1.0 / (s + 1.0), w.present == 1
    error = max(error, 1e-10)
    allowed = error**power
    converging = np.cbrt(GOAL_RATE / rate) if rate > 0.0 else LARGEST
    factor = SAFETY * (2.0 * most + 1.0) / (2.0 * most + w.rounds) * allowed
    if w.last_error > 0.0:  # errors that grow from step to step go on growing
        factor *= min(1.0, h / w.last_step * (w.last_error / error) ** -power)
    factor = min(LARGEST, max(SMALLEST, factor))
    if rejected:
        factor = min(1.0, factor)
    if present:
        factor = min(factor, max(SHORTER, converging))
    # the Jacobian is renewed where convergence has become slow; steps of equal length share their factors
    worn = w.rounds > 2 and rate > SLOW_RATE
    if not worn and 1.0 <= factor < KEPT:
        factor = 1.0
    w.renewed, w.present = 0 if worn else 1, 0
    w.last_step, w.last_error = h, error
    w.step, w.taken = h * factor, h
    w.accepted += 1
    w.degree = s
    multiply_rows(state, w.P, Z, Q)
    w.same += 1
    if not rejected and w.same > STEADY:
        choose_order(state, allowed, converging, present)


@native
def choose_order(state: int, error_factor: float, convergence_factor: float, jacobian_is_new: bool) -> None:
    """Raise the number of stages if only the error limits steps; lower it if convergence limits them. Arguments: step
    factors allowed by the error and by the convergence of Newton's method; whether the Jacobian was computed for this
    step."""
    w = load_radau(state)
    s = w.stage
    change = 0
    if convergence_factor > UP * error_factor and s < w.highest:
        change = 2
    elif jacobian_is_new and error_factor > DOWN * convergence_factor and s > w.lowest:
        change = -2
        w.step = min(w.step, w.taken)
    if change != 0:
        w.stage, w.same = s + change, 0
        w.last_error = w.factored = 0.0


@native
def shrink_step(state: int, h: float, factor: float) -> Any:
    """Reduce the size of a rejected step; returns false if no further rejection is allowed."""
    w = load_radau(state)
    w.rejected += 1
    w.step = h * factor
    return w.rejected + w.accepted < w.most


@native
def shortening_factor(state: int, outcome: int, error: float, rejections: int) -> Any:
    """Return the factor by which a step rejected for its error is shortened. After several rejections the solution is
    taken as not smooth, so that high orders are useless."""
    w = load_radau(state)
    factor = 0.5 if outcome != FINE else SMALLEST
    if outcome == FINE and error < np.inf:
        factor = max(SMALLEST, SAFETY * error ** (-1.0 / (w.stage + 1.0)))
    if rejections > 1:
        w.stage, w.same, w.factored = w.lowest, 0, 0.0
    return factor


@native
def copy_last_stage(state: int) -> None:
    """Copy the last stage, the end of the step, into w.new."""
    w = load_radau(state)
    for j in range(len(w.y)):
        w.new[j] = w.y[j] + w.k[Z + w.stage - 1, j]


@native
def retry_factor(state: int, rate: float) -> float:
    """Return the step factor after Newton's iteration failed, and request a new Jacobian; if that was already new, the
    step is shortened."""
    w = load_radau(state)
    w.renewed = 0
    if w.present == 0:
        return 1.0
    return min(0.5, max(0.3, np.cbrt(GOAL_RATE / rate))) if rate > 0.0 else 0.5


@native
def take_accepted_step(state: int, tolerance: float) -> Any:
    """Take one accepted step from w.y to w.new, projected onto the constraint manifold."""
    w = load_radau(state)
    t, end = w.time, w.end
    rejected, refusals, happened = w.accepted == 0, 0, FINE
    for j in range(len(w.y)):
        w.k[SCALE, j] = 1.0 / (w.atol + w.rtol * abs(w.y[j]))
    while True:
        h = min(w.step, w.limit)
        if t + 1.01 * h >= end:  # no sliver before the end
            h = end - t
        if is_too_small(t, h):
            return STEP_UNDERFLOW if happened in (FINE, DIVERGED) else happened
        happened = prepare_factors(state, t, h)
        rate = 0.0
        if happened == FINE:
            guess_stages(state, h)
            happened, rate = iterate_stages(state, t, h, tolerance)
        if happened == FINE:
            happened, error = compute_step_end(state, t, h, rejected)
            if happened == FINE and error <= 1.0:
                accept_step(state, h, error, rate, rejected)
                return FINE
            refusals += 1
            factor = shortening_factor(state, happened, error, refusals)
        else:
            factor = retry_factor(state, rate)
        rejected = True
        if not shrink_step(state, h, factor):
            return TOO_MANY
        if happened != FINE:
            copy_last_stage(state)
        if was_rejected_by_event(state, t, h, NOT_FINITE if happened == NOT_FINITE else FINE):
            w.step, w.renewed, w.last_step = h, 0, 0.0
            return SWITCHED


@entry
def step_entry(state: int, t: float, first: int, second: int) -> int:
    """Take one step."""
    w = load_radau(state)
    if w.fresh == 0:
        if not compute_derivative(state, t, w.y, w.k[0]):
            copy_array(w.k[0], w.failed)
            return NOT_FINITE
        w.fresh = 1
    if w.step <= 0.0:
        w.step = choose_first_step(state, t, w.k[0], w.stage + 1.0, w.k[ROOM], w.k[WRONG])
    tolerance = max(1e-15 / w.rtol, min(0.03, np.sqrt(w.rtol)))
    result: int = take_accepted_step(state, tolerance)
    return result


@entry
def within_entry(state: int, theta: float, out: int, second: int) -> int:
    """Evaluate the state at t + θ h from the collocation polynomial, projected onto the constraint manifold."""
    w = load_radau(state)
    point = view(out, len(w.y))
    for j in range(len(w.y)):
        x = 0.0
        for m in range(w.degree - 1, -1, -1):
            x = (x + w.k[Q + m, j]) * theta
        point[j] = w.y[j] + x
    result: int = project(state, w.time + theta * w.taken, point, w.failed[:0])
    return result


def prepare_state(method: str, n: int, equations: CompiledEquations) -> partial[RadauState]:
    """Return the constructor of the method's initial state for a run with n states. The Jacobian is exact if the
    machine's functions can be differentiated, otherwise by finite differences."""
    exact, pairs, fewest = equations.has_analytic_derivatives, MOST_STAGES // 2, radau_stages.STAGES[0]
    A, rows, P = radau_stages.build_tables()
    return partial(
        RadauState,
        step_of=step_entry.address,
        within_of=within_entry.address,
        jacobian=equations.jacobian,
        stages=1,
        k=np.zeros((ROWS, n)),
        A=A,
        rows=rows,
        P=P,
        stage=fewest,
        lowest=fewest,
        highest=fewest if method == "radau5" else MOST_STAGES,
        cost=1 if exact else n + 1,
        halved=0 if len(equations.system.quaternions) else equations.system.nq,
        square=np.zeros((2 * n, n)),
        complexes=np.zeros((pairs * n + 2, n), dtype=complex),
        pivots=np.zeros((1 + pairs, n), dtype=np.int64),
    )


METHODS = (
    Method(
        id=STIFF,
        title="Radau IIA 5, 9, 13, implicit",
        place=4,
        order=13,
        adaptive=True,
        help="For stiff machines with hard springs or strong dampers. The order adapts to the motion.",
        begin=prepare_state,
        implicit=True,
    ),
    Method(
        id="radau5",
        title="Radau IIA 5, implicit",
        place=5,
        order=5,
        adaptive=True,
        help="For stiff machines with discontinuous forces.",
        begin=prepare_state,
        implicit=True,
    ),
)

"""Output-error identification: parameters and initial values of a simulated run are fitted to measured channels.

    minimise  Σ w_c² Σ_i (measured_ci − y_c(t_i; θ))²

by Gauss–Newton steps with exact slopes (variational equations, `core.identification.sensitivities`; differences of runs
where dry friction, stops or the method have none, which is noted), within bounds of parameters, in one or several
segments (`shooting`). A step is taken as far as it lessens sum + μ · (what opens between segments) (J. Nocedal, S.
Wright, Numerical Optimization, 2006, 18.3); where it does not, it is shortened and damped (Levenberg–Marquardt). Noise
in motions alone: unlike inverse dynamics nothing is differentiated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from core.errors import KinetostatError, ModelError, SimulationError
from core.identification.differenced_runs import channel_values_at
from core.identification.fit_starts import (
    initial_segment_values,
    joint_force_formulas,
    parameter_bounds,
    select_fitted_signals,
    select_free_start_values,
)
from core.identification.linear_fit import FitResult, LinearFit, Validation, build_linear_fit
from core.identification.measured_trace import MeasuredTrace, build_trace
from core.identification.sensitivities.gradient import DifferentiatedRun
from core.identification.sensitivities.replay import NotDifferentiableError, check_differentiable
from core.identification.sensitivities.start_state_derivatives import InitialState
from core.identification.shooting import CondensedProblem, MultipleShooting, SegmentRun
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.simulation import Run

Array = NDArray[np.float64]
Watch = Callable[[int, Mapping[str, float], float], object]
"""Callback after each accepted step: (step, parameters and initial values, root mean square of the weighted residuals).
"""

SMALL_STEP = 1e-3
"""Step length, in standard deviations, that ends the iteration."""
EXACT_STEP_FRACTION = 1e-9
"""Relative step of the parameters that ends the iteration if there is no noise."""
NOISELESS_FRACTION = 1e-9
"""Fraction of the measured values below which residuals count as rounding and integration errors."""
ALIKE_FRACTION = 1e-8
"""Fraction of the largest singular value (columns scaled to one) below which the data cannot distinguish parameters."""
ARMIJO_FRACTION = 1e-4
"""Fraction of the predicted decrease that a step must attain."""
LEAST_PART = 1.0 / 64.0
"""Smallest step fraction of the line search, below which the step is damped instead."""
MOST_DAMPING = 1e8
MOST_STEPS, STEPS_A_SECOND = 50_000, 2_000
WEIGHT_ROUNDS = 3
"""Number of fits in which the weights of channels are estimated from the residuals."""


@dataclass(frozen=True, eq=False)
class RunFit(FitResult):
    """Result of a run fitted to a trace.

    names : of what was found: parameters, then start values; fit : estimates with intervals, one force of it is one
    channel here; outputs : those channels; time (n,) of the rows of the fit; measured, predicted (n, c); validation :
    on rows held back, None without any; run : over the whole trace, from the start that was found; at_bounds :
    parameters at a bound; converged : False where it was stopped before; iterations; notes : how the data were used
    """

    mech: Mechanism
    names: tuple[str, ...]
    fit: LinearFit
    outputs: tuple[str, ...]
    time: Array
    measured: Array
    validation: Validation | None
    run: Run
    parameters: Mapping[str, float]
    at_bounds: tuple[str, ...]
    converged: bool
    iterations: int
    notes: tuple[str, ...]

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Channels whose residuals are not white noise, so that the intervals are too narrow."""
        return tuple(self.outputs[k] for k in self.fit.correlated_forces)

    @property
    def model(self) -> Model:
        """Model with the identified parameters."""
        model = self.mech.model
        for name, value in self.parameters.items():
            model = edits.change(model, "parameters", name, value=value)
        return model


def fit_run(
    model: Model | Mechanism,
    data: str | os.PathLike[str] | Run | Mapping[str, Any] | MeasuredTrace,
    columns: Mapping[str, str] | None = None,
    *,
    vary: Sequence[str] | Mapping[str, tuple[float, float]],
    free: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
    q0: Mapping[str, Any] | None = None,
    v0: Mapping[str, Any] | None = None,
    torque: Any = None,
    segments: int = 1,
    held_back: float = 0.0,
    integrator: str = "rk853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    iterations: int = 60,
    watch: Watch | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> RunFit:
    """Fit a run to measured channels.

    data, columns : as `identify` takes them; forces of joints in them drive the run, unless `torque` is given
    vary : parameters, within minimum and maximum, or within bounds (low, high) by name
    free : start values that are found, too ("elbow.q", "elbow.v"); default: of all independent coordinates; of joints
    with quaternions "ball.wx.q" is a turn (rad) along a speed, away from how they stand; q0, v0 : those of others,
    default: as the model says
    outputs : channels that are fitted; default: all of the trace but forces, and rates of what was measured itself
    segments : pieces that begin from states of their own, for long traces and unstable motions
    held_back : part of the rows, at the end, on which the fit is tried
    watch : is told every step; cancelled : ends the search, what is best so far is the result

    Raises ModelError, FileError and SimulationError naming what is wrong.
    """
    mech = model if isinstance(model, Mechanism) else Mechanism(model)
    trace = build_trace(mech, data, columns)
    notes: list[str] = []
    channels = select_fitted_signals(trace, outputs)
    used = _count_fit_rows(trace, held_back, segments)
    time = trace.time[:used]
    measured = np.column_stack([trace.signals[name] for name in channels])
    names, low, high = parameter_bounds(mech, vary)
    start, speeds = dict(q0 or {}), dict(v0 or {})
    chosen = select_free_start_values(mech, free, start, speeds, float(time[0]))
    given = joint_force_formulas(mech, trace, notes) if torque is None else torque
    problem = MultipleShooting(
        mech, names, channels, time, measured[:used], free=chosen, q0=start, v0=speeds, segments=segments,
        torque=given, options={"method": integrator, "rtol": rtol, "atol": atol, "max_steps": _step_limit(time)},
    )  # fmt: skip
    try:
        check_differentiable(mech, integrator)
    except NotDifferentiableError as why:
        problem.differences = why.what
    p = np.array([mech.parameter_values()[k] for k in problem.places])
    own = initial_segment_values(problem, trace.part(0, used), p)
    search = _GaussNewtonIteration(problem, np.clip(p, low, high), own, (low, high), watch, cancelled)
    search.solve(iterations)
    return _assemble_result(search, trace, measured, notes)


def _step_limit(time: Array) -> int:
    """Return the number of integration steps after which a run is aborted, since parameters far from the solution can
    produce arbitrarily fast motions."""
    return MOST_STEPS + round(STEPS_A_SECOND * float(time[-1] - time[0]))


def _count_fit_rows(trace: MeasuredTrace, held_back: float, segments: int) -> int:
    """Return the number of rows used for the fit."""
    if not 0.0 <= held_back <= 0.8:
        raise ModelError(
            f"A fraction of {held_back:g} of the rows cannot be held back for validation.",
            where="held_back",
            remedy="Use 0 … 0.8.",
        )
    used = len(trace) - round(held_back * len(trace))
    most = max(used // 4, 1)
    if not 1 <= segments <= most:
        raise ModelError(
            f"{used} rows cannot be divided into {segments} segments.",
            where="segments",
            remedy=f"Use 1 … {most} segments.",
        )
    return used


class _Iterate(NamedTuple):
    """Iterate of the search: parameters, initial values of each segment, their runs, the assembled problem, and the
    weighted sum of squares."""

    p: Array
    own: tuple[Array, ...]
    passed: tuple[SegmentRun, ...]
    whole: CondensedProblem
    square: float

    @property
    def largest_mismatch(self) -> float:
        """Largest mismatch between segments, rad, m and their rates."""
        return float(sum(np.sum(np.abs(mismatch)) for mismatch in self.whole.mismatches))


class _GaussNewtonIteration:
    """Gauss–Newton iteration from an initial point."""

    def __init__(
        self,
        problem: MultipleShooting,
        p: Array,
        start_values: Sequence[Array],
        bounds: tuple[Array, Array],
        watch: Watch | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.problem, self.bounds = problem, bounds
        self.watch, self.cancelled = watch, cancelled
        spread = np.std(problem.measured, axis=0)
        self.weights = 1.0 / np.where(spread > 0.0, spread, 1.0)
        self.steps, self.converged, self.price, self.damping = 0, False, 0.0, 0.0
        self.point = self._evaluate_point(p, tuple(start_values), [None] * len(start_values))

    def _evaluate_point(
        self, p: Array, start_values: tuple[Array, ...], nearby_poses: Sequence[Array | None]
    ) -> _Iterate:
        problem = self.problem
        passed = tuple(problem.simulate_with_derivatives(k, p, z, nearby_poses[k]) for k, z in enumerate(start_values))
        whole = problem.condense(passed, start_values)
        square = float(np.sum((whole.residuals * self.weights) ** 2))
        if not np.isfinite(square):
            raise SimulationError("The run diverges.", where="fit")
        return _Iterate(p, start_values, passed, whole, square)

    def solve(self, iterations: int) -> None:
        """Iterate until steps are small; if there are several channels, weight them by their residuals."""
        rounds = WEIGHT_ROUNDS if len(self.problem.outputs) > 1 else 1
        for _ in range(rounds):
            self.converged = False
            while self.steps < iterations and not self.converged and not self._is_cancelled():
                self._take_step()
            if rounds > 1:
                self._update_weights()

    def _is_cancelled(self) -> bool:
        return self.cancelled is not None and self.cancelled()

    def _update_weights(self) -> None:
        sizes = np.sqrt(np.mean(self.point.whole.residuals**2, axis=0))
        floor = NOISELESS_FRACTION * np.maximum(np.max(np.abs(self.problem.measured), axis=0), 1e-300)
        self.weights = 1.0 / np.maximum(sizes, floor)
        square = float(np.sum((self.point.whole.residuals * self.weights) ** 2))
        self.point = self.point._replace(square=square)

    def scaled_problem(self) -> tuple[Array, Array, Array]:
        """Return the weighted (Jacobian (rows, m) with columns scaled to one, scale (m,), closed residuals (rows,))."""
        J = (self.point.whole.slopes * self.weights[:, None]).reshape(-1, len(self.problem.names))
        scale = np.linalg.norm(J, axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        return J / scale, scale, (self.point.whole.closed * self.weights).ravel()

    def _step_direction(self) -> tuple[Array, Array]:
        """Return (step of the parameters and of the first segment's initial values, resulting change of the weighted
        values)."""
        J, scale, r = self.scaled_problem()
        m, count = len(self.problem.vary), len(self.problem.names)
        low, high = np.full(count, -np.inf), np.full(count, np.inf)
        low[:m], high[:m] = self.bounds[0] - self.point.p, self.bounds[1] - self.point.p
        free = high > low
        step = np.zeros(count)
        A = np.vstack([J, np.sqrt(self.damping) * np.eye(count)]) if self.damping else J
        b = np.concatenate([r, np.zeros(count)]) if self.damping else r
        found = lsq_linear(A[:, free], b, ((low * scale)[free], (high * scale)[free]), method="bvls", tol=1e-14)
        step[free] = found.x
        return step / scale, J @ step

    def _take_step(self) -> None:
        """Take one step: shortened until the merit decreases, otherwise damped."""
        point = self.point
        while True:
            d, change = self._step_direction()
            if self._is_small_step(d, change):
                self.converged = True
                return
            own_steps = [d[len(self.problem.vary) :], *(A @ d + e for A, e in point.whole.onto)]
            slope = self._merit_slope(own_steps, d)
            part = 1.0
            while part >= LEAST_PART:
                trial = self._evaluate_trial_point(d, own_steps, part)
                if (
                    trial is not None
                    and self._merit_of_point(trial) <= self._merit_of_point(point) + ARMIJO_FRACTION * part * slope
                ):
                    self.point, self.steps, self.damping = trial, self.steps + 1, 0.1 * self.damping
                    self.damping = self.damping if self.damping > 1e-6 else 0.0
                    if self.watch is not None:
                        self.watch(
                            self.steps, self.current_values(), float(np.sqrt(trial.square / trial.whole.closed.size))
                        )
                    return
                part *= 0.5
            self.damping = max(10.0 * self.damping, 1e-3)
            if self.damping > MOST_DAMPING or self._is_cancelled():
                self.converged = self.damping > MOST_DAMPING
                self.steps += 1
                return

    def _is_small_step(self, d: Array, change: Array) -> bool:
        """Return True if a step is small, in standard deviations or relative to the values, and all segments are
        closed."""
        freedom = max(change.size - len(d), 1)
        sigma = np.sqrt(self.point.square / freedom)
        closed = self.point.largest_mismatch <= 1e-9 * max(
            1.0, float(np.max(np.abs(np.concatenate(self.point.own)), initial=0.0))
        )
        values = np.concatenate([self.point.p, self.point.own[0]])
        tiny = bool(np.all(np.abs(d) <= EXACT_STEP_FRACTION * np.maximum(np.abs(values), 1e-3)))
        return closed and (tiny or float(np.linalg.norm(change)) <= SMALL_STEP * sigma)

    def _merit_slope(self, own_steps: Sequence[Array], d: Array) -> float:
        """Return the directional derivative of the merit along a step; the penalty on mismatches is raised so that it
        is negative."""
        point, m = self.point, len(self.problem.vary)
        along, curved = 0.0, 0.0
        for each, step in zip(point.passed, own_steps, strict=True):
            change = each.slopes @ np.concatenate([d[:m], step]) * self.weights
            along -= 2.0 * float(np.sum(each.residuals * self.weights * change))
            curved += float(np.sum(change**2))
        if point.largest_mismatch > 0.0:
            self.price = max(self.price, (along + curved) / (0.5 * point.largest_mismatch))
        return along - self.price * point.largest_mismatch

    def _merit_of_point(self, point: _Iterate) -> float:
        return point.square + self.price * point.largest_mismatch

    def _evaluate_trial_point(self, d: Array, own_steps: Sequence[Array], step_fraction: float) -> _Iterate | None:
        """Evaluate a fraction of the step; None if a run cannot continue there."""
        point, m = self.point, len(self.problem.vary)
        p = np.clip(point.p + step_fraction * d[:m], *self.bounds)
        own = tuple(z + step_fraction * step for z, step in zip(point.own, own_steps, strict=True))
        try:
            return self._evaluate_point(p, own, [each.pose for each in point.passed])
        except KinetostatError:
            return None

    def current_values(self) -> dict[str, float]:
        """Return the current parameters and initial values."""
        found = np.concatenate([self.point.p, self.point.own[0]])
        return dict(zip(self.problem.names, found.tolist(), strict=True))


def _assemble_result(search: _GaussNewtonIteration, trace: MeasuredTrace, measured: Array, notes: list[str]) -> RunFit:
    """Assemble the result with its statistics."""
    problem, point = search.problem, search.point
    used, count = len(problem.time), len(problem.names)
    J, scale, _ = search.scaled_problem()
    U_sizes, Vt = np.linalg.svd(J, full_matrices=False)[1:]
    if J.shape[0] <= count or not U_sizes[-1] > ALIKE_FRACTION * U_sizes[0]:
        _refuse_indistinguishable(problem, Vt[-1])
    half = Vt.T / U_sizes / scale[:, None]
    variance = point.square / (J.shape[0] - count)
    low, high = search.bounds
    near = 1e-9 * np.maximum(np.abs(point.p), 1.0)
    bounds = tuple(n for n, x, a, b, e in zip(problem.vary, point.p, low, high, near, strict=True)
                   if x - a <= e or b - x <= e)  # fmt: skip
    estimate = np.concatenate([point.p, point.own[0]])
    fit = build_linear_fit(
        estimate, point.whole.residuals, variance * (half @ half.T), problem.measured,
        float(U_sizes[0] / U_sizes[-1]), "output error",
    )  # fmt: skip
    spacing = float(np.min(np.diff(trace.time))) if problem.differences else None
    run, given = problem.run(0, point.p, point.own[0], point.passed[0].pose, float(trace.time[-1]), spacing)
    validation = None
    if used < len(trace):
        predicted = _predict_channels(problem, run, given, trace.time[used:])
        validation = Validation(trace.time[used:], measured[used:], predicted)
    if problem.differences:
        notes.append(f"derivatives are finite differences of runs ({problem.differences.rstrip('.')})")
    if not search.converged:
        notes.append(f"stopped after {search.steps} steps without convergence")
    return RunFit(
        problem.mech, problem.names, fit, problem.outputs, problem.time, problem.measured, validation, run,
        dict(zip(problem.vary, point.p.tolist(), strict=True)), bounds, search.converged, search.steps, tuple(notes),
    )  # fmt: skip


def _predict_channels(problem: MultipleShooting, run: Run, start: InitialState, times: Array) -> Array:
    """Evaluate (n, c) channels of a run at times."""
    if not problem.differences:
        found = DifferentiatedRun(run, problem.vary, start, problem.torque)
        return found.output_derivatives(problem.outputs, times)[2]
    return channel_values_at(run, problem.outputs, times)


def _refuse_indistinguishable(problem: MultipleShooting, direction: Array) -> None:
    """Raise SimulationError naming the parameters that the data cannot distinguish."""
    size = np.abs(direction)
    names = [name for name, part in zip(problem.names, size, strict=True) if part > 0.1 * float(np.max(size))]
    several = len(names) > 1
    raise SimulationError(
        f"The data do not distinguish {' and '.join(names)}."
        if several
        else f"{names[0]} is not identifiable from the data.",
        where="vary",
        remedy="Keep one of them fixed, or measure more channels."
        if several
        else "Keep that parameter fixed, or measure more channels.",
    )

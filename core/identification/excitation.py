"""Exciting trajectories for identification: finite Fourier series in every joint, as informative as limits permit.

    q_i(t) = q_i0 + s_i Σ_k (a_ik sin kωt − b_ik cos kωt) / (kω)      (J. Swevers et al., IEEE Trans. Robotics
                                                                       and Automation 13(5), 1997)

The sums Σ a_ik and Σ k b_ik vanish, so that a period begins and ends at rest. The factor s_i is the largest with which
position, speed and acceleration of the joint stay within limits: the motion is possible whatever the coefficients. They
minimise the logarithm of the condition of the regressor, or maximise log det Yᵀ Y; forces beyond limits count against.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from core.errors import ModelError, suggest_names
from core.files.regular_file import path_as_string
from core.files.source import write_atomically
from core.identification.identify import DEFAULT_KINDS, select_parameters
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.mechanism.regressor import BaseParameters, base_parameters_from_regressor, random_motions
from core.model.joints import effective_motor_limit
from core.simulation.run.recorded import build_recorded_run
from core.simulation.run.run import Run

Array = NDArray[np.float64]
Criterion = Literal["condition", "determinant"]
CRITERIA: tuple[Criterion, ...] = ("condition", "determinant")

SAMPLES = 80
"""Samples of a period at which the criterion is evaluated."""
FINE_SAMPLES = 400
"""Samples of a period at which limits are checked."""
DEFAULT_SPEED = 1.5
"""Speed limit of joints without a limit of their own, rad/s or m/s."""
DEFAULT_RANGE = math.pi / 2.0
"""Range on each side of the reference position, for joints without limits, rad or m."""
MARGIN = 0.95
"""Fraction of the limits that is used."""
FORCE_WEIGHT = 10.0
"""Weight of forces beyond their limits in the minimised logarithm."""
STEP = 1e-6
"""Step of the finite differences with respect to coefficients."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """One period of an exciting trajectory.

    time (n,) s; q, v, a, tau (n, nv); condition : of the regressor's columns of the base parameters, scaled to one;
    before : that of the first motion tried; log_det : of Yᵀ Y; active : limits that are reached, by name;
    base : the parameters that it shows
    """

    mech: Mechanism
    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    condition: float
    before: float
    log_det: float
    active: tuple[str, ...]
    base: BaseParameters

    def columns(self) -> dict[str, Array]:
        """Return the trajectory as columns of a trace, by signal."""
        found = {"time": self.time}
        for quantity, values in (("q", self.q), ("v", self.v), ("a", self.a), ("tau", self.tau)):
            found |= {f"{name}.{quantity}": values[:, k] for k, name in enumerate(self.mech.v_names)}
        return found

    def run(self, p: Values = None) -> Run:
        """Return the trajectory as a run that can be played back and plotted."""
        names = ("time", *(f"{name}.q" for name in self.mech.v_names))
        values = dict(zip(self.mech.p_names, self.mech.parameter_values(p).tolist(), strict=True))
        return build_recorded_run(self.mech, values, names, np.column_stack([self.time, self.q]), {}, "exciting motion")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trajectory as CSV, SI. Raises FileError."""
        columns = self.columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([f"{x:.9g}" for x in row] for row in np.column_stack(list(columns.values())))
        write_atomically(path_as_string(path), text.getvalue().encode())


class _ExcitationProblem:
    """Optimisation problem of the Fourier coefficients of all joints (nv · 2 harmonics,)."""

    def __init__(
        self,
        mech: Mechanism,
        period: float,
        harmonics: int,
        limits: tuple[Array, Array, Array, Array, Array],
        regressors: Callable[[Array, Array, Array], Array],
        force_excess: Callable[[Array, Array, Array], Array | float],
        criterion: Criterion,
    ) -> None:
        self.mech, self.limits, self.criterion = mech, limits, criterion
        self.regressors, self.strained = regressors, force_excess
        self.period = period
        k = np.arange(1, harmonics + 1)
        # coefficients with Σ a = 0 and Σ k b = 0
        self.free_a = np.linalg.svd(np.ones((1, harmonics)))[2][1:].T
        self.free_b = np.linalg.svd(k[None, :].astype(float))[2][1:].T
        self.size = 2 * (harmonics - 1)
        self.fine, self.coarse = (self.fourier_waves(count, k) for count in (FINE_SAMPLES, SAMPLES))

    def fourier_waves(self, sample_count: int, sample_indices: NDArray[np.int64]) -> Array:
        """Compute (3, count, size) position, speed and acceleration of each free coefficient's wave."""
        w = 2.0 * math.pi / self.period
        phase = w * np.linspace(0.0, self.period, sample_count, endpoint=False)[:, None] * sample_indices
        kw = sample_indices * w
        sines = np.stack([np.sin(phase) / kw, np.cos(phase), -kw * np.sin(phase)])
        cosines = np.stack([-np.cos(phase) / kw, np.sin(phase), kw * np.cos(phase)])
        return np.concatenate([sines @ self.free_a, cosines @ self.free_b], axis=-1)

    def motion_of_coefficients(self, coefficients: Array, waves: Array) -> tuple[Array, Array, Array]:
        """Compute (…, n, nv) q, v, a of coefficients (…, nv · size), scaled to fit the limits."""
        c = coefficients.reshape(*coefficients.shape[:-1], self.mech.nv, self.size)
        center, low, high, speed, acceleration = self.limits
        q, v, a = (np.einsum("ns,...js->...nj", each, c) for each in self.fine)
        room = [
            (high - center) / np.maximum(np.max(q, axis=-2), 1e-12),
            (center - low) / np.maximum(-np.min(q, axis=-2), 1e-12),
            speed / np.maximum(np.max(np.abs(v), axis=-2), 1e-12),
            acceleration / np.maximum(np.max(np.abs(a), axis=-2), 1e-12),
        ]
        factor = MARGIN * np.min(np.stack(room), axis=0)[..., None, :]
        if waves is not self.fine:
            q, v, a = (np.einsum("ns,...js->...nj", each, c) for each in waves)
        return center + factor * q, factor * v, factor * a

    def objective(self, coefficients: Array) -> float:
        """Return the objective to minimise."""
        motion = self.motion_of_coefficients(coefficients, self.coarse)
        return _criterion_and_gradient(self._regressor_rows(motion), self.criterion)[0] + float(self.strained(*motion))

    def objective_and_gradient(self, coefficients: Array) -> tuple[float, Array]:
        """Return the objective and its gradient, computed in one call from exact derivatives by the regressor and
        finite differences of the regressor by the coefficients."""
        steps = np.vstack([np.zeros(len(coefficients)), STEP * np.eye(len(coefficients))])
        motions = self.motion_of_coefficients(coefficients + steps, self.coarse)
        W, strain = self._regressor_rows(motions), np.asarray(self.strained(*motions))
        value, weights = _criterion_and_gradient(W[0], self.criterion)
        slopes = (W[1:] - W[0]).reshape(len(coefficients), -1) @ weights.ravel() + strain[1:] - strain[0]
        return value + float(strain[0]), slopes / STEP

    def _regressor_rows(self, motion: tuple[Array, Array, Array]) -> Array:
        Y = self.regressors(*motion)
        return Y.reshape(*Y.shape[:-3], -1, Y.shape[-1])


def excitation(
    mech: Mechanism,
    *,
    kinds: Sequence[str] = DEFAULT_KINDS,
    only: Sequence[str] = (),
    period: float = 10.0,
    harmonics: int = 5,
    criterion: Criterion = "condition",
    speed: float | None = None,
    acceleration: float | None = None,
    rate: float = 100.0,
    starts: int = 2,
    iterations: int = 30,
    seed: int = 0,
    p: Values = None,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Excitation:
    """Find a periodic trajectory within the joints' limits in which the chosen parameters (as in `identify`) are well
    identifiable.

    period : s; harmonics : of the base frequency, at least 2; speed, acceleration : rad/s, rad/s² or m/s, m/s²: upper
    bounds beside the joints' own; rate : Hz of the trace; starts : random motions from which it is improved;
    cancelled : ends the search, the best so far is the result

    Raises ModelError for machines with loops, and joints without coordinates of their own.
    """
    _check_excitation_arguments(mech, period, harmonics, criterion, rate)
    known, places = select_parameters(mech, kinds, only, p)
    q, v, a, _ = random_motions(mech.compiled, max(40, 3 * len(known.names)), 0, p)
    base = base_parameters_from_regressor(
        mech.regressor(q, v, a, kinds=kinds, p=p)[..., places].reshape(-1, len(known.names)), known
    )
    columns = [places[k] for k in base.columns]
    limits, efforts = _motion_and_force_limits(mech, speed, acceleration, p)

    def regressors(q: Array, v: Array, a: Array) -> Array:
        return mech.regressor(q, v, a, kinds=kinds, p=p)[..., columns]

    def strained(q: Array, v: Array, a: Array) -> Array | float:
        if not np.isfinite(efforts).any():
            return np.zeros(q.shape[:-2])
        tau = mech.inverse_dynamics(q, v, a, p=p)
        over = np.maximum(np.max(np.abs(tau), axis=-2) / efforts - MARGIN, 0.0)
        return np.asarray(FORCE_WEIGHT * np.sum(over, axis=-1))

    mech.compile("regressor")
    mech.compile("inverse_dynamics")  # not at the end, which is what remains to be done after a stop
    problem = _ExcitationProblem(mech, period, harmonics, limits, regressors, strained, criterion)
    best, first = _search_coefficients(problem, mech.nv, starts, iterations, seed, progress, cancelled)
    count = max(round(period * rate), SAMPLES)
    time = np.linspace(0.0, period, count, endpoint=False, dtype=np.float64)
    q, v, a = problem.motion_of_coefficients(best, problem.fourier_waves(count, np.arange(1, harmonics + 1)))
    W = regressors(q, v, a).reshape(-1, base.rank)
    start = regressors(*problem.motion_of_coefficients(first, problem.coarse)).reshape(-1, base.rank)
    tau = np.asarray(mech.inverse_dynamics(q, v, a, p=p))
    active = _names_of_active_limits(mech, limits, efforts, q, v, a, tau)
    log_det = float(np.linalg.slogdet(W.T @ W)[1])
    return Excitation(mech, time, q, v, a, tau, _condition_number(W), _condition_number(start), log_det, active, base)


def _check_excitation_arguments(mech: Mechanism, period: float, harmonics: int, criterion: str, rate: float) -> None:
    if mech.constrained or mech.nq != mech.nv or not mech.nv:
        raise ModelError(
            "Exciting trajectories need an open chain of joints with one coordinate each."
            if mech.nv
            else "No joint of the machine can move.",
            where="excitation",
            remedy="Record any other motion; the base parameters can also be identified from it.",
        )
    if criterion not in CRITERIA:
        raise ModelError(
            f"There is no criterion '{criterion}'.", where="criterion", remedy=suggest_names(criterion, CRITERIA)
        )
    for name, value, least in (("period", period, 0.0), ("harmonics", harmonics, 1), ("rate", rate, 0.0)):
        if not value > least:
            raise ModelError(f"{value:g} is too small.", where=name, remedy=f"Use more than {least:g}.")


def _motion_and_force_limits(
    mech: Mechanism, speed: float | None, acceleration: float | None, p: Values
) -> tuple[tuple[Array, Array, Array, Array, Array], Array]:
    """Return (center, low, high, speed, acceleration), each (nv,), and largest forces, inf where there are none."""
    numbers = mech.compiled.coordinates.numbers
    rest = mech.rest(p)
    low, high = mech.compiled.coordinates.lower.copy(), mech.compiled.coordinates.upper.copy()
    low = np.where(np.isfinite(low), low, rest - DEFAULT_RANGE)
    high = np.where(np.isfinite(high), high, rest + DEFAULT_RANGE)
    speeds, efforts = np.full((2, mech.nv), np.inf)
    for k, coordinate in enumerate(mech.coordinates):
        limits = mech.compiled.coordinates.joints[coordinate.joint].limits
        if coordinate.index - mech.joint_q(coordinate.joint).start < len(limits):
            limit = limits[coordinate.index - mech.joint_q(coordinate.joint).start]
            where = f"joint '{coordinate.joint}', limits"
            if limit.velocity is not None:
                speeds[k] = effective_motor_limit(numbers.scalar(limit.velocity, where))
            if limit.effort is not None:
                efforts[k] = effective_motor_limit(numbers.scalar(limit.effort, where))
    speeds = np.minimum(speeds, np.inf if speed is None else speed)
    speeds = np.where(np.isfinite(speeds) & (speeds > 0.0), speeds, DEFAULT_SPEED)
    fastest = np.full(mech.nv, np.inf if acceleration is None else acceleration)
    center = 0.5 * (low + high)
    reach = np.minimum(high - center, 2.0 * math.pi)
    efforts = np.where(efforts > 0.0, efforts, np.inf)
    return (center, center - reach, center + reach, speeds, fastest), efforts


def _criterion_and_gradient(W: Array, criterion: Criterion) -> tuple[float, Array]:
    """Return the logarithm of the condition number of the column-scaled regressor, or −log det of WᵀW, and its gradient
    with respect to W."""
    G = W.T @ W
    if criterion == "determinant":
        inverse = np.linalg.pinv(G, hermitian=True)
        return -float(np.linalg.slogdet(G)[1]) / len(G), -2.0 / len(G) * (W @ inverse)
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    squares, u = np.linalg.eigh(G / np.outer(size, size))
    low, high = max(float(squares[0]), 1e-300), float(squares[-1])
    first, last = u[:, -1] / size, u[:, 0] / size
    H = 0.5 * (np.outer(first, first) / high - np.outer(last, last) / low) - np.diag(0.5 * (first**2 - last**2))
    return 0.5 * math.log(high / low), 2.0 * (W @ H)


def _condition_number(W: Array) -> float:
    sigma = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300), compute_uv=False)
    return float(sigma[0] / max(sigma[-1], 1e-300))


def _search_coefficients(
    problem: _ExcitationProblem,
    nv: int,
    starts: int,
    iterations: int,
    seed: int,
    progress: Callable[[float], None] | None,
    cancelled: Callable[[], bool] | None,
) -> tuple[Array, Array]:
    """Optimise from several starts; return (best coefficients, coefficients tried first). Cancellation is checked after
    each evaluated trajectory."""
    rng = np.random.default_rng(seed)
    tried = rng.normal(size=(max(4 * starts, 1), nv * problem.size))
    best, least, done = tried[0], math.inf, 0

    class _SearchCancelled(Exception):
        """Raised when the search is cancelled."""

    def evaluate(x: Array, with_gradient: bool) -> tuple[float, Array]:
        nonlocal best, least
        value, by_x = problem.objective_and_gradient(x) if with_gradient else (problem.objective(x), x)
        if value < least:
            best, least = x.copy(), value
        if cancelled is not None and cancelled():
            raise _SearchCancelled
        return value, by_x

    def check_cancelled(_: Array) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done / (starts * iterations), 1.0))

    try:
        first = np.array([evaluate(each, with_gradient=False)[0] for each in tried])
        for k in np.argsort(first)[:starts]:
            options = {"maxiter": iterations}
            minimize(
                evaluate, tried[k], (True,), jac=True, method="L-BFGS-B", callback=check_cancelled, options=options
            )
    except _SearchCancelled:
        pass
    return best, tried[0]


def _names_of_active_limits(
    mech: Mechanism, limits: tuple[Array, ...], efforts: Array, q: Array, v: Array, a: Array, tau: Array
) -> tuple[str, ...]:
    """Return the names of the limits that are reached and of the forces that exceed theirs."""
    _, low, high, speed, acceleration = limits
    near = MARGIN - 0.02
    found = []
    for k, name in enumerate(mech.v_names):
        middle, reach = 0.5 * (low[k] + high[k]), 0.5 * (high[k] - low[k])
        if np.max(np.abs(q[:, k] - middle)) > near * reach:
            found.append(f"{name} position")
        if np.max(np.abs(v[:, k])) > near * speed[k]:
            found.append(f"{name} speed")
        if np.max(np.abs(a[:, k])) > near * acceleration[k]:
            found.append(f"{name} acceleration")
        if np.max(np.abs(tau[:, k])) > efforts[k]:
            found.append(f"{name} force, beyond its limit")
        elif np.max(np.abs(tau[:, k])) > near * efforts[k]:
            found.append(f"{name} force")
    return tuple(found)

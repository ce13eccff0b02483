"""Derivatives of runs with respect to parameters and initial values: of channels over time (`run_derivatives`), and of
a scalar of the whole run (`gradient`).

They are those of the discrete solution, composed step by step around the exact derivatives of the equations of motion
(Hairer, Nørsett and Wanner, Solving ODE I, II.6; Griewank and Walther, Evaluating Derivatives, 3): forward the changes
of the state with each parameter go along (variational equations), back the weights of the state go from the end to the
beginning (adjoint), at a cost that does not grow with the number of parameters.

The objective is a formula of reductions: "at(tool.position.z, end)", "rms(elbow.tau) + max(abs(tip.v))".

A reduction takes a channel or a formula of channels: its value at a time (`at`), mean, root mean square, integral,
largest or smallest value, span, or smooth maximum (`softmax(x, beta)`) over the samples of the run, as
`core.simulation.measures.reductions` has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.errors import ExpressionError, ModelError
from core.identification.sensitivities.replay import RecordedSteps, check_differentiable, record_steps
from core.identification.sensitivities.run_changes import RunDerivativePropagation
from core.identification.sensitivities.seen import OutputEvaluator, OutputValues
from core.identification.sensitivities.start_state_derivatives import (
    InitialState,
    parse_derivative_variables,
    start_state_derivatives,
)
from core.identification.sensitivities.steps import SampleTimes
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.model.formula.expression import Name, Node, evaluate, names_in_formula, parse
from core.model.formula.text import format_formula
from core.simulation import Run, simulate
from core.simulation.equations.joint_forces import find_mode_variables
from core.simulation.measures.reductions import END, FURTHER, SMOOTH, reduce_with_derivatives, replace_reductions
from core.simulation.run.settings import Values

if TYPE_CHECKING:
    from core.simulation.equations.joint_forces import Torque


Array = NDArray[np.float64]


WORDS = FURTHER | {SMOOTH}
"""Reductions in objectives: the word, and the number of arguments."""
EXAMPLE = "Write e.g. at(tool.position.z, end), rms(elbow.tau) or max(abs(elbow.v))."

FORWARD_COLUMNS = 3
"""Largest number of columns per output up to which forward differentiation is used."""


class Reduction(NamedTuple):
    """Call of a reduction: its word, the formula that it reduces, and its second argument ("" if it has none)."""

    word: str
    channel: str
    second: str

    def value_and_derivatives(self, values: Array, times: Array) -> tuple[float, Array]:
        """Return the value of the reduction over samples, and its derivatives with respect to the samples (n,)."""
        if self.word == "at":
            return float(values[0]), np.ones(1)
        return reduce_with_derivatives(self.word, values, times, beta=float(self.second or 1.0))

    def time(self, first: float, last: float) -> float | None:
        """Return the time at which `at` evaluates, s; None for reductions over all samples. Raises ModelError for a
        time outside the run."""
        if self.word != "at":
            return None
        if self.second == END:
            return last
        try:
            time = float(evaluate(parse(self.second), {}))
        except ExpressionError as error:
            raise error.at(where=f"objective, time of at({self.channel}, …)") from None
        if not first <= time <= last:
            raise ModelError(
                f"The run has no time {time:g} s.",
                where="objective",
                remedy=f"Give a time from {first:g} to {last:g} s, or end.",
            )
        return time


class GradientObjective:
    """Formula of reductions of a run. Raises ExpressionError and ModelError that state what is wrong."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not text.strip():
            raise ModelError("The objective is not a formula.", where="objective", remedy=EXAMPLE)
        self.text = text
        self.reductions: list[Reduction] = []
        try:
            self._node = replace_reductions(parse(text, extra_functions=WORDS), WORDS, self._replace_reduction)
        except ExpressionError as error:
            raise error.at(where="objective") from None
        unknown = sorted(names_in_formula(self._node) - {f"reduction{k}" for k in range(len(self.reductions))})
        if unknown or not self.reductions:
            name = unknown[0] if unknown else text.strip()
            raise ModelError(
                f"'{name}' varies over time, so it is not one number per run: reduce it by at, mean, max or the like.",
                where="objective",
                remedy=EXAMPLE,
            )

    def _replace_reduction(self, word: str, arguments: tuple[Node, ...]) -> Node:
        """Record a reduction and return the name that replaces it."""
        self.reductions.append(_parse_reduction(word, arguments))
        return Name(f"reduction{len(self.reductions) - 1}")

    def value_and_derivatives(self, values: Sequence[float]) -> tuple[float, Array]:
        """Return the value of the objective, and its derivatives with respect to the reductions' values."""
        x = ca.SX.sym("x", len(values))
        whole = evaluate(self._node, {f"reduction{k}": x[k] for k in range(len(values))})
        found = ca.Function("objective", [x], [ca.SX(whole), ca.densify(ca.gradient(ca.SX(whole), x))])
        value, slopes = found(np.asarray(values, dtype=float))
        return float(value), np.asarray(slopes.full(), dtype=float).reshape(-1)


def _parse_reduction(word: str, arguments: tuple[Node, ...]) -> Reduction:
    second = format_formula(arguments[1]) if len(arguments) == 2 else ""
    if word == "softmax" and not _is_number(second):
        raise ExpressionError(f"'{second}' must be a number other than 0.", where="objective", remedy=EXAMPLE)
    if inner := _first_reduction_word(arguments[0]):
        raise ExpressionError(
            f"'{word}' contains another reduction, '{inner}'.",
            where="objective",
            remedy="Reduce a formula of channels, which has a value at each time.",
        )
    return Reduction(word, format_formula(arguments[0]), second)


def _first_reduction_word(node: Node) -> str:
    """Return the word of the first reduction in a formula; "" if there is none."""
    found: list[str] = []

    def record_reduction(word: str, arguments: tuple[Node, ...]) -> Node:
        found.append(word)
        return arguments[0]

    replace_reductions(node, WORDS, record_reduction)
    return found[0] if found else ""


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text)) and float(text) != 0.0
    except ValueError:
        return False


@dataclass(frozen=True)
class Gradient:
    """Gradient of an objective. value : of the objective, SI; gradient : (m,) its derivatives with respect to each of
    the names `by`; method : forward or adjoint; run : differentiated run. `value, gradient = ks.gradient(…)` unpacks
    the first two."""

    value: float
    gradient: Array
    by: tuple[str, ...]
    method: str
    run: Run

    def __iter__(self) -> Iterator[Any]:
        return iter((self.value, self.gradient))


def gradient(
    model: Model | Mechanism | Run,
    objective: str,
    by: Sequence[str] | None = None,
    method: Literal["auto", "forward", "adjoint"] = "auto",
    *,
    duration: float = 1.0,
    integrator: str = "rk4",
    step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-9,
    output: float | None = None,
    q0: Values = None,
    v0: Values = None,
    x0: Values = None,
    parameters: Values = None,
    torque: Torque = None,
    start: float = 0.0,
) -> Gradient:
    """Compute a scalar of a run and its exact derivatives with respect to parameters and initial values.

    model : a model or mechanism, which is run with the options that follow as `simulate` takes them, `integrator` as
        its `method`; or a run
    objective : a formula of reductions of channels: "at(tool.position.z, end)", "rms(elbow.tau)", "integral(x.q^2)",
        "max(abs(elbow.v))"; also mean, min, span, softmax(…, beta)
    by : names of parameters, and of start values "elbow.q", "elbow.v" (default: all parameters)
    method : forward (cost grows with the number of names), adjoint (it does not), or what suits

    Where the objective takes the largest of samples, its derivative is that of this sample. Raises ModelError,
    ExpressionError and SimulationError for names, formulas and motions that have no derivative.
    """
    if method not in ("auto", "forward", "adjoint"):
        raise ModelError(f"'{method}' is not a method.", where="method", remedy="Use 'auto', 'forward' or 'adjoint'.")
    goal = GradientObjective(objective)
    if isinstance(model, Run):
        given, run = None, model
    else:
        mech = model if isinstance(model, Mechanism) else Mechanism(model)
        parse_derivative_variables(mech, mech.p_names if by is None else by)
        check_differentiable(mech, integrator)
        run = simulate(
            mech,
            duration,
            method=integrator,
            step=step,
            rtol=rtol,
            atol=atol,
            output=output,
            q0=q0,
            v0=v0,
            x0=x0,
            parameters=parameters,
            torque=torque,
            start=start,
        )
        given = InitialState(q0, v0, x0, start)
    names = tuple(run.mech.p_names if by is None else by)
    found = DifferentiatedRun(run, names, given, run.settings.torque if given is None else torque)
    value, slopes, method = found.objective_gradient(goal, method)
    return Gradient(value, slopes, names, method, run)


def run_derivatives(
    run: Run,
    output: str | Sequence[str],
    by: Sequence[str],
    at: Literal["end"] | float | Sequence[float] | Array = "end",
) -> Array:
    """Return (times, components, m) derivatives of channels at times, s, by m names; see `Run.derivatives`."""
    if isinstance(at, str) and at != "end":
        raise ModelError(
            f"'{at}' is not a time of a run.", where="at", remedy="Give 'end', or one or several times in s."
        )
    times = np.atleast_1d(np.asarray(run.time[-1] if isinstance(at, str) else at, dtype=float))
    outside = times[~((times >= run.time[0]) & (times <= run.time[-1]))]
    if len(outside) or times.ndim != 1 or not len(times):
        named = f"{outside[0]:g} s" if len(outside) else "that"
        raise ModelError(
            f"The run has no time {named}.",
            where="at",
            remedy=f"Give times from {run.time[0]:g} to {run.time[-1]:g} s.",
        )
    asked = [output] if isinstance(output, str) else list(output)
    if not asked:
        raise ModelError("No channel is named.", where="output", remedy="Name one, e.g. 'tool.position'.")
    found = DifferentiatedRun(run, tuple(by) if not isinstance(by, str) else by, None, run.settings.torque, times.max())
    return found.output_derivatives(asked, times)[1]


class DifferentiatedRun:
    """Run with derivatives with respect to the given names, up to time `end`, s. The start tells how the initial state
    was given: None for numbers, or an equilibrium if the run began at rest."""

    def __init__(
        self, run: Run, by: Sequence[str], start_state: InitialState | None, torque: Any, end: float | None = None
    ) -> None:
        mech, chosen = run.mech, run.settings
        columns = parse_derivative_variables(mech, by)
        parameters = tuple(dict.fromkeys(column.parameter for column in columns if column.parameter >= 0))
        self.run = run
        self.replay: RecordedSteps = record_steps(run, torque, parameters, float(run.time[-1] if end is None else end))
        p = self.replay.p
        y0 = self.replay.steps.states[0]
        start = start_state or start_for_repeated_run(run, y0, p)
        changed = start_state_derivatives(mech, start, y0, p, columns)
        nodes = [*mech.compiled.elements.mode_variables.indicators, *find_mode_variables(mech, torque).indicators]
        self.changes = RunDerivativePropagation(self.replay, columns, changed, [format_formula(node) for node in nodes])
        self.first, self.last = chosen.start, float(self.replay.steps.times[-1])

    def output_derivatives(self, outputs: Sequence[str], times: Array) -> tuple[OutputEvaluator, Array, Array]:
        """Return the outputs, derivatives (times, components, m), and values (times, components)."""
        rates, steps = self.replay.rates, self.replay.steps
        eyes, samples = OutputEvaluator(self.replay, outputs), SampleTimes.of(steps, times)
        seen = eyes(samples.evaluation_points(rates, steps))
        found = seen.by_y @ self.changes.forward(samples)
        of_p = self.changes.columns >= 0
        found[:, :, of_p] += seen.by_p[:, :, self.changes.columns[of_p]]
        return eyes, found, seen.y

    def objective_gradient(
        self, objective: str | GradientObjective, method: Literal["auto", "forward", "adjoint"]
    ) -> tuple[float, Array, Literal["forward", "adjoint"]]:
        """Return the value of an objective, its derivatives (m,), and the method used."""
        goal = GradientObjective(objective) if isinstance(objective, str) else objective
        value, samples, weights, by_p = self.reduce_objective(goal)
        if method == "auto":
            method = "forward" if len(self.changes.columns) <= FORWARD_COLUMNS else "adjoint"
        if method == "forward":
            slopes = np.einsum("ki,kim->m", weights, self.changes.forward(samples))
        else:
            slopes = self.changes.propagate_adjoint(samples, weights)
        of_p = self.changes.columns >= 0
        slopes[of_p] += by_p[self.changes.columns[of_p]]
        return value, slopes, method

    def reduce_objective(self, goal: GradientObjective) -> tuple[float, SampleTimes, Array, Array]:
        """Return the value, the samples, the weights (s, n) of the states there, and the direct derivatives (m,) with
        respect to parameters."""
        rates, steps = self.replay.rates, self.replay.steps
        all_times = np.unique(self.run.time)
        moments = [each.time(self.first, self.last) for each in goal.reductions]
        asked = [np.array([time]) if time is not None else all_times for time in moments]
        values, pieces = [], []
        for each, times in zip(goal.reductions, asked, strict=True):
            samples = SampleTimes.of(steps, times)
            seen = self._scalar_output(each.channel, samples)
            value, slopes = each.value_and_derivatives(seen.y[:, 0], times)
            values.append(value)
            pieces.append((samples, seen, slopes))
        value, outer = goal.value_and_derivatives(values)
        weights, by_p = [], np.zeros(len(rates.by))
        for factor, (_, seen, slopes) in zip(outer, pieces, strict=True):
            own = factor * slopes
            weights.append(own[:, None] * seen.by_y[:, 0])
            by_p += own @ seen.by_p[:, 0]
        rows = ((each.times, each.step, each.onward) for each, *_ in pieces)
        joined = SampleTimes(*(np.concatenate(each) for each in zip(*rows, strict=True)))
        return value, joined, np.concatenate(weights), by_p

    def _scalar_output(self, channel: str, samples: SampleTimes) -> OutputValues:
        eyes = OutputEvaluator(self.replay, [channel])
        if len(eyes.names) > 1:
            raise ModelError(
                f"'{channel}' has several components.",
                where="objective",
                remedy=f"Name one of them, such as '{eyes.names[0]}'.",
            )
        return eyes(samples.evaluation_points(self.replay.rates, self.replay.steps))


def start_for_repeated_run(run: Run, y0: Array, p: Array) -> InitialState:
    """Return the initial state for repeating a run with other parameters: at rest if the run began at rest, otherwise
    the same numbers."""
    from core.simulation.run.initial_state import start_state

    mech, time = run.mech, run.settings.start
    try:
        at_rest = start_state(mech, None, None, p, time)
    except ModelError:
        at_rest = np.full(len(y0), np.nan)
    if np.array_equal(at_rest, y0):
        return InitialState(None, None, None, time)
    nq, nv = mech.nq, mech.nv
    return InitialState(y0[:nq], y0[nq : nq + nv], y0[nq + nv :] if mech.nx else None, time)

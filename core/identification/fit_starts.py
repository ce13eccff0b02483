"""Initial guesses for the fit of a run: fitted channels, parameters within bounds, initial values suggested by the
trace."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import UnivariateSpline

from core.errors import ModelError, SimulationError, suggest_names
from core.identification.measured_motion import estimate_noise
from core.identification.measured_trace import MeasuredTrace
from core.identification.sensitivities.start_state_derivatives import choose_independent_speeds
from core.identification.shooting import MultipleShooting
from core.mechanism import Mechanism
from core.model.parameters import evaluate_field

Array = NDArray[np.float64]

MOST_KNOTS = 250
"""Largest number of corners of a measured force that drives a run."""


def select_fitted_signals(trace: MeasuredTrace, outputs: Sequence[str]) -> tuple[str, ...]:
    """Return the channels of a trace that are fitted. Raises ModelError."""
    missing = next((name for name in outputs if name not in trace.signals), None)
    if missing is not None:
        raise ModelError(
            f"The trace has no signal '{missing}'.", where="outputs", remedy=suggest_names(missing, list(trace.signals))
        )
    found = tuple(outputs) or tuple(name for name in trace.signals if _is_fitted_by_default(name, trace))
    if not found:
        raise ModelError(
            "The trace contains only forces: there is no motion to fit.",
            where="trace",
            remedy="Assign a column with a motion, for example joint1.q=angle.",
        )
    return found


def _is_fitted_by_default(name: str, trace: MeasuredTrace) -> bool:
    """Return True if a signal is fitted by default: if it is neither a force nor the rate of a measured quantity."""
    owner, _, quantity = name.rpartition(".")
    return quantity != "tau" and not (quantity in ("v", "a") and f"{owner}.q" in trace.signals)


def parameter_bounds(
    mech: Mechanism, vary: Sequence[str] | Mapping[str, tuple[float, float]]
) -> tuple[tuple[str, ...], Array, Array]:
    """Return (names, low (m,), high (m,)): the given bounds, otherwise the minimum and maximum of the parameters."""
    if isinstance(vary, str) or not vary:
        raise ModelError(
            "No parameter is selected.",
            where="vary",
            remedy=f"Choose from: {', '.join(mech.p_names[:8]) or 'the parameters (the model has none yet)'}.",
        )
    values = mech.model.values()
    low, high = [], []
    for name in vary:
        if name not in mech.p_names:
            raise ModelError(
                f"There is no independent parameter '{name}'.", where="vary", remedy=suggest_names(name, mech.p_names)
            )
        known = mech.model.expanded.find("parameters", name)
        ends = [-np.inf if known.minimum is None else float(evaluate_field(known.minimum, values)),
                np.inf if known.maximum is None else float(evaluate_field(known.maximum, values))]  # fmt: skip
        if isinstance(vary, Mapping) and vary[name] is not None:
            ends = [float(end) for end in vary[name]]
        if not ends[0] < ends[1]:
            raise ModelError(
                f"The lower bound {ends[0]:g} is not below the upper bound {ends[1]:g}.",
                where=f"bounds of '{name}'",
                remedy="Give the lower one first.",
            )
        low.append(ends[0])
        high.append(ends[1])
    return tuple(vary), np.array(low), np.array(high)


def select_free_start_values(
    mech: Mechanism, free: Sequence[str] | None, q0: Mapping[str, Any], v0: Mapping[str, Any], t: float
) -> tuple[str, ...]:
    """Return the names of the initial values to estimate: those named, otherwise all independent coordinates that are
    not given; attitudes of joints with quaternions are estimated only if named ("ball.wx.q")."""
    known = {f"{name}.{end}" for name in mech.v_names for end in "qv"}
    turning = {f"{name}.q" for name in mech.v_names if name not in mech.q_names}
    given = {f"{name.removesuffix('.q')}.q" for name in q0} | {f"{name.removesuffix('.v')}.v" for name in v0}
    if free is not None:
        for name in free:
            if name not in known or name in given:
                raise ModelError(
                    f"'{name}' is already given." if name in known else f"There is no initial value '{name}'.",
                    where="free",
                    remedy="" if name in known else suggest_names(name, sorted(known)),
                )
        return tuple(free)
    names = list(mech.v_names)
    if mech.constrained:
        G = mech.constraint_jacobian(mech.rest(t=t), t=t)
        names = [mech.v_names[k] for k in choose_independent_speeds(mech, mech.parameter_values(), t, G, (), ())]
    every = (*(f"{name}.q" for name in names), *(f"{name}.v" for name in names))
    return tuple(name for name in every if name not in turning and name not in given)


def joint_force_formulas(mech: Mechanism, trace: MeasuredTrace, notes: list[str]) -> dict[str, str] | None:
    """Convert the joint forces of a trace to formulas of time, linear between rows; None if it has none."""
    found = {}
    for name, values in trace.of("tau").items():
        if name not in mech.v_names:
            continue
        time, force = trace.time, values
        if len(time) > MOST_KNOTS:
            time = np.linspace(time[0], time[-1], MOST_KNOTS)
            force = np.interp(time, trace.time, values)
            notes.append(f"{name}.tau is approximated in the run by {MOST_KNOTS} straight segments")
        found[name] = _polyline_formula(time, force)
    return found or None


def _polyline_formula(time: Array, force: Array) -> str:
    """Write a polyline as a formula: its first line, and a change of slope at each corner."""
    slopes = np.diff(force) / np.diff(time)
    turns = np.diff(slopes, prepend=0.0)
    terms = [f"{force[0]:.12g}"]
    terms += [f"({turn:.12g})*max(t-({t:.12g}),0)" for turn, t in zip(turns, time, strict=False) if turn != 0.0]
    while len(terms) > 1:  # a sum of pairs, and no deep one
        terms = [f"({'+'.join(terms[k : k + 2])})" for k in range(0, len(terms), 2)]
    return terms[0]


def initial_segment_values(problem: MultipleShooting, trace: MeasuredTrace, p: Array) -> list[Array]:
    """Return guesses for the initial values of each segment: from smoothed measurements if available, otherwise from a
    run with the present parameters."""
    mech = problem.mech
    known: dict[str, Any] = {}
    for name in mech.v_names:
        if f"{name}.q" in trace.signals and name in mech.q_names:
            values = trace.signals[f"{name}.q"]
            spline = _fit_smoothing_spline(trace.time, values, min(5, len(values) - 1))
            known[f"{name}.q"], known[f"{name}.v"] = spline, spline.derivative()
        if f"{name}.v" in trace.signals:
            values = trace.signals[f"{name}.v"]
            known[f"{name}.v"] = _fit_smoothing_spline(trace.time, values, 3)
    rest = _model_start_values(problem, p)
    first = problem.segments[0]
    own = [np.array([float(known[n](first.begin)) if n in known else rest[n] for n in first.free])]
    if len(problem.segments) == 1:
        return own
    states = _simulate_segment_states(problem, p, own[0])
    for k, segment in enumerate(problem.segments[1:]):
        values = problem.of(segment, states[k])
        if mech.nq != mech.nv:
            problem.bases[k + 1] = states[k][: mech.nq]
        for at, name in enumerate(segment.free):
            if name in known:
                values[at] = float(known[name](segment.begin))
        own.append(values)
    return own


def _fit_smoothing_spline(time: Array, values: Array, degree: int) -> Any:
    """Fit a spline to the measured values within their noise, to be used as an initial guess."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return UnivariateSpline(time, values, k=degree, s=len(values) * estimate_noise(values) ** 2)


def _model_start_values(problem: MultipleShooting, p: Array) -> dict[str, float]:
    """Return the initial values of the model."""
    from core.simulation.run.initial_state import start_state

    mech, begin = problem.mech, problem.segments[0].begin
    values = mech.parameter_values(problem.parameters(p))
    y = start_state(mech, problem.q0 or None, problem.v0 or None, values, begin)
    found = dict.fromkeys((f"{name}.q" for name in mech.v_names), 0.0)
    found |= {f"{name}.q": float(y[mech.q_names.index(name)]) for name in mech.q_names}
    return found | {f"{name}.v": float(y[mech.nq + k]) for k, name in enumerate(mech.v_names)}


def _simulate_segment_states(problem: MultipleShooting, p: Array, first_start_values: Array) -> list[Array]:
    """Simulate the whole trace and return the states at the starts of the segments; after a run that cannot continue,
    its last state."""
    end = problem.segments[-1].begin
    try:
        run, _ = problem.run(0, p, first_start_values, end=end)
    except SimulationError as error:
        if error.run is None:
            raise
        run = error.run
    y = np.concatenate([run.q, run.v, run.x], axis=1) if run.x.shape[1] else np.concatenate([run.q, run.v], axis=1)
    return [y[np.searchsorted(run.time, min(segment.begin, run.time[-1]))] for segment in problem.segments[1:]]

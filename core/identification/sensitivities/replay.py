"""Recorded steps of a run for its differentiation: the equations with derivatives, and every step that was taken.

Fixed steps are the samples of a run that keeps all of them; of variable ones each accepted step is kept and held as it
is (frozen), those that ended at an event among them.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.machine_code import MachineCode
from core.constraints.closed_forms.closed_forms import AnalyticClosure, get_analytic_closure
from core.constraints.joint_modes import build_joint_row_table
from core.errors import ModelError, SimulationError
from core.identification.sensitivities.explicit_rates import CompiledArguments, EvaluationPoints, ExplicitRates
from core.identification.sensitivities.held_rates import ConstrainedRates
from core.identification.sensitivities.steps import RunSteps
from core.machine_code.outcome import FINE, PAUSED
from core.machine_code.records import array_address
from core.mechanism import Mechanism
from core.simulation import METHODS, Run, Settings, simulate
from core.simulation.equations import joint_forces
from core.simulation.events.contact_columns import CLIPPED, STOP, columns_of_all_rows
from core.simulation.simulator import SimulationJob
from core.simulation.stepping import advance_adaptive

Array = NDArray[np.float64]

RUNGE_KUTTA = ("auto", "rk54", "rk853", "rk32", "rk4", "euler", "semi_implicit_euler")
"""Methods whose steps are differentiated."""

MOST_OPERATIONS = 3_000
"""Largest number of operations of an analytic loop closure that is differentiated, since its derivatives are about ten
times as long; longer closures are differentiated as if the loops were closed by iteration."""

Rates = ExplicitRates | ConstrainedRates


class RecordedSteps(NamedTuple):
    """Equations and steps of a run, with its machine and settings."""

    rates: Rates
    steps: RunSteps
    mech: Mechanism
    settings: Settings
    given: CompiledArguments

    @property
    def p(self) -> Array:
        """Parameter values."""
        return self.given.p


class NotDifferentiableError(ModelError):
    """Raised for machines and methods whose runs cannot be differentiated."""


def record_steps(run: Run, torque: Any, parameters: tuple[int, ...], end: float) -> RecordedSteps:
    """Return all steps of a run up to a time. Raises ModelError and SimulationError if the run has no derivative."""
    mech, chosen = run.mech, run.settings
    check_differentiable(mech, chosen.method)
    p = chosen.values_of(mech.p_names)
    _check_no_mode_changes(run, p, end)
    given = CompiledArguments(mech, torque, joint_forces.constant_forces(mech, torque), p)
    y = np.concatenate([run.q[0], run.v[0], run.x[0] if run.x.shape[1] else np.zeros(0)])
    forms = _differentiable_closure(mech, y, p)
    rates: Rates
    if mech.constrained and forms is None:
        rates = ConstrainedRates(given, parameters)
    else:
        rates = ExplicitRates(given, parameters, forms)
    by_forms = None if not mech.constrained else forms is not None
    if chosen.integration_method.adaptive:
        times, states = _accepted_steps(mech, chosen, y, torque, by_forms)
    else:
        times, states = _fixed_steps(run, torque, by_forms)
    return RecordedSteps(rates, _steps_with_sides(rates, times, states, chosen), mech, chosen, given)


def check_differentiable(mech: Mechanism, method: str) -> None:
    """Raise NotDifferentiableError if runs of this machine or method cannot be differentiated."""
    if method in METHODS and method not in RUNGE_KUTTA:
        raise NotDifferentiableError(
            f"Runs with the method {METHODS[method].title} cannot be differentiated.",
            where="derivatives of a run",
            remedy="Use rk54 or rk853, or rk4 with a fixed step.",
        )
    if mech.compiled.program.symbolic.is_long:
        raise NotDifferentiableError(
            "The machine is too large: its equations cannot be differentiated symbolically.",
            where="derivatives of a run",
            remedy="Use finite differences of runs, or a smaller machine.",
        )
    if sampled := mech.model.expanded.signal_table.sampled:
        raise NotDifferentiableError(
            "Runs with sampled signals cannot be differentiated.",
            where=f"signal '{sampled[0].signal.name}', period",
            remedy="Leave the period empty for a continuous law.",
        )
    if mech.compiled.elements.junctions:
        name = next(iter(mech.compiled.elements.junctions))
        raise NotDifferentiableError(
            "Runs of machines with massless junctions cannot be differentiated.",
            where=f"junction '{name}'",
            remedy="Give it a body with mass, or connect the force elements directly.",
        )


def _check_no_mode_changes(run: Run, p: Array, end: float) -> None:
    """Raise an error if dry friction, stops or limits act during the run."""
    rubbing = next((row for row in build_joint_row_table(run.mech.compiled, p).rows if row.has_dry_friction), None)
    if rubbing is not None:
        raise NotDifferentiableError(
            "Runs with dry friction cannot be differentiated, since sticking has no derivative.",
            where=rubbing.document_location,
            remedy="Remove it, or replace it by a smooth force: -friction*tanh(joint.v/0.01).",
        )
    event = next((each for each in run.events if each.time <= end), None)
    at_once = run.modes[:1][:, columns_of_all_rows(run.modes.shape[1], STOP, CLIPPED)] if run.modes.shape[1] else None
    if event is not None or (at_once is not None and at_once.any()):
        time, what = (run.time[0], "a limit acts") if event is None else (event.time, str(event))
        error = SimulationError(
            f"At t = {time:.6g} s {what}: runs cannot be differentiated across joint stops and limits.",
            where="derivatives of a run" if event is None else f"joint '{event.joint}'",
            remedy="End the run earlier, or switch joint limits off (limits: ideal of the world).",
        )
        error.time = float(time)
        raise error


def _differentiable_closure(mech: Mechanism, y: Array, p: Array) -> AnalyticClosure | None:
    """Return the analytic loop closure if it covers all constraints and is short enough; otherwise None."""
    if not mech.constrained:
        return None
    forms = get_analytic_closure(mech.compiled.program)
    usable = forms.is_usable and not forms.rows_left_to_iteration and not forms.long and forms.fit(y[: mech.nq], p)
    code = forms.reduction_code if usable else None
    return forms if isinstance(code, MachineCode) and code.operations <= MOST_OPERATIONS else None


def _fixed_steps(run: Run, torque: Any, use_analytic_closure: bool | None) -> tuple[Array, Array]:
    """Return times (N + 1,) and states (N + 1, n) of every fixed step."""
    chosen, mech = run.settings, run.mech
    assert chosen.step is not None
    whole = run
    per_sample = chosen.output / chosen.step
    if use_analytic_closure is not None or per_sample > 1.0 + 1e-9 or not run.complete:
        # steps of the run itself: equal parts of the time between two samples
        parts = max(1, int(np.ceil(per_sample - 1e-9)))
        whole = simulate(
            mech,
            chosen.duration,
            method=chosen.method,
            step=chosen.output / parts,
            output=chosen.output / parts,
            q0=run.q[0],
            v0=run.v[0],
            x0=run.x[0] if run.x.shape[1] else None,
            parameters=chosen.parameters,
            torque=torque,
            start=chosen.start,
            max_steps=chosen.max_steps,
            closed_forms=use_analytic_closure,
            closing=chosen.closing,
            factorisation=chosen.factorisation,
        )
    states = np.concatenate([whole.q, whole.v, *([whole.x] if whole.x.shape[1] else [])], axis=1)
    return np.array(whole.time), states


def _accepted_steps(
    mech: Mechanism, settings: Settings, y: Array, torque: Any, use_analytic_closure: bool | None
) -> tuple[Array, Array]:
    """Return times and states of every accepted variable step."""
    job = SimulationJob(mech, dataclasses.replace(settings, output=settings.duration), y, torque, use_analytic_closure)
    state, log = job.state, job.begun.log
    times, states = [settings.start], [np.array(state.y)]
    out = np.empty((2, len(y)))
    while True:
        state.budget = 1
        happened = advance_adaptive(state.place, array_address(out[state.sample :]), 2 - state.sample)
        if log is not None:
            log.used = log.changes = 0
        if happened not in (FINE, PAUSED):
            error = job.error(happened)
            error.where = error.where or "derivatives of a run"
            raise error
        if state.sliding > 0:
            error = SimulationError(
                f"At t = {state.time:.6g} s the motion slides along a switching surface, where it has no derivative.",
                where="derivatives of a run",
                remedy="Use a smooth function, such as tanh(x/0.001) for sign(x), or finite differences of runs.",
            )
            error.time = float(state.time)
            raise error
        time = state.reach if happened == FINE else state.time
        if time > times[-1]:
            times.append(float(time))
            states.append(np.array(state.new if happened == FINE else state.y))
        if happened == FINE:
            return np.array(times), np.array(states)


def _steps_with_sides(rates: Rates, times: Array, states: Array, settings: Settings) -> RunSteps:
    """Return the steps, with the side of each mode variable in each step."""
    method = settings.integration_method.begins_with or settings.method
    sides = np.zeros((len(times) - 1, rates.indicator_count))
    if rates.indicator_count:
        signs = np.sign(
            rates.indicators_with_derivatives(
                EvaluationPoints(times, states, np.zeros((len(times), rates.indicator_count)))
            ).g
        )
        sides = np.where(signs[:-1] == 0.0, signs[1:], signs[:-1])
    return RunSteps(times, states, sides, method)

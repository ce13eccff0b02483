"""Repeated runs of one machine with varying values, prepared once; all runs reuse the same memory for state and
samples.

What a run needs is made by the first of them: equations, states, logs. It is kept as it was before that run began, so
that another one begins as if it were the first, with its own parameters and its own state; between two runs there is
no more Python than that. Numbers are those of `simulate`, bit for bit. What it cannot promise this for, and what goes
wrong, it leaves to `simulate` (None), which says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import build_joint_row_table
from core.constraints.redundant_drivers import has_redundant_drivers
from core.errors import KinetostatError
from core.machine_code.entry import Entry
from core.machine_code.outcome import FINE, PAUSED
from core.machine_code.records import Record, array_address
from core.mechanism import Mechanism
from core.model import Joint, Limit, Mimic, Model
from core.model.fields import declared_fields, nested_elements
from core.model.formula.expression import names_in_formula, parse
from core.model.joints import LEVELS
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.equations.entry_points import sampled_accelerations
from core.simulation.equations.joint_contact_rows import uses_derived_stiffness
from core.simulation.equations.singular_masses import may_be_singular
from core.simulation.methods.method import ATOL, AUTOMATIC, RTOL
from core.simulation.run.begun_run import (
    LARGEST_PIECE,
    PreparedRun,
    allocate_run,
    begin_contact_states,
    limit_stop_stiffness,
)
from core.simulation.run.driver_jumps import check_driver_jumps
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import Settings, check_settings
from core.simulation.simulator import STEPS
from core.simulation.stepping import advance_adaptive, advance_fixed
from core.studies.row_run import LastRun, RowRun

FRICTION = (*LEVELS, "stribeck_speed")
BEGINNING = ("rest", "start_speed")

Array = NDArray[np.float64]
OPTIONS: dict[str, Any] = {
    "duration": 10.0,
    "method": AUTOMATIC,
    "step": None,
    "rtol": RTOL,
    "atol": ATOL,
    "output": None,
    "torque": None,
    "max_steps": 10_000_000,
    "closed_forms": None,
}
"""Options of `simulate` that are supported, with their defaults."""
CONSTANT = ("times", "A", "rows", "P", "points", "polynomials", "slid")
"""Record arrays that runs only read, or read only where they have written before; `rows` of logs among them."""


class ParameterDependence:
    """Analysis of which elements of a model depend on the varied parameters.

    modes : whether friction, limits, or couplings of joints follow them; starts : whether where and how fast joints
    begin does; lengths : whether places of joints do
    """

    def __init__(self, model: Model, varied: tuple[str, ...]) -> None:
        self._moved = _dependent_parameters(model, set(varied))
        joints = [part for joint in model.joints for part in nested_elements(joint)]
        bounds = any(self._depends_on_varied(part) for part in joints if isinstance(part, Limit | Mimic))
        own = [part for part in joints if isinstance(part, Joint)]
        clutches = [force for force in model.forces if force.is_clutch]
        self.modes = bounds or any(self._depends_on_varied(each, FRICTION) for each in (*own, *clutches))
        self.starts = bounds or any(self._depends_on_varied(each, BEGINNING) for each in own)
        self.lengths = any(self._depends_on_varied(side) for joint in model.joints for side in (joint.a, joint.b))

    def _depends_on_varied(self, element: Any, fields: tuple[str, ...] = ()) -> bool:
        chosen = fields or tuple(field.name for field in declared_fields(type(element)))
        return any(self._moved & found for name in chosen for found in _names_in_formulas(getattr(element, name)))


def _dependent_parameters(model: Model, changed: set[str]) -> set[str]:
    """Return the given parameters and all parameters that depend on them."""
    uses = {
        p.name: set(names_in_formula(parse(p.value))) if isinstance(p.value, str) else set() for p in model.parameters
    }
    found = set(changed)
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return found


def _names_in_formulas(value: Any) -> Iterator[set[str]]:
    """Yield the sets of names in the formulas of a field."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str):
            try:
                yield set(names_in_formula(parse(each)))
            except Exception:  # a choice or a name
                continue


class RunTimeLimitExceeded(Exception):
    """Raised if a run exceeds its limit of computing time; simulated_time : simulated time reached, s."""

    def __init__(self, simulated_time: float) -> None:
        super().__init__(simulated_time)
        self.at = simulated_time


class PreparedRuns:
    """Prepared runs of a machine with varying parameters, start positions and start speeds."""

    def __init__(self, mech: Mechanism, varied: tuple[str, ...], options: Mapping[str, Any]) -> None:
        """Prepare the runs. varied : names of parameters; options : as in `OPTIONS`."""
        self._mech, self._options = mech, {**OPTIONS, **options}
        self._nominal = np.asarray(mech.parameter_values(), dtype=float)
        self._at = {name: k for k, name in enumerate(mech.p_names)}
        self._uses = ParameterDependence(mech.model.expanded, varied)
        self._start = _InitialStates(mech, self._uses)
        self._prepared: _ReusableRun | None = None
        self.possible = not (mech.constrained and self._options["closed_forms"] is None)
        """True if runs of the machine can be prepared; before the first one, as far as known."""

    def run(
        self,
        parameters: Mapping[str, float],
        q0: Mapping[str, float],
        v0: Mapping[str, float],
        is_time_up: Callable[[], bool],
    ) -> RowRun | None:
        """Simulate a row; its samples remain valid until the next run. Returns None if `simulate` must be used instead.
        The callable is polled, and RunTimeLimitExceeded is raised when it returns True."""
        if not self.possible:
            return None
        p = self._nominal.copy()
        for name, value in parameters.items():
            p[self._at[name]] = value
        try:
            y = self._start.compute_state(p, q0, v0)
            if y is None:
                return None
            if self._prepared is None:
                self._prepared = _ReusableRun(self._mech, self._options, self._uses, p, y)
                self.possible = self._prepared.possible
            return self._prepared.simulate(p, y, is_time_up) if self.possible else None
        except KinetostatError:
            return None

    def reset_memory(self, p: Array) -> tuple[PreparedRun, Entry, Array]:
        """Reset a run to its start as in the last call, with parameters p; return its memory, the entry point that
        advances it, and its sample times."""
        assert self._prepared is not None
        return self._prepared.reset_memory(p)


class _InitialStates:
    """Computation of the start states of the rows."""

    def __init__(self, mech: Mechanism, uses: ParameterDependence) -> None:
        self._mech, self._uses = mech, uses
        plain = not mech.constrained and mech.nq == mech.nv and mech.nx == 0 and not uses.starts
        self._plain: Array | None = start_state(mech, None, None, mech.parameter_values()) if plain else None
        self._q = {name: k for k, name in enumerate(mech.q_names)}
        self._v = {name: k for k, name in enumerate(mech.v_names)}

    def compute_state(self, p: Array, q0: Mapping[str, float], v0: Mapping[str, float]) -> Array | None:
        """Compute the start state (nq + nv + nx,); None for values that may be invalid. Raises KinetostatError as
        `simulate` does."""
        if self._plain is None:
            return np.asarray(start_state(self._mech, q0 or None, v0 or None, p))
        if not self._mech.compiled.gate.is_certainly_possible(p[None])[0]:
            return None
        y, nq = self._plain.copy(), self._mech.nq
        for name, value in q0.items():
            y[self._q[name]] = value
        if v0:
            y[nq:] = 0.0
        for name, value in v0.items():
            y[nq + self._v[name]] = value
        return y


class _ReusableRun:
    """Memory of one run, which all rows reuse."""

    def __init__(
        self, mech: Mechanism, options: Mapping[str, Any], uses: ParameterDependence, p: Array, y: Array
    ) -> None:
        self._mech, self._options = mech, options
        self._chosen = self._make_settings(p)
        rule = self._chosen.integration_method
        self._equations = CompiledEquations(
            mech, options["torque"], p, y, options["closed_forms"], rule.implicit, rule.adaptive
        )
        equations = self._equations
        self._shape = self._structure_flags(p, y)
        self._renewing = uses.modes or (
            equations.contact_rows is not None
            and (mech.constrained or (uses.lengths and uses_derived_stiffness(equations.joint_modes)))
        )
        modes = equations.joint_modes
        self.possible = not (
            equations.indicators
            or modes.has_friction_formulas
            or modes.rows_with_bearing_friction
            or has_redundant_drivers(mech.compiled, y[: mech.nq], p)
        )
        self._begun, self._first = allocate_run(equations, self._chosen, y), y
        self._places = [each.parameters(len(p)) for each in equations.entries.values()]
        self._image = [(array, array.copy()) for array in self._changeable_arrays(self._begun)]
        self._times = self._begun.state.times
        self._out = np.empty((0, len(y)))
        if self._begun.log is None:
            self._out = np.empty((len(self._times), len(y)))
        self._advance = advance_adaptive if rule.adaptive else advance_fixed
        self._left = LastRun(mech, equations.joint_modes)

    def _make_settings(self, p: Array) -> Settings:
        mech, o = self._mech, self._options
        steps = (o["method"], o["step"], o["rtol"], o["atol"], o["output"], 0.0)
        return check_settings(mech, o["duration"], *steps, p, o["torque"], o["max_steps"])

    def _changeable_arrays(self, begun_run: PreparedRun) -> Iterator[NDArray[Any]]:
        """Yield all arrays that a run may change."""
        equations = self._equations
        records: list[Record | None] = [begun_run.state, begun_run.log, equations.contact_rows, *equations.records]
        for record in records:
            if record is None:
                continue
            yield record.words
            for field in record.fields:
                if field.dimensions and field.name not in CONSTANT and getattr(record, field.name).size:
                    yield getattr(record, field.name)

    def _structure_flags(self, p: Array, y: Array) -> tuple[bool, ...]:
        """Return the numerical conditions that determine the structure of the equations."""
        mech, q = self._mech, y[: self._mech.nq]
        if not mech.constrained:
            return ()
        return self._equations.can_use_closed_forms(q, p), may_be_singular(mech.compiled, p, q)

    def simulate(self, p: Array, y: Array, is_time_up: Callable[[], bool]) -> RowRun | None:
        """Simulate and return the samples; None if the run is not supported here or ends abnormally."""
        mech, made = self._mech, self._begun
        chosen = replace(self._chosen, parameters=dict(zip(mech.p_names, p.tolist(), strict=True)))
        if mech.model.expanded.drivers:
            check_driver_jumps(mech, chosen)
            if has_redundant_drivers(mech.compiled, y[: mech.nq], p):
                return None
        if self._structure_flags(p, y) != self._shape:
            return None
        self._restore_memory(p, y)
        modes = None
        if self._renewing:
            modes = build_joint_row_table(mech.compiled, p)
            if not self._equations.update_contact_rows(mech.compiled, modes, y[: mech.nq], p):
                return None
            limit_stop_stiffness(self._equations, chosen)
        begin_contact_states(made)
        self._left.set_parameters(p, modes)
        return (
            self._run_with_log(chosen, is_time_up)
            if made.log is not None
            else self._run_with_samples(chosen, is_time_up)
        )

    def reset_memory(self, p: Array) -> tuple[PreparedRun, Entry, Array]:
        """Reset the run, as in `PreparedRuns.memory`."""
        self._restore_memory(p, self._first)
        return self._begun, self._advance, self._times

    def _restore_memory(self, p: Array, y: Array) -> None:
        """Restore the memory to its state before the first run, with other parameter values and initial state."""
        for array, kept in self._image:
            array[...] = kept
        for place in self._places:
            place[:] = p
        state, system, mech = self._begun.state, self._equations.system, self._mech
        state.y[:] = state.new[:] = y
        if mech.compiled.program.symbolic.clock.size:
            points, times, polynomials = mech.compiled.splines(p)[:3]
            assert len(points) == len(system.points)
            system.times[:], system.polynomials[:] = times, polynomials

    def _continue_run(self, address: int, count: int, is_time_up: Callable[[], bool]) -> int:
        """Compute `count` further samples, or as many as there is room for; return the status."""
        state = self._begun.state
        state.budget = STEPS
        happened = self._advance(state.place, address, count)
        if happened == PAUSED and is_time_up():
            raise RunTimeLimitExceeded(float(self._times[max(state.sample - 1, 0)]))
        return happened

    def _run_with_samples(self, run_settings: Settings, is_time_up: Callable[[], bool]) -> RowRun | None:
        state, out, total, happened = self._begun.state, self._out, len(self._times), PAUSED
        while happened == PAUSED:
            done = state.sample
            happened = self._continue_run(array_address(out[done:]), total - done, is_time_up)
        if happened != FINE or not self._accelerations_and_forces(slice(total - 1, total))[2]:
            return None
        nq, nv = self._mech.nq, self._mech.nv
        arrays = {"q": out[:, :nq], "v": out[:, nq : nq + nv], "x": out[:, nq + nv :], "modes": np.zeros((0, 0))}

        def compute_derived_arrays() -> dict[str, Array]:
            a, tau, _ = self._accelerations_and_forces(slice(0, total))
            return {"a": a, "tau": tau}

        found = RowRun(self._left.begin(self._times, arrays, compute_derived_arrays), run_settings)
        # values between steps need not be finite where those at steps are
        return (
            None
            if self._chosen.integration_method.adaptive and not self._accelerations_and_forces(slice(0, total))[2]
            else found
        )

    def _accelerations_and_forces(self, rows: slice) -> tuple[Array, Array, bool]:
        """Compute a and τ (n, nv) of samples, and True if all are finite."""
        out, nv, times = self._out[rows], self._mech.nv, self._times[rows]
        a, tau = np.empty((len(out), nv)), np.empty((len(out), nv))
        equations = self._equations
        with equations.with_free_mode_variables():
            places = [array_address(array) for array in (times, out, a, equations.u, tau)]
            bad = sampled_accelerations(equations.system.place, len(times), *places)
        return a, tau, not bad

    def _run_with_log(self, run_settings: Settings, is_time_up: Callable[[], bool]) -> RowRun | None:
        """Simulate a row with friction or contact states, whose log holds the samples and both sides of each change of
        state."""
        state, log, total = self._begun.state, self._begun.log, len(self._times)
        assert log is not None
        room, pieces, happened = np.empty((min(total, LARGEST_PIECE), len(state.y))), list[Array](), PAUSED
        while happened == PAUSED or (happened == FINE and state.sample < total):
            happened = self._continue_run(array_address(room), min(total - state.sample, LARGEST_PIECE), is_time_up)
            whole = happened == FINE and state.sample == total and not pieces
            pieces.append(log.rows[: log.used] if whole else log.rows[: log.used].copy())
            log.used = log.changes = 0
        rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        nq, nv, n = self._mech.nq, self._mech.nv, len(state.y)
        kept = rows[:, 1 : 1 + n + 2 * nv]
        with np.errstate(all="ignore"):
            finite = np.isfinite(kept.sum()) or np.isfinite(kept).all()
        if happened != FINE or not finite:
            return None
        ends = np.cumsum([1, nq, nv, n - nq - nv, nv, nv])
        time, *parts = np.split(rows, ends, axis=1)
        arrays = dict(zip(("q", "v", "x", "a", "tau", "modes"), parts, strict=True))
        return RowRun(self._left.begin(time[:, 0].copy(), arrays, dict), run_settings)

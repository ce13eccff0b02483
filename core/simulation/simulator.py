"""Runs a simulation: calls the compiled loop piece by piece until the end."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from core.codegen.graph_symbols import garbage_collection_paused
from core.constraints.bearing_friction import LOCKING, multiple_solutions_note
from core.constraints.joint_rows import first_invalid_friction_error
from core.constraints.redundant_drivers import has_redundant_drivers
from core.constraints.row_forces import self_locking_factor
from core.errors import SimulationError
from core.machine_code.outcome import FINE, NOT_FINITE, PAUSED, STIFF, STOPPED
from core.machine_code.records import array_address
from core.mechanism import Mechanism
from core.model import Model
from core.model.model import check_kinds_known
from core.model.validation.possible_numbers import notes_on_negative_damping
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.equations.entry_points import sampled_accelerations
from core.simulation.equations.joint_forces import Torque
from core.simulation.methods import METHODS
from core.simulation.methods.method import ATOL, AUTOMATIC, RTOL
from core.simulation.methods.method import STIFF as STIFF_METHOD
from core.simulation.methods.step_state import TOLD
from core.simulation.run.begun_run import LARGEST_PIECE, PreparedRun, allocate_run, begin_contact_states
from core.simulation.run.contact_checks import check_contact_steps, find_deep_starts
from core.simulation.run.cut_torques import apply_cut_torques
from core.simulation.run.driver_jumps import check_driver_jumps
from core.simulation.run.early_ends import EndedRun, contradiction_error_at, early_end_error
from core.simulation.run.initial_state import start_state
from core.simulation.run.kept_runs import KeptRuns, RunMemory, hashable
from core.simulation.run.python_laws import DEFAULT_PERIOD, Law, prepare_laws
from core.simulation.run.run import CANCELLED, GrowingRun, Run, Statistics, select_samples
from core.simulation.run.run_notes import (
    find_exceeded_limits,
    find_long_delays,
    find_saturated_controllers,
    find_switch_notes,
)
from core.simulation.run.sampled_laws import SampledLaws
from core.simulation.run.settings import AUTOMATIC_FACTORS, Array, Settings, Values, check_settings
from core.simulation.stepping import advance_adaptive, advance_fixed

PIECE = 0.05
"""Seconds of computation between checks for progress and cancellation."""
FIRST_PIECE = 64
"""Number of samples in the first piece."""
LARGEST_ROOM = 1 << 16
"""Largest amount of numbers in the memory for samples that is kept for further runs."""
FIRST_STEPS = 500
"""Largest number of steps in the first piece, so that slow runs and runs with few samples can be cancelled early."""
LEAST_STEPS = 50
STEPS = 20_000
"""Largest number of steps in a piece."""
MOST_LOST = 4
"""Largest number of notes on content ignored in the model file."""

if TYPE_CHECKING:
    from core.simulation.equations.contact_rows import ContactRows
    from core.simulation.events.contact_log import ContactLog


class Recorder(Protocol):
    """Protocol for objects that store pieces as they are computed."""

    def append(self, piece: Run) -> None:
        """Store the samples of a piece."""
        ...

    def finish(self, run: Run) -> None:
        """Finish storing at the end of the run."""
        ...


def simulate(
    model: Model | Mechanism,
    duration: float = 10.0,
    *,
    method: str = AUTOMATIC,
    step: float | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    q0: Values = None,
    v0: Values = None,
    x0: Values = None,
    parameters: Values = None,
    torque: Torque = None,
    output: float | None = None,
    start: float = 0.0,
    max_steps: int = 10_000_000,
    file: str | None = None,
    channels: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    closed_forms: bool | None = None,
    closing: float | None = None,
    factorisation: str = AUTOMATIC_FACTORS,
    watch: Callable[[Run], None] | None = None,
    control: Law | None = None,
    controllers: Mapping[str, Law] | None = None,
    period: float = DEFAULT_PERIOD,
    delay: float = 0.0,
) -> Run:
    """Simulate the motion of a machine.

    duration, step, output : s; step: length of fixed steps (default 1 ms), longest of variable ones; output: between
    samples
    method : one of `core.simulation.METHODS`; the default changes to the stiff one where the machine proves stiff, and
    says so in the run's `notes`; rtol, atol: tolerances per step of methods with variable step
    q0, v0 : state to begin with, whole or by the names of coordinates, speeds, joints or channels ("elbow.q"), also
    with units ("30 deg", "10 rpm"); default: the model's rest position, at rest. What is named is kept, the rest
    follows what holds.
    x0 : states of force elements, by name or whole; default: at rest
    parameters : values by name, or all in the order of `mech.p_names`
    torque : joint forces, (nv,) or by speed: numbers (N·m, N) or formulas, e.g. "10*sin(t) - 2*elbow.v"; along a joint
    that closes a loop, the force acts as the force element "joint.tau" of the run's model
    file : HDF5 file written while the run goes on (readable even if the program is killed), with `channels`
    progress : called with the part done, 0 … 1; cancelled: asked between pieces; the run then ends early
    watch : called again and again with the run as far as it is; nothing of it is copied for that

    closed_forms : True: dependent coordinates of loops follow from closed forms where there are any, False: by
    iteration. By default closed forms that would take seconds to compile are made beside the run, which closes its
    loops by iteration and says so in its `notes`, and are used by the next one.
    closing : how iteration closes them after each step: None, until gaps are below 1e-12; a tolerance below 1 (rad, m),
    until they are below it; a whole number, by so many Gauss–Newton steps, at the same cost each time (as
    `generate_c`). Speeds are made consistent in any case.
    factorisation : how their equations are solved, for accelerations and for closing: "rank-revealing" (QR with column
    pivoting, which "automatic" takes) finds redundant rows at every pose; "Cholesky" takes G M⁻¹ Gᵀ for positive
    definite, is a little quicker, and ends the run where constraints depend on each other.

    control, controllers : functions law(t, y, state) that return joint forces at samples, every `period` (s), applied
    after `delay` (s) and held; `controllers` by the names of controllers of kind "script", or of ones that are added
    for this run and act on all speeds. y.q, y.v, y.sensor[name], y.signal[name], y.reference; state: a dict of the run

    Raises SimulationError when the motion cannot go on; its `run` holds everything until then, as does that of a
    KeyboardInterrupt (Ctrl+C).
    """
    began = time.perf_counter()
    mech = model if isinstance(model, Mechanism) else Mechanism(model)
    laws: Mapping[str, Law] = {}
    if control is not None or controllers:
        mech, laws = prepare_laws(mech, control, controllers, period, delay)
    options = (method, step, rtol, atol, output, start, parameters, torque, max_steps, closing, factorisation)
    job, key = _begin_job(mech, duration, options, (q0, v0, x0), closed_forms, mech is model, laws)
    job.prepared = time.perf_counter() - began
    mech, chosen, recorder = job.mech, job.chosen, None
    if file is not None:
        from core.simulation.run.run_file import RunFile

        recorder = RunFile(file, mech, chosen, channels)
    job.watch = watch or _no_progress
    try:
        run = job.compute_run(recorder, progress or _no_progress, cancelled or _never_cancelled)
    except KeyboardInterrupt as stop:
        if job.grown is not None:
            stop.run = job.finish_run(recorder, CANCELLED)  # type: ignore[attr-defined]
        raise
    if key is not None and job.release():
        _kept.keep(mech, key, job)
    return run


def _begin_job(
    mech: Mechanism,
    duration: float,
    options: tuple[Any, ...],
    begin: tuple[Values, Values, Values],
    closed_forms: bool | None,
    keep: bool,
    laws: Mapping[str, Law],
) -> tuple[SimulationJob, Any]:
    """Return the job of a run that has not begun, and the key under which it may be kept; None: it may not.

    options: as `check_settings` takes them after the duration; begin: q0, v0, x0; keep: whether the machine outlives
    the run; laws: functions by the names of controllers
    """
    *others, start, parameters, torque, max_steps, closing, factorisation = options
    p, start_key, key = mech.parameter_values(parameters), None, None
    settings = (duration, *others, start, torque, max_steps, closing, factorisation, closed_forms)
    try:
        key, start_key = tuple(map(hashable, settings)), (p.tobytes(), *map(hashable, begin))
        hash(key)
    except TypeError:  # given in a form that cannot be compared
        key = None
    if key is not None and (job := _kept.take(mech, key)) is not None:
        job.mech = mech
        _check_fixed_steps(mech, job.chosen, p)
        if job.begin_again(begin, p, start_key):
            return job, key
    check_kinds_known(mech.model.expanded)
    machine, torque = apply_cut_torques(mech, torque)
    chosen = check_settings(machine, duration, *(*options[:7], torque, *options[8:]))
    _check_fixed_steps(machine, chosen, p)
    y = start_state(machine, *begin[:2], p, start, begin[2])
    check_driver_jumps(machine, chosen)
    key = key if keep and machine is mech else None
    job = SimulationJob(machine, chosen, y, torque, closed_forms, keep=key is not None, laws=laws)
    job.start_key = start_key
    return job, key


def _check_fixed_steps(mech: Mechanism, chosen: Settings, p: Array) -> None:
    if not chosen.integration_method.adaptive and chosen.step is not None:
        check_contact_steps(mech, chosen.step, p)


def _no_progress(_: object) -> None:
    pass


def _never_cancelled() -> bool:
    return False


BOOLE = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0
"""Weights of Boole's rule for values at the quarters of a step."""
LOOKS = 5
"""Number of samples per piece that are checked for jamming by friction."""
Samples = tuple[Any, ...]
"""Arrays of a run, from its times on."""
_kept: KeptRuns[SimulationJob] = KeptRuns()
UNKNOWN = Statistics()
"""Placeholder for the statistics of a piece."""
NUMBER = 8
"""Size of a number in bytes."""
KEPT = (
    *("time", "resumed", "longest", "shortest", "limit"),
    *("accepted", "rejected", "calls", "sample", "budget", "most"),
)
"""State variables of a run that are kept when its method changes."""


class SimulationJob:
    """A run in progress, from y = (q, v, x) on."""

    def __init__(
        self,
        mech: Mechanism,
        settings: Settings,
        y: Array,
        torque: Torque,
        closed_forms: bool | None = None,
        keep: bool = False,
        laws: Mapping[str, Law] | None = None,
    ) -> None:
        """Set up the run; keep: whether its memory may serve further runs; laws: functions by the names of
        controllers."""
        self.mech, self.chosen = mech, settings
        self._torque, self._closed_forms = torque, closed_forms
        self.memory: RunMemory | None = None
        self.start_key: Any = None
        self.start_state = y
        """Key of the initial state, and the initial state."""
        self._note_start()
        self.p = settings.values_of(mech.p_names)
        has_sampled = bool(mech.compiled.elements.model.signal_table.sampled)
        self.sampled = SampledLaws(mech, self.p, settings.start, settings.max_steps, laws) if has_sampled else None
        """Signals that are evaluated at equal time steps; None if there are none."""
        self.law_error: SimulationError | None = None
        """Error of such a signal, which ends the run."""
        if self.sampled is not None:
            self.notes += self.sampled.notes
        self._set_up(settings, y, keep and self.sampled is None)
        if self.sampled is not None:
            self.sampled.evaluate(self.state)
        self._begin_counting()
        ends = list(accumulate((0, 1, mech.nq, mech.nv, mech.nx, mech.nv, mech.nv)))
        self._columns: list[Any] = [(slice(None), slice(*each)) for each in pairwise((*ends, None))]
        self._columns[0] = slice(None), 0
        """Of what is logged: time, q, v, x, v̇, joint forces, modes."""
        self._watch_drivers(y)
        self._first_notes = self.notes

    def _begin_counting(self) -> None:
        """Begin without samples."""
        self.pieces: deque[Run] = deque(maxlen=2)
        """The last two."""
        self.grown: GrowingRun | None = None
        self.budget = FIRST_STEPS
        self.prepared = 0.0
        self._dependent = False
        """True if Cholesky's method found dependent rows when a piece ended."""
        self.seconds = self.cpu = self.lasted = 0.0
        """Of the integration on the clock, and of the processor; of the last piece on the clock."""
        self.watch: Callable[[Run], None] = _no_progress

    def _note_start(self) -> None:
        values = self.mech.model.values(self.chosen.parameters)
        self.notes = tuple(notes_on_negative_damping(self.mech.model.expanded, values))
        p = self.chosen.values_of(self.mech.p_names)
        self.notes += tuple(find_deep_starts(self.mech, self.start_state, p, self.chosen.start))

    def _watch_drivers(self, y: Array) -> None:
        self.watched = has_redundant_drivers(self.mech.compiled, y[: self.mech.nq], self.p)
        """True if drivers must be watched because several of them move the same coordinate."""

    def begin_again(self, begin: tuple[Values, Values, Values], p: Array, key: Any) -> bool:
        """Begin another run with the same settings, with parameter values p. Returns False if it needs a job of its
        own.

        begin: q0, v0, x0; key: of the initial state. Raises KinetostatError as `simulate` does.
        """
        mech, memory = self.mech, self.memory
        assert memory is not None
        again = key is not None and key == self.start_key
        if not again:
            parameters = dict(zip(mech.p_names, p.tolist(), strict=True))
            self.chosen = dataclasses.replace(self.chosen, parameters=parameters)
            self.start_state = start_state(mech, *begin[:2], p, self.chosen.start, begin[2])
            check_driver_jumps(mech, self.chosen)
        y, self.p = self.start_state, p
        if not memory.restore(mech, self.chosen, p, y):
            return False
        begin_contact_states(memory.prepared)
        if not again:
            self._note_start()
            self.notes = tuple(dict.fromkeys((*self.notes, *self._switches)))
            self._watch_drivers(y)
            self._first_notes = self.notes
        self.start_key = key
        self._use(memory.prepared)
        return True

    def release(self) -> bool:
        """Let go of the machine and of the run; returns True if another run may use the job."""
        if self.memory is None or not self.memory.is_usable:
            return False
        self._begin_counting()
        self.notes = self._first_notes
        if self._room.size > LARGEST_ROOM:
            self._allocate_samples(FIRST_PIECE)
        del self.mech
        return True

    @garbage_collection_paused()
    def _set_up(self, settings: Settings, y: Array, keep: bool = False) -> None:
        """Set up equations and memory for a method that begins at y."""
        mech, rule = self.mech, settings.integration_method
        self.p = settings.values_of(mech.p_names)
        self.equations = CompiledEquations(
            mech, self._torque, self.p, y, self._closed_forms, rule.implicit, rule.adaptive
        )
        self._switches = (*find_switch_notes(mech, self._torque, settings), *find_long_delays(mech, settings))
        self.notes = tuple(dict.fromkeys((*self.notes, *self.equations.notes, *self._switches)))
        prepared = allocate_run(self.equations, settings, y)
        if keep:
            self.memory = RunMemory(mech, prepared, self.p, y)
        begin_contact_states(prepared)
        self._use(prepared)
        if self.sampled is not None:
            self.sampled.attach(self.state)
            if self.equations.contact_rows is not None:
                from core.simulation.events.contact_steps import begin_again_entry

                self.state.begins_of = begin_again_entry.address
        self.set_end(self.state.end)
        self._allocate_samples(min(FIRST_PIECE, len(self.state.times)))
        self._first = self.state.words.copy()

    def _use(self, prepared: PreparedRun) -> None:
        """Compute in the memory of a run that has been set up."""
        self.begun, self.equations, self.state = prepared, prepared.equations, prepared.state
        adaptive = self.chosen.integration_method.adaptive
        self._advance = (advance_adaptive if adaptive else advance_fixed).call
        self._times_at, self._forces_at = array_address(self.state.times), array_address(self.equations.u)

    def set_end(self, end: float) -> None:
        """Set the time at which the run ends; it stops before where sampled laws are due."""
        self.end = self.state.end = end
        if self.sampled is not None:
            self.sampled.set_end(self.state, end)

    def _begin_contacts(self) -> None:
        """Determine the contact states from the state under way."""
        from core.simulation.events.contact_changes import BEGINS
        from core.simulation.events.contact_steps import begin_entry

        self.state.pending = BEGINS
        begin_entry(self.state.place)

    def _allocate_samples(self, count: int) -> None:
        """Allocate memory for the samples of a piece."""
        self._room, self._sampled = np.empty((count, len(self.state.y))), np.empty((2, count, self.mech.nv))
        self._room_at, self._accelerations_at = array_address(self._room), array_address(self._sampled)
        self._forces_out = self._accelerations_at + NUMBER * count * self.mech.nv

    def restart(self, y: Array, time: float) -> None:
        """Restart from another state, with the integration method that has already proved suitable."""
        self.state.words[:] = self._first
        self.state.time = time
        self.state.y[:] = self.state.new[:] = y
        self.state.events[:] = 0.0
        self.equations.free_mode_variables()
        if self.equations.contact_rows is not None:
            self._begin_contacts()
        if self.sampled is not None:
            self.sampled.restart(time)
            self.sampled.evaluate(self.state)

    def _handle_stiffness(self) -> None:
        """React to a machine that proved stiff: switch to the stiff method if the settings allow it, and add a note."""
        before, forces, end = self.state, self.equations.u, self.end
        log, rows = self.begun.log, self.equations.contact_rows
        since = f"The machine is stiff: from t = {before.time:.6g} s on "
        if self.chosen.method != AUTOMATIC:
            before.stiff_steps = TOLD
            shortest = f"steps of {before.taken:.2g} s are the longest that stay stable"
            self.notes += (f"{since}{shortest}, whatever the tolerances. Use the method {STIFF_METHOD}.",)
            return
        # from the step under way on, at whose beginning the state stands
        self._set_up(dataclasses.replace(self.chosen, method=STIFF_METHOD), before.y)
        self.equations.u[:] = forces
        for name in KEPT:
            setattr(self.state, name, getattr(before, name))
        if not np.array_equal(self.state.times, before.times):
            self.state.times[:] = before.times
        self.set_end(end)
        if log is not None:
            self._carry_over_contact_state(log, rows)
        self.notes += (f"{since}it was integrated with {METHODS[STIFF_METHOD].title} ({STIFF_METHOD}).",)

    def _carry_over_contact_state(self, log: ContactLog, rows: ContactRows | None) -> None:
        """Carry over the contact states and energy sums from before a change of method."""
        now, other = self.begun.log, self.equations.contact_rows
        assert now is not None
        assert other is not None
        assert rows is not None
        now.spent[:] = log.spent + log.length * BOOLE @ log.powers
        for name in ("struck", "bounces", "stiffness"):
            getattr(other, name)[:] = getattr(rows, name)

    def compute_run(
        self, recorder: Recorder | None, progress: Callable[[float], None], cancelled: Callable[[], bool]
    ) -> Run:
        """Compute all pieces and return the run; raises SimulationError."""
        total, size, done = len(self.state.times), FIRST_PIECE, 0
        error: SimulationError | None = None
        ended = ""
        while done < total and error is None and not ended:
            piece, happened = self.compute_piece(done, min(size, total - done))
            done = self.state.sample
            if self.watched:
                piece, error = self.keep_agreeing_samples(piece)
            error = self.append_piece(piece) or self.law_error or error or self.wrong_friction_error(piece)
            if recorder is not None:
                recorder.append(piece)
            self._note_jamming(piece)
            self.watch(self.current_run)
            progress(done / total)
            if error is None and happened:
                error = self.error(happened)
            elif done < total and cancelled():
                ended = CANCELLED
            growth = min(PIECE / max(self.lasted, 1e-6), 4.0)
            size = int(min(max(size * growth, 1.0), LARGEST_PIECE))
            self.budget = int(min(max(self.budget * growth, LEAST_STEPS), STEPS))
        run = self.finish_run(recorder, str(error) if error else ended)
        if error is not None:
            error.run = run
            raise error
        return run

    def _note_jamming(self, piece: Run) -> None:
        """Add a note, once, on where reaction-dependent friction jams."""
        modes = self.equations.joint_modes
        if not modes.rows_with_bearing_friction or not len(piece.time) or any(LOCKING in note for note in self.notes):
            return
        for k in np.unique(np.linspace(0, len(piece.time) - 1, LOOKS).astype(int)):
            state = piece.q[k], piece.v[k], piece.tau[k], self.p, float(piece.time[k]), piece.x[k]
            if (factor := self_locking_factor(self.mech.compiled, *state)) >= 1.0:
                self.notes += (multiple_solutions_note(modes, float(piece.time[k]), factor),)
                return

    def append_piece(self, piece: Run) -> SimulationError | None:
        """Append a piece to the run; returns an error if there is no disk space for it."""
        try:
            if self.grown is None:
                self.grown = GrowingRun(piece)
            else:
                self.grown.extend(piece)
        except OSError as problem:
            what = f"There is no disk space to store the rest of the run: {problem.strerror or problem}."
            remedy = (
                "Free space on the disk of temporary files (or set TMPDIR to another folder), or increase the time "
                "between samples."
            )
            return SimulationError(what, where="output", remedy=remedy)
        self.pieces.append(piece)
        return None

    @property
    def current_run(self) -> Run:
        """Return the part of the run computed so far."""
        assert self.grown is not None
        return self.grown.run

    def finish_run(self, recorder: Recorder | None, end_reason: str) -> Run:
        """Return the run computed so far, and complete its file."""
        run = self.run(end_reason)
        if recorder is not None:
            recorder.finish(run)
        return run

    def compute_piece(self, first: int, count: int) -> tuple[Run, int]:
        """Compute the next samples; returns them and the outcome code (0: normal)."""
        began = time.perf_counter()
        samples, happened = self._advance_piece(first, count)
        self.lasted = time.perf_counter() - began
        return Run(self.mech, self.chosen, *samples), 0 if happened == PAUSED else happened

    def _compute_samples(self, first: int, count: int) -> tuple[int, int, int]:
        """Integrate up to `count` samples; returns their number, the outcome code, and the number of those at which
        accelerations are not finite. Adds up the computing time."""
        began, used = time.perf_counter(), time.thread_time()
        state, system = self.state, self.equations.system
        happened = self._advance(state.place, self._room_at, count)
        while happened == STOPPED and self.sampled is not None:
            try:
                self.sampled.evaluate(state)
            except SimulationError as error:
                self.law_error, happened = error, PAUSED
                break
            state.made = state.sample - first
            at = self._room_at + NUMBER * state.made * len(state.y)
            happened = self._advance(state.place, at, count - state.made) if state.made < count else FINE
        state.made = 0
        made, bad = state.sample - first, 0
        self._dependent = system.dependent == 1
        if self.begun.log is None:
            arrays = self._times_at + NUMBER * first, self._room_at, self._accelerations_at
            with self.equations.with_free_mode_variables():
                bad = sampled_accelerations.call(system.place, made, *arrays, self._forces_at, self._forces_out)
        self.cpu += time.thread_time() - used
        self.seconds += time.perf_counter() - began
        return made, happened, bad

    def _advance_piece(self, first: int, count: int) -> tuple[Samples, int]:
        """Return the arrays of a piece and the outcome code."""
        mech, state = self.mech, self.state
        if count > len(self._room):
            self._allocate_samples(count)
        state.budget = min(self.budget, STEPS)
        made, happened, bad = self._compute_samples(first, count)
        if self.begun.log is not None:
            return self._read_log(happened)
        out, times = self._room[:made], state.times[first : first + made].copy()
        a, tau = self._sampled[:, :made].copy()
        last = mech.nq + mech.nv
        if len(state.slid) and made:  # on switching surfaces accelerations are those of the steps
            slid = state.slid[:made, mech.nq : last]
            a = np.where(np.isfinite(slid), slid, a)
            slid[:] = np.nan
        if bad and happened in (FINE, PAUSED, STIFF):
            state.time, happened = times[-1], NOT_FINITE
        if happened == STIFF:
            self._handle_stiffness()
            happened = PAUSED
        q, v, x = out[:, : mech.nq].copy(), out[:, mech.nq : last].copy(), out[:, last:].copy()
        return (times, q, v, a, tau, UNKNOWN, x), happened

    def _read_log(self, outcome: int) -> tuple[Samples, int]:
        """Return the samples since the last piece from the log of contact rows, with both sides of contact changes, and
        the outcome code."""
        log = self.begun.log
        assert log is not None
        rows = log.rows[: log.used].copy()
        log.used = log.changes = 0
        time, q, v, x, a, tau, modes = [rows[columns] for columns in self._columns]
        if log.broken and outcome in (FINE, PAUSED, STIFF):
            self.state.time, outcome = time[-1], NOT_FINITE
        if outcome == STIFF:
            self._handle_stiffness()
            outcome = PAUSED
        return (time, q, v, a, tau, UNKNOWN, x, modes), outcome

    def run(self, end_reason: str) -> Run:
        """Return the run up to now, with its statistics."""
        state = self.state
        steps = state.accepted
        assert self.grown is not None
        beyond = (*find_exceeded_limits(self.grown.run), *find_saturated_controllers(self.grown.run))
        statistics = Statistics(
            steps,
            state.rejected,
            state.calls,
            state.shortest if steps else 0.0,
            state.longest,
            self.seconds,
            self.prepared,
            end_reason,
            state.jacobians,
            state.factorisations,
            self.cpu,
            (*self.collect_notes(), *beyond),
        )
        return self.grown.finish(statistics)

    def collect_notes(self) -> tuple[str, ...]:
        """Return all notes on how the run was computed."""
        lost = self.mech.model.left_out
        more = f" And {len(lost) - MOST_LOST} more." if len(lost) > MOST_LOST else ""
        read = f"Parts of the model file that were not read and so not simulated: {' '.join(lost[:MOST_LOST])}{more}"
        return *((read,) if lost else ()), *self.notes, *self.equations.contact_notes

    def error(self, outcome: int) -> SimulationError:
        """Return the error for a run that ended early."""
        stand = EndedRun(
            self.mech,
            self.chosen,
            self._torque,
            self.p,
            self.equations,
            self.state,
            self.grown.run if self.grown is not None else None,
            tuple(self.pieces),
            self._dependent,
            self.watched,
        )
        return early_end_error(stand, outcome)

    def wrong_friction_error(self, piece: Run) -> SimulationError | None:
        """Return the error for samples at which friction formulas have invalid values; None if all are valid."""
        rows = self.equations.joint_modes.rows
        return first_invalid_friction_error(self.mech.compiled, rows, piece.time, piece.q, piece.v, piece.x, self.p)

    def keep_agreeing_samples(self, piece: Run) -> tuple[Run, SimulationError | None]:
        """Return the samples up to the first at which drivers contradict each other, and the error; None if they never
        do."""
        for k, t in enumerate(piece.time):
            error = contradiction_error_at(self.mech, self.p, float(t), np.concatenate([piece.q[k], piece.v[k]]))
            if error is not None:
                return select_samples(piece, slice(k)), error
        return piece, None

"""Simulation in the window: a job computes a run, which is shown while it grows."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.background.jobs import Job, Jobs
from app.background.signals import Signal
from app.document.run_tree import RunRecord
from app.document.session import Session
from app.preferences.settings import Settings
from app.runs.run_settings import RunSettings, find_initial_state, simulate_arguments
from core.constraints.other_cuts import closing_speeds
from core.errors import KinetostatError, SimulationError
from core.simulation.methods.method import RECORDED
from core.simulation.run.run import CANCELLED, Run

GROW = 60
"""Interval between updates of a growing run in the window, ms."""
SHARE = 0.25
"""Largest fraction of the window's time for showing a growing run; updates of a long run become less frequent."""
KEY = "simulation"


class Simulation(QObject):
    """Run settings, and the run being computed."""

    changed = Signal()
    """Emitted when the run settings changed, or a run started or ended."""
    began = Signal(object)
    """Emitted with a run's record when it has its first samples."""
    ended = Signal(object, str)
    """Emitted with the run's record (or None) and a message when a computation ends."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._settings, self._jobs = session, settings, jobs
        self.run_settings = RunSettings.from_remembered(settings.value(KEY))
        self.job: Job | None = None
        self.record: RunRecord | None = None
        self._grown: list[Run] = []
        """The run as far as it is, unless it was looked at already; the job's thread puts it there."""
        self._whole: list[Run] = []
        """The run as it ended, also when it was stopped: the job itself drops what it made then."""
        self._origin: tuple[str, RunRecord | None, float | None] = ("", None, None)
        self._lent: dict[str, Any] = {}
        """The person's run settings in whose place those of the open example stand."""
        self._wanted_settings = session.document
        self._document = session.document
        self._timer = QTimer(self, interval=GROW)
        self._timer.timeout.connect(self._update_growing_run)
        session.changed.connect(self._on_document_changed)

    def close(self) -> None:
        """Disconnect from all signals."""
        self._timer.stop()
        self._session.changed.disconnect(self._on_document_changed)

    def change_settings(self, **values: Any) -> None:
        """Change run settings, e.g. `change_settings(duration=5.0)`."""
        run_settings = dataclasses.replace(self.run_settings, **values)
        if run_settings != self.run_settings:
            self.run_settings = run_settings
            self._lent = {name: value for name, value in self._lent.items() if name not in values}
            self._settings.remember(KEY, {**run_settings.remembered_settings(), **self._lent})
            self.changed.emit()

    def suggest_settings(self, values: Mapping[str, Any]) -> None:
        """Apply settings recommended for the machine just opened; the user's own settings return when that machine is
        closed."""
        if values or self._lent:
            own = {**self.run_settings.remembered_settings(), **self._lent}
            self._lent = {name: own[name] for name in values}
            self.run_settings = dataclasses.replace(self.run_settings, **{**own, **values})
            self.changed.emit()

    @property
    def is_running(self) -> bool:
        """True while a run is being computed."""
        return self.job is not None

    # ------------------------------------------------------------------------------- verbs

    def start(self) -> None:
        """Compute a run with the current settings."""
        if self.is_running:
            return
        session = self._session
        if session.mech.nv == 0:
            session.message.emit("error", "The model has no movable joint. Add a joint first.")
            return
        start = find_initial_state(self.run_settings, session)
        wanted = simulate_arguments(self.run_settings, session, start)
        branch = start.parent is not None
        self._origin = ("", start.parent, session.runs.time if branch else None)
        self._grown, self._whole, self.record = [], [], None
        grown, whole, mech = self._grown, self._whole, session.mech

        def work(progress: Any, cancelled: Any) -> Run:
            from core.machine_code.supply import report_waiting
            from core.simulation import simulate

            progress(0.0, "Compiling the equations …")
            share = 0.0

            def report_progress(fraction: float) -> None:
                nonlocal share
                share = fraction
                progress(fraction, "")

            def report_status(text: str) -> None:
                progress(share, text)

            def on_new_samples(run: Run) -> None:
                grown[:] = [run]

            with report_waiting(report_status):
                run = simulate(mech, **wanted, progress=report_progress, cancelled=cancelled, watch=on_new_samples)
            _compute_states(run)
            whole.append(run)
            return run

        self._document = session.document
        self.job = self._jobs.start("Simulating", work)
        self.job.succeeded.connect(self._on_succeeded)
        self.job.failed.connect(self._on_failed)
        self.job.stopped.connect(self._on_stopped)
        self._timer.start(GROW)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop the computation; the samples computed so far are kept as a run."""
        if self.job is not None:
            self.job.cancel()

    def stop_and_wait(self) -> None:
        """Stop the computation and wait until the samples computed so far are stored as a run."""
        if self.job is not None:
            self._jobs.stop_up_to(self.job)

    # ------------------------------------------------------------------------------- inside

    @property
    def _is_stale(self) -> bool:
        """True if another document was opened since the computation began."""
        return self._document != self._session.document

    def _update_growing_run(self) -> None:
        """Show the samples added since the last update."""
        if self._is_stale:
            return
        began = time.perf_counter()
        if not self._grown:
            return
        run = self._grown.pop()
        if len(run) > 1:
            self._store_run(run, growing=True)
        self._timer.setInterval(max(GROW, round(1e3 * (time.perf_counter() - began) / SHARE)))

    def _store_run(self, run: Run, growing: bool) -> RunRecord:
        runs = self._session.runs
        if self.record is None:
            name, parent, when = self._origin
            self.record = runs.add(run, name, parent, when, growing=growing)
            self.began.emit(self.record)
        elif self.record in runs.items:
            runs.replace(self.record, run, growing)
        else:  # deleted meanwhile: undo finds what there is of it
            self.record.run, self.record.growing = run, growing
            self.cancel()
        return self.record

    def _on_succeeded(self, run: Run) -> None:
        self._finish(run, computing_cost_text(run))

    def _on_stopped(self) -> None:
        run = next((run for run in self._whole if len(run) > 1), None)
        self._finish(run, computing_cost_text(run) if run is not None else "Stopped before the first sample.")

    def _on_failed(self, error: BaseException) -> None:
        run = error.run if isinstance(error, SimulationError) else None
        run = run if run is not None and len(run) > 1 else None
        self._finish(run, "" if run is None else f"Ended by an error at {run.time[-1]:.6g} s.")  # it is a message
        if isinstance(error, KinetostatError):
            kept = "" if run is None else " The motion up to then is kept as a run."
            self._session.message.emit("error", f"{error}{kept}")
        else:
            raise error

    def _finish(self, run: Run | None, message: str) -> None:
        self._timer.stop()
        self.job = None
        if self._is_stale:
            run, message = None, ""
        if run is not None:
            self._store_run(run, growing=False)
            for note in run.notes:
                self._session.message.emit("hint", note)
        elif self.record is not None and self.record in self._session.runs.items:
            self._session.runs.replace(self.record, self.record.run)
        record, self.record = self.record, None
        self._grown, self._whole = [], []
        self.ended.emit(record, message)
        self.changed.emit()

    def _on_document_changed(self, old: Any, new: Any) -> None:
        """Remove initial speeds and forces of deleted joints; remove all of them for another document."""
        if self._wanted_settings != self._session.document:
            self._wanted_settings = self._session.document
            self.suggest_settings({})
        if old.model is new.model:
            return
        if self._is_stale:
            self.cancel()
        mech = self._session.mech
        names = {*mech.v_names, *closing_speeds(mech.compiled)}
        speeds = {name: value for name, value in self.run_settings.speeds.items() if name in names}
        forces = {name: value for name, value in self.run_settings.forces.items() if name in names}
        if old.model.name != new.model.name and not names & {*self.run_settings.speeds, *self.run_settings.forces}:
            speeds, forces = {}, {}
        if speeds != self.run_settings.speeds or forces != self.run_settings.forces:
            self.run_settings = dataclasses.replace(self.run_settings, speeds=speeds, forces=forces)
        self.changed.emit()


def computing_cost_text(run: Run) -> str:
    """Describe the computing cost of a run."""
    s = run.statistics
    if run.settings.integration_method is RECORDED:
        return f"{len(run)} samples from {run.time[0]:.6g} to {run.time[-1]:.6g} s"
    span = float(run.time[-1] - run.time[0])
    rejected = f", {s.rejected} rejected" if run.settings.integration_method.adaptive else ""
    ratio = f", {_ratio_text(span / s.seconds)} × real time" if s.seconds > 0.0 else ""
    counted = f"{len(run)} samples, {s.steps:,} steps{rejected}"
    text = " · ".join((counted, f"{format_duration(s.seconds)}{ratio}", *run.notes))
    if s.ended == CANCELLED:
        return f"Stopped at {run.time[-1]:.6g} s: {text}"
    return f"Ended early at {run.time[-1]:.6g} s: {s.ended} {text}" if s.ended else text


def _ratio_text(ratio: float) -> str:
    """Format a ratio with at least two digits."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


def format_duration(seconds: float) -> str:
    """Format a duration in the most readable unit."""
    if seconds < 0.9995:
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 99.95 else f"{seconds:.0f} s"


def _compute_states(run: Run) -> None:
    """Compute events, friction and stop states of a run in the background, before they are displayed."""
    if run.modes.size:
        _ = run.events, run.computed_channels.modes.stretches

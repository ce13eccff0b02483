"""Live what-if: while a slider moves, the whole run is computed again in the background; the last few runs remain
faintly visible.

Requests come faster than runs: the newest waits until the thread is free, those between are never computed. While the
hand moves, runs are computed with settings that keep up with it (`RunMethodTimes`);
with the chosen settings when it rests.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, QTimer

from app.background.signals import Lifetime, Signal
from app.document.run_pose import match_coordinates_by_name
from app.document.run_tree import RunRecord
from app.runs.job import Simulation
from app.runs.run_settings import RunSettings, find_initial_state, simulate_arguments
from core.errors import KinetostatError, SimulationError
from core.functions.context import Cancelled
from core.simulation import METHODS, Run

if TYPE_CHECKING:
    from app.playback.clock import Player
    from app.playback.sequence import PosePlayback
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism


TIME_BUDGET = 0.04
"""Processor time allowed for a run that follows a moving slider, s."""
TOLERANCE_FACTOR = 100.0
"""Largest factor by which tolerances are loosened while the slider moves."""
LOOSEST_TOLERANCE = 1e-3
"""Largest relative tolerance to which it may be loosened."""
STIFF_METHOD = "radau"
"""Method for stiff systems (gears, friction), which takes long steps where stability limits those of other methods."""


class RunMethod(NamedTuple):
    """Integration method and tolerance factor for a run. method : one of `METHODS`; looser : factor by which tolerances
    are loosened."""

    method: str
    looser: float = 1.0

    def apply_to(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of `simulate` changed to this method and tolerance."""
        if self == RunMethod(options["method"]):
            return options
        rtol = max(options["rtol"], min(self.looser * options["rtol"], LOOSEST_TOLERANCE))
        atol = options["atol"] * rtol / options["rtol"]
        step = options["step"] if METHODS[options["method"]].adaptive else None
        return {**options, "method": self.method, "rtol": rtol, "atol": atol, "step": step}


class RunMethodTimes:
    """Computing times of integration methods, from which the next one to use is chosen.

    Ways stand in the order of preference; the first that keeps within the budget is taken, one that was not tried yet
    only if all before it do not, and the quickest if none does.
    """

    def __init__(self, wanted: dict[str, Any]) -> None:
        """wanted : keywords of `simulate`."""
        method = wanted["method"]
        variants = [RunMethod(method), RunMethod(STIFF_METHOD), RunMethod(STIFF_METHOD, TOLERANCE_FACTOR)]
        if METHODS[method].adaptive:
            variants.append(RunMethod(method, TOLERANCE_FACTOR))
        self.variants = tuple(dict.fromkeys(variants))
        self.took: dict[RunMethod, float] = {}

    @property
    def untried_method(self) -> RunMethod | None:
        """Return a method that may be faster than those tried; None if one of them is fast enough."""
        if any(seconds <= TIME_BUDGET for seconds in self.took.values()):
            return None
        return next((variant for variant in self.variants if variant not in self.took), None)

    @property
    def fastest_method(self) -> RunMethod:
        """Return the preferred method within the time budget, or else the fastest one."""
        good = next(
            (variant for variant in self.variants if self.took.get(variant, TIME_BUDGET + 1.0) <= TIME_BUDGET), None
        )
        return good or min(self.variants, key=lambda variant: self.took.get(variant, float("inf")))

    def record_time(self, run_method: RunMethod, seconds: float) -> None:
        """Record the processor time that a run took with a method, s; infinite if it failed."""
        self.took[run_method] = seconds


LOOK = 3
"""Interval at which results are collected from the thread, ms."""
PAUSE = 700
"""Time without movement after which the next movement starts a new comparison, ms."""
NAME = "What-if"
GHOST = 0.35
"""Opacity of the translucent machine that shows the run's pose."""

TELLING = ("method", "rtol", "atol", "step", "duration", "torque", "closed_forms", "closing", "factorisation")
"""Settings that affect the computing time of a run."""


class _RunRequest(NamedTuple):
    mech: Mechanism
    arguments: dict[str, Any]
    asked: float
    draft: bool = False
    """True while the slider is still moving."""


class _FinishedRun(NamedTuple):
    run: Run | None
    words: str
    asked: float


class _Worker:
    """Thread that computes the most recently requested run. Does not use Qt."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._wanted: _RunRequest | None = None
        self._made: _FinishedRun | None = None
        self._draft: RunMethodTimes | None = None
        self._key: tuple[Any, ...] = ()
        self._over = False
        self._thread = threading.Thread(target=self._handle_requests, name="what-if", daemon=True)
        self._thread.start()

    def request_run(self, request: _RunRequest) -> None:
        """Request a run; it replaces an earlier request."""
        with self._free:
            self._wanted = request
            self._free.notify()

    def take_finished_run(self) -> _FinishedRun | None:
        """Return the latest finished run (or the reason why it failed) with the time of its request; None if there is
        none."""
        with self._free:
            made, self._made = self._made, None
            return made

    @property
    def is_idle(self) -> bool:
        """True if no run is requested or being computed."""
        with self._free:
            return self._wanted is None and self._made is None and not self._busy

    _busy = False

    def close(self) -> None:
        """End the thread."""
        with self._free:
            self._over, self._wanted = True, None
            self._free.notify()
        self._thread.join(5.0)

    def _handle_requests(self) -> None:
        while True:
            with self._free:
                while self._wanted is None and not self._over:
                    self._free.wait()
                if self._over:
                    return
                wanted, self._wanted, self._busy = self._wanted, None, True
            assert wanted is not None
            made = self._compute_run(wanted)
            with self._free:
                self._made, self._busy = made or self._made, False
            self._try_methods(wanted)

    def _compute_run(self, request: _RunRequest) -> _FinishedRun | None:
        """Compute a requested run; return None if there is a newer request by then."""
        from core.simulation import simulate

        try:
            draft = self._method_times(request)
            if request.draft and draft.fastest_method != draft.variants[0]:
                run = self._run_timed(request, draft.fastest_method)
                if run is not None:
                    return _FinishedRun(run, "", request.asked)
            run = simulate(
                request.mech,
                **request.arguments,
                cancelled=lambda: self._over or (not request.draft and self._wanted is not None),
            )
            if run.statistics.ended:
                return None
            draft.record_time(draft.variants[0], run.statistics.cpu)
            return _FinishedRun(run, "", request.asked)
        except SimulationError as error:
            kept = error.run if error.run is not None and len(error.run) > 1 else None
            return _FinishedRun(kept, str(error), request.asked)
        except KinetostatError as error:
            return _FinishedRun(None, str(error), request.asked)
        except Exception as error:  # told in the window
            return _FinishedRun(None, f"{type(error).__name__}: {error}", request.asked)

    def _method_times(self, request: _RunRequest) -> RunMethodTimes:
        """Return the recorded computing times for this machine and these settings."""
        key = request.mech, *(request.arguments[name] for name in TELLING)
        if self._draft is None or key != self._key:
            self._draft, self._key = RunMethodTimes(request.arguments), key
        return self._draft

    @property
    def _is_stale(self) -> bool:
        return self._over or self._wanted is not None

    def _run_timed(self, request: _RunRequest, run_method: RunMethod) -> Run | None:
        """Compute a run with a method and record its time; None if it fails."""
        from core.simulation import simulate

        assert self._draft is not None
        try:
            run = simulate(request.mech, **run_method.apply_to(request.arguments), cancelled=lambda: self._over)
        except SimulationError:
            self._draft.record_time(run_method, float("inf"))
            return None
        self._draft.record_time(run_method, run.statistics.cpu)
        return run

    def _try_methods(self, request: _RunRequest) -> None:
        """Try other methods until one is fast enough or a new request arrives."""
        draft = self._draft
        while draft is not None and (variant := draft.untried_method) is not None and not self._is_stale:
            if variant == draft.variants[0]:  # failed as wished: nothing to be quicker than
                return
            try:
                self._run_timed(request, variant)
                self._run_timed(request, variant)  # without the making of machine code
            except (KinetostatError, Cancelled):
                draft.record_time(variant, float("inf"))
                return


class WhatIf(QObject):
    """Computes runs that follow sliders (the session's previews) and run settings while it is on."""

    changed = Signal()
    made = Signal(float)
    """Emitted when a run is shown, with the time since the slider was moved, s."""

    def __init__(
        self,
        view: Stage,
        player: Player,
        sequence: PosePlayback,
        simulation: Simulation,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._view, self._session, self._simulation = view, view.session, simulation
        self._player, self._sequence = player, sequence
        self._worker: _Worker | None = None
        self.record: RunRecord | None = None
        self._run_settings: RunSettings = simulation.run_settings
        self._document = self._session.document
        self._last = 0.0
        self._seen: tuple[Any, ...] = ()
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._collect_result)
        self._life = Lifetime()
        self._life.listen(
            (self._session.moved, self._on_pose_changed),
            (self._session.changed, self._on_document_changed),
            (simulation.changed, self._on_settings_changed),
            (self._session.runs.moved, self._show_ghost),
        )

    def close(self) -> None:
        """Stop, and disconnect from all signals."""
        self._life.close()
        self.set_enabled(False)

    @property
    def is_on(self) -> bool:
        """True while runs follow the sliders."""
        return self._worker is not None

    def set_enabled(self, on: bool) -> None:
        """Switch live what-if on or off."""
        if on == self.is_on:
            return
        if on:
            self._worker = _Worker()
            self._run_settings, self._document = self._simulation.run_settings, self._session.document
            self._request_run()
        elif self._worker is not None:
            self._timer.stop()
            self._worker.close()
            self._worker = None
            self._view.scene.overlays.show_ghosts((), [], source="what-if")
            self._view.update()
        self._player.keeps_on = on
        self.changed.emit()

    # ------------------------------------------------------------------------------- inputs

    def _on_pose_changed(self) -> None:
        """Request a run after a movement by slider or handle; playback of a run is ignored."""
        session = self._session
        if not self.is_on or not session.has_preview:
            self._seen = ()
            return
        seen = session.mech, session.q.tobytes(), *session.edited_parameters.items()
        if seen != self._seen:
            self._seen = seen
            self._request_run()

    def _on_document_changed(self, old: Any, new: Any) -> None:
        """Request a run of the edited model."""
        if not self.is_on:
            return
        if self._document != self._session.document:
            self.set_enabled(False)
            return
        if old.model is not new.model or old.pose != new.pose:
            self._request_run()

    def _on_settings_changed(self) -> None:
        if self.is_on and self._simulation.run_settings != self._run_settings:
            self._run_settings = self._simulation.run_settings
            self._request_run()

    def _request_run(self) -> None:
        """Request a run of the current state."""
        session = self._session
        if self._worker is None or session.mech.nv == 0:
            return
        now = time.monotonic()
        if 1e3 * (now - self._last) > PAUSE:
            self._keep_faint_run()
        self._last = now
        run_settings = self._simulation.run_settings
        if run_settings.start in ("moment", "moving"):  # these would begin where the run itself is shown
            run_settings = dataclasses.replace(run_settings, start="pose")
        start = find_initial_state(run_settings, session)
        self._worker.request_run(
            _RunRequest(session.mech, simulate_arguments(run_settings, session, start), now, session.has_preview)
        )
        if not self._timer.isActive():
            self._timer.start()

    def _keep_faint_run(self) -> None:
        """Keep the run shown before this movement visible as a faint run."""
        runs = self._session.runs
        if self.record is not None and self.record in runs.items:
            runs.add(self.record.run, f"{NAME} before", faint=True, select=False)

    # ------------------------------------------------------------------------------- outputs

    def _collect_result(self) -> None:
        worker = self._worker
        if worker is None:
            return
        made = worker.take_finished_run()
        if made is None:
            if worker.is_idle:
                self._timer.stop()
            return
        run, words, asked = made
        if words:
            self._view.show_hint(words)
        if run is None:
            return
        runs = self._session.runs
        if self.record is None or self.record not in runs.items:
            self.record = runs.add(run, NAME)
        else:
            runs.replace(self.record, run)
            runs.select(self.record)
        self.made.emit(time.monotonic() - asked)

    def _show_ghost(self, *_: object) -> None:
        """Show the run's pose at the playhead as a translucent machine while the edited pose is displayed."""
        session, runs = self._session, self._session.runs
        if not self.is_on or self._sequence.is_open:
            return
        record = runs.current
        if record is None or not session.has_preview:
            self._view.scene.overlays.show_ghosts((), [], source="what-if")
            return
        run = record.run
        at = runs.time if runs.time > run.time[0] else float(run.time[-1])
        q = match_coordinates_by_name(session, run, np.asarray(run.at(at)))
        arrays = [np.asarray(session.mech.poses(q, p=session.p))]
        self._view.scene.overlays.show_ghosts(session.mech.frame_names, arrays, GHOST, source="what-if")
        self._view.update()

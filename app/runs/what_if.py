"""Live what-if: while a slider moves, the whole run is computed again in the background; the last few runs stay faintly
visible.

Requests come faster than runs: the newest waits until the thread is free, those between are never computed. While the
hand moves, runs are computed with settings that keep up with it (`DraftRun`); with the chosen settings when it rests.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, QTimer

from app.background.signals import Lifetime, Signal
from app.document.run_pose import matched
from app.document.run_tree import Record
from app.runs.job import Simulation
from app.runs.run_settings import RunSettings, arguments, start_of
from core.errors import KinetostatError, SimulationError
from core.functions.context import Cancelled
from core.simulation import METHODS, Run

if TYPE_CHECKING:
    from app.playback.clock import Player
    from app.playback.sequence import Sequence
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism


TIME_BUDGET = 0.04
"""Processor time of a run that follows a moving slider, s."""
TOLERANCE_FACTOR = 100.0
"""Largest factor by which tolerances are loosened while the slider moves."""
LOOSEST_TOLERANCE = 1e-3
"""Largest relative tolerance that loosening may lead to."""
STIFF_METHOD = "radau"
"""Method for stiff systems (gears, friction), which takes long steps where others are limited by stability."""


class RunVariant(NamedTuple):
    """A way to compute a run. method : one of `METHODS`; looser : factor of the tolerances."""

    method: str
    looser: float = 1.0

    def of(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords of `simulate` for this variant."""
        if self == RunVariant(wanted["method"]):
            return wanted
        rtol = max(wanted["rtol"], min(self.looser * wanted["rtol"], LOOSEST_TOLERANCE))
        atol = wanted["atol"] * rtol / wanted["rtol"]
        step = wanted["step"] if METHODS[wanted["method"]].adaptive else None
        return {**wanted, "method": self.method, "rtol": rtol, "atol": atol, "step": step}


class DraftRun:
    """Records the computing time of each variant and chooses the next one.

    Ways stand in the order of preference; the first that keeps within the budget is taken, one that was not tried yet
    only if all before it do not, and the quickest if none does.
    """

    def __init__(self, wanted: dict[str, Any]) -> None:
        """wanted : keywords of `simulate`."""
        method = wanted["method"]
        variants = [RunVariant(method), RunVariant(STIFF_METHOD), RunVariant(STIFF_METHOD, TOLERANCE_FACTOR)]
        if METHODS[method].adaptive:
            variants.append(RunVariant(method, TOLERANCE_FACTOR))
        self.variants = tuple(dict.fromkeys(variants))
        self.took: dict[RunVariant, float] = {}

    @property
    def untried_variant(self) -> RunVariant | None:
        """Return a variant that may be quicker than all those tried; None if one is quick enough."""
        if any(seconds <= TIME_BUDGET for seconds in self.took.values()):
            return None
        return next((variant for variant in self.variants if variant not in self.took), None)

    @property
    def best(self) -> RunVariant:
        """Return the quickest variant known."""
        good = next(
            (variant for variant in self.variants if self.took.get(variant, TIME_BUDGET + 1.0) <= TIME_BUDGET), None
        )
        return good or min(self.variants, key=lambda variant: self.took.get(variant, float("inf")))

    def note(self, variant: RunVariant, seconds: float) -> None:
        """Record the processor time of a run, s; infinite if it failed."""
        self.took[variant] = seconds


LOOK = 3
"""Interval at which results of the thread are collected, ms."""
PAUSE = 700
"""Time after the last movement from which the next one starts a new comparison, ms."""
NAME = "What-if"
GHOST = 0.35
"""Opacity of the machine as posed by the run."""

TELLING = ("method", "rtol", "atol", "step", "duration", "torque", "closed_forms", "closing", "factorisation")
"""Settings that determine how long a run takes."""


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
    """Thread that always handles the newest request. Does not use Qt."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._wanted: _RunRequest | None = None
        self._made: _FinishedRun | None = None
        self._draft: DraftRun | None = None
        self._key: tuple[Any, ...] = ()
        self._over = False
        self._thread = threading.Thread(target=self._work, name="what-if", daemon=True)
        self._thread.start()

    def want(self, wanted: _RunRequest) -> None:
        """Request a run, replacing an earlier request."""
        with self._free:
            self._wanted = wanted
            self._free.notify()

    def take(self) -> _FinishedRun | None:
        """Return the newest run (or the reason why there is none) and the time of its request."""
        with self._free:
            made, self._made = self._made, None
            return made

    @property
    def idle(self) -> bool:
        """True if nothing is requested or computed."""
        with self._free:
            return self._wanted is None and self._made is None and not self._busy

    _busy = False

    def close(self) -> None:
        """End the thread."""
        with self._free:
            self._over, self._wanted = True, None
            self._free.notify()
        self._thread.join(5.0)

    def _work(self) -> None:
        while True:
            with self._free:
                while self._wanted is None and not self._over:
                    self._free.wait()
                if self._over:
                    return
                wanted, self._wanted, self._busy = self._wanted, None, True
            assert wanted is not None
            made = self._run(wanted)
            with self._free:
                self._made, self._busy = made or self._made, False
            self._try_variants(wanted)

    def _run(self, wanted: _RunRequest) -> _FinishedRun | None:
        """Compute a request; return None if a newer one exists by then."""
        from core.simulation import simulate

        try:
            draft = self._draft_of(wanted)
            if wanted.draft and draft.best != draft.variants[0]:
                run = self._run_timed(wanted, draft.best)
                if run is not None:
                    return _FinishedRun(run, "", wanted.asked)
            run = simulate(
                wanted.mech,
                **wanted.arguments,
                cancelled=lambda: self._over or (not wanted.draft and self._wanted is not None),
            )
            if run.statistics.ended:
                return None
            draft.note(draft.variants[0], run.statistics.cpu)
            return _FinishedRun(run, "", wanted.asked)
        except SimulationError as error:
            kept = error.run if error.run is not None and len(error.run) > 1 else None
            return _FinishedRun(kept, str(error), wanted.asked)
        except KinetostatError as error:
            return _FinishedRun(None, str(error), wanted.asked)
        except Exception as error:  # told in the window
            return _FinishedRun(None, f"{type(error).__name__}: {error}", wanted.asked)

    def _draft_of(self, wanted: _RunRequest) -> DraftRun:
        """Return the record of variants for this machine with these tolerances."""
        key = wanted.mech, *(wanted.arguments[name] for name in TELLING)
        if self._draft is None or key != self._key:
            self._draft, self._key = DraftRun(wanted.arguments), key
        return self._draft

    @property
    def _is_stale(self) -> bool:
        return self._over or self._wanted is not None

    def _run_timed(self, wanted: _RunRequest, variant: RunVariant) -> Run | None:
        """Compute a run with a variant and record its time; None if it fails."""
        from core.simulation import simulate

        assert self._draft is not None
        try:
            run = simulate(wanted.mech, **variant.of(wanted.arguments), cancelled=lambda: self._over)
        except SimulationError:
            self._draft.note(variant, float("inf"))
            return None
        self._draft.note(variant, run.statistics.cpu)
        return run

    def _try_variants(self, wanted: _RunRequest) -> None:
        """Look for a variant that is quick enough while no request is waiting."""
        draft = self._draft
        while draft is not None and (variant := draft.untried_variant) is not None and not self._is_stale:
            if variant == draft.variants[0]:  # failed as wished: nothing to be quicker than
                return
            try:
                self._run_timed(wanted, variant)
                self._run_timed(wanted, variant)  # without the making of machine code
            except (KinetostatError, Cancelled):
                draft.note(variant, float("inf"))
                return


class WhatIf(QObject):
    """Follows sliders (the session's previews) and run settings while it is on."""

    changed = Signal()
    made = Signal(float)
    """Emitted when a run is shown, with the time since its slider moved, s."""

    def __init__(
        self,
        view: Stage,
        player: Player,
        sequence: Sequence,
        simulation: Simulation,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._view, self._session, self._simulation = view, view.session, simulation
        self._player, self._sequence = player, sequence
        self._worker: _Worker | None = None
        self.record: Record | None = None
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
            (simulation.changed, self._wanted),
            (self._session.runs.moved, self._show_ghost),
        )

    def close(self) -> None:
        """Stop permanently."""
        self._life.close()
        self.switch(False)

    @property
    def on(self) -> bool:
        """True while runs follow the sliders."""
        return self._worker is not None

    def switch(self, on: bool) -> None:
        """Switch following the sliders on or off."""
        if on == self.on:
            return
        if on:
            self._worker = _Worker()
            self._run_settings, self._document = self._simulation.run_settings, self._session.document
            self._request_run()
        elif self._worker is not None:
            self._timer.stop()
            self._worker.close()
            self._worker = None
            self._view.scene.overlays.ghosts((), [], source="what-if")
            self._view.update()
        self._player.keeps_on = on
        self.changed.emit()

    # ------------------------------------------------------------------------------- inputs

    def _on_pose_changed(self) -> None:
        """Handle a movement by slider or handle; playback of the run does not count."""
        session = self._session
        if not self.on or not session.previewing:
            self._seen = ()
            return
        seen = session.mech, session.q.tobytes(), *session.edited_parameters.items()
        if seen != self._seen:
            self._seen = seen
            self._request_run()

    def _on_document_changed(self, old: Any, new: Any) -> None:
        """Request a run of the edited model."""
        if not self.on:
            return
        if self._document != self._session.document:
            self.switch(False)
            return
        if old.model is not new.model or old.pose != new.pose:
            self._request_run()

    def _wanted(self) -> None:
        if self.on and self._simulation.run_settings != self._run_settings:
            self._run_settings = self._simulation.run_settings
            self._request_run()

    def _request_run(self) -> None:
        """Request a run of the current state."""
        session = self._session
        if self._worker is None or session.mech.nv == 0:
            return
        now = time.monotonic()
        if 1e3 * (now - self._last) > PAUSE:
            self._keep_as_faint()
        self._last = now
        run_settings = self._simulation.run_settings
        if run_settings.start in ("moment", "moving"):  # these would begin where the run itself is shown
            run_settings = dataclasses.replace(run_settings, start="pose")
        start = start_of(run_settings, session)
        self._worker.want(_RunRequest(session.mech, arguments(run_settings, session, start), now, session.previewing))
        if not self._timer.isActive():
            self._timer.start()

    def _keep_as_faint(self) -> None:
        """Keep the run shown before this movement as a faint one."""
        runs = self._session.runs
        if self.record is not None and self.record in runs.items:
            runs.add(self.record.run, f"{NAME} before", faint=True, select=False)

    # ------------------------------------------------------------------------------- outputs

    def _collect_result(self) -> None:
        worker = self._worker
        if worker is None:
            return
        made = worker.take()
        if made is None:
            if worker.idle:
                self._timer.stop()
            return
        run, words, asked = made
        if words:
            self._view.say(words)
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
        """Show the run's pose at the playhead as a translucent machine while the edited pose is in front."""
        session, runs = self._session, self._session.runs
        if not self.on or self._sequence.active:
            return
        record = runs.current
        if record is None or not session.previewing:
            self._view.scene.overlays.ghosts((), [], source="what-if")
            return
        run = record.run
        at = runs.time if runs.time > run.time[0] else float(run.time[-1])
        q = matched(session, run, np.asarray(run.at(at)))
        arrays = [np.asarray(session.mech.poses(q, p=session.p))]
        self._view.scene.overlays.ghosts(session.mech.frame_names, arrays, GHOST, source="what-if")
        self._view.update()

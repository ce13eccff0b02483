"""Interactive dynamics: the machine moves in real time and can be pulled, held, rearranged by hand, and released."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer

from app.background.signals import Lifetime, Signal
from app.runs.job import Simulation
from app.runs.run_settings import find_initial_state, simulate_arguments
from app.viewport.annotations import annotation_line
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.background.jobs import Jobs
    from app.playback.clock import Player
    from app.viewport.stage import Stage
    from core.simulation.live import Live

Array = NDArray[np.float64]

TICK = 16
"""Shortest interval between two frames, ms."""
BUDGET = 0.02
"""Computing time per frame, s; if it is exceeded, the motion is slower than real time."""
SHARE = 0.8
"""Fraction of time for computation if drawing takes longer than a frame; there are then fewer frames, at the same pace
of motion."""
HICCUP = 0.5
"""Longest delay by a slow frame that is made up for, s."""
HAND = 0.1
"""Time before the release over which the speed of a movement by hand is averaged, s."""
LEAST = 3
"""Least number of poses of a movement by hand that are kept, however slow drawing is."""
DAMPINGS = {"none": ("None", 0.0), "light": ("Light", 0.5), "strong": ("Strong", 3.0)}
"""Artificial damping: id → title, rate in 1/s."""
DOING = {"stick": "sticks", "slide+": "slides", "slide-": "slides", "closed": "at its stop", "at limit": "at its limit"}
"""Words for friction and stop states, shown next to the pull."""
MOST_TOLD = 3
"""Largest number of joints whose states are shown next to the pull."""
NAME = "Interactive"
HINT = "Running: drag a body to pull it · Space pauses, so that you can move it by hand · Esc stops and keeps the run"
PAUSED = (
    "Paused: drag a body or handle by hand · Space continues with the speed of the hand · Esc stops and keeps the run"
)


class InteractiveDynamics(QObject):
    """Interactive simulation, which is off, running or paused. It is recorded and becomes a run of the session when it
    ends."""

    changed = Signal()

    def __init__(
        self, view: Stage, player: Player, simulation: Simulation, jobs: Jobs, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._view, self._session, self._player = view, view.session, player
        self._simulation, self._jobs = simulation, jobs
        self.live: Live | None = None
        self.starting = False
        self.damping = "none"
        self.pace = 1.0
        """Simulated per real time, over the last ticks."""
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._advance)
        self._last = 0.0
        self.clock = time.monotonic
        """Seconds, by which the speed of the hand is taken."""
        self._hand: deque[tuple[float, Array]] = deque()
        self._document = 0
        self._own = False
        self._tool = "select"
        self._standing = self._modes = ""
        """Words for the status line, without what is said of damping; who sticks and slides."""
        self._tool_waits = False
        """True if a pull with Ctrl began the run: the pull tool is chosen when it ends, so that the hints are
        right."""
        self._life = Lifetime()
        self._life.listen(
            (self._session.changed, self._on_document_changed), (self._session.moved, self._on_pose_changed)
        )

    def close(self) -> None:
        """Stop, and disconnect from all signals."""
        self._timer.stop()
        self._life.close()
        self.live = None

    @property
    def on(self) -> bool:
        """True while it is running or paused."""
        return self.live is not None

    @property
    def running(self) -> bool:
        """True while the machine moves."""
        return self._timer.isActive()

    # ------------------------------------------------------------------------------- verbs

    def start(self) -> None:
        """Start interactive dynamics, or stop it if it is on."""
        if self.on:
            self.stop()
            return
        session = self._session
        if self.starting or session.mech.nv == 0:
            return
        self.starting, self._document = True, session.document
        self._player.pause()
        self._view.show_hint("Preparing …")
        mech, run_settings = session.mech, self._simulation.run_settings
        wanted = simulate_arguments(run_settings, session, find_initial_state(run_settings, session))
        wanted.pop("output")  # a slice
        damping = DAMPINGS[self.damping][1]

        def work(progress: Any, cancelled: Any) -> Live:
            from core.machine_code.supply import report_waiting
            from core.simulation.live import SLICE, Live

            def report_status(text: str) -> None:
                progress(0.0, text)

            with report_waiting(report_status):
                trial = Live(mech, **wanted)  # all machine code is made here
                trial.advance(SLICE)
                trial.grab(mech.frame_names[-1], np.zeros(3), np.zeros(3))
                trial.advance(SLICE)
            return Live(mech, **wanted, damping=damping)

        job = self._jobs.start("Preparing interactive dynamics", work)
        job.progressed.connect(lambda _, words: self._view.show_hint(words or "Preparing …"))
        job.succeeded.connect(self._begin)
        job.failed.connect(self._on_failed)
        job.stopped.connect(self._on_job_dropped)

    def _begin(self, live: Live) -> None:
        self.starting = False
        if self._document != self._session.document or live.mech is not self._session.mech:
            return
        self.live = live
        self._tool = self._view.gestures.tool.id
        self._tool_waits = True
        self._choose_pull_tool()
        self.resume()

    def _on_failed(self, error: BaseException) -> None:
        self._on_job_dropped()
        if not isinstance(error, KinetostatError):
            raise error
        self._session.message.emit("error", str(error))

    def _on_job_dropped(self) -> None:
        self.starting = False
        self._view.show_hint()
        self.changed.emit()

    def resume(self) -> None:
        """Continue from the current pose; with the speed of the hand if the machine was released just now."""
        if self.live is None or self.running:
            return
        self._last = time.monotonic()
        self._timer.start()
        self._show_status(HINT)
        self.changed.emit()

    def pause(self) -> None:
        """Pause, so that the machine can be rearranged by hand."""
        if self.running:
            self._timer.stop()
            self._show_status(PAUSED)
            self.changed.emit()

    @property
    def damping_text(self) -> str:
        """Describe the artificial damping; empty without it."""
        title, rate = DAMPINGS[self.damping]
        return f"Artificial damping: {title.lower()}, {rate:g} per second" if rate else ""

    def _show_status(self, text: str) -> None:
        """Show a text in the status line until the state changes."""
        self._standing = text
        self._view.standing = " · ".join(filter(None, (self.damping_text, self._modes, text)))
        self._view.show_hint()

    def toggle_pause(self) -> None:
        """Run or pause."""
        self.pause() if self.running else self.resume()

    def set_damping(self, damping: str) -> None:
        """Set the artificial damping to one of `DAMPINGS`, by id."""
        self.damping = damping
        if self.live is not None:
            self.live.damping = DAMPINGS[damping][1]
            self._show_status(self._standing)
        self.changed.emit()

    def stop(self, message: str = "") -> None:
        """Stop; the recorded motion becomes a run, and the message is shown."""
        live, self.live = self.live, None
        self._tool_waits = False
        self._timer.stop()
        if live is None:
            return
        self._view.annotations.clear()
        self._view.standing = ""
        if self._view.gestures.tool.id == "pull":
            self._view.gestures.choose_tool(self._tool)
        self._view.show_hint(message)
        run = live.run()
        for note in run.notes if run is not None else ():
            self._session.message.emit("hint", note)
        if run is not None and self._document == self._session.document:
            record = self._session.runs.add(run, run_name(live))
            self._session.runs.seek(float(record.run.time[-1]))
        else:
            self._session.show_run_pose(None)
        self.changed.emit()

    # ------------------------------------------------------------------------------- in time

    def _advance(self) -> None:
        live = self.live
        if live is None:
            return
        now = time.monotonic()
        passed, self._last = now - self._last, now
        if self._session.has_preview:  # in the hand
            return
        from core.simulation.live import SLICE

        wanted, done, began = min(passed, HICCUP), 0.0, time.perf_counter()
        budget = max(BUDGET, SHARE * passed)
        try:
            while done + 0.5 * SLICE < wanted and time.perf_counter() - began < budget:
                live.advance(SLICE)
                done += SLICE
        except KinetostatError as error:
            self.stop()
            self._session.message.emit("error", f"{error} The motion up to then is kept as a run.")
            return
        self._last -= max(wanted - done, 0.0) if wanted - done < SLICE else 0.0
        self.pace += 0.1 * (done / max(passed, 1e-6) - self.pace)
        self._own = True
        self._session.show_run_pose(live.q, live.parameters, live.states, "in motion")
        self._own = False
        self._show_pull()
        self._report_states()

    def _report_states(self) -> None:
        """Report in the status line which joints stick and slide, when this changes."""
        words = self.grip_description() if self.live is not None and self.live.pull is None else ""
        if words != self._modes:
            self._modes = words
            self._show_status(self._standing)

    def _show_pull(self) -> None:
        """Show a line from the pulled point to the pointer, with the force."""
        view, live = self._view, self.live
        if live is None or live.pull is None:
            return
        force = float(f"{np.linalg.norm(live.pull.force):.3g}")
        at = live.point()
        x, y, z = map(float, at)
        words = " · ".join(filter(None, (view.settings.format_value(force, "force"), self.grip_description())))
        view.annotations.lines = (annotation_line(at, live.pull.target, words),)
        view.annotations.points = ((x, y, z),)
        view.annotations.update()

    def grip_description(self) -> str:
        """Describe what resists the pull: joints that stick (with the force at which they slip), slide, or are at a
        stop."""
        live = self.live
        if live is None:
            return ""
        slips, modes = live.first_slip, live.contact_states
        if slips is not None:
            joint, force = slips
            return f"{joint} sticks, slips at {self._view.settings.format_value(float(f'{force:.3g}'), 'force')}"
        found = [f"{name.rpartition('.')[0]} {DOING[word]}" for name, word in modes.items() if word in DOING]
        return ", ".join(found[:MOST_TOLD]) + (" …" if len(found) > MOST_TOLD else "")

    def let_go(self) -> None:
        """End the pull and release the body."""
        if self.live is not None:
            self.live.release_grip()
        self._view.annotations.clear()
        QTimer.singleShot(0, self, self._choose_pull_tool)

    def _choose_pull_tool(self) -> None:
        """Select the Pull tool as soon as no gesture is in progress."""
        if self._tool_waits and self.on and not self._view.gestures.is_running:
            self._tool_waits = False
            self._view.gestures.choose_tool("pull")

    # ------------------------------------------------------------------------------- the hand

    def _on_pose_changed(self) -> None:
        """Record a movement by handle or slider, to measure its speed."""
        if self.live is None or self._own:
            return
        if not self._session.has_preview:
            if not self._session.shows_run_pose and not np.allclose(self.live.q, self._session.q):
                self.continue_from_pose()  # it was put where the document has it: nothing was changed there
            return
        now, q = self.clock(), self._session.q.copy()
        if self._hand and np.array_equal(q, self._hand[-1][1]):
            return
        self._hand.append((now, q))
        while len(self._hand) > LEAST and now - self._hand[0][0] > HAND:
            self._hand.popleft()

    def _hand_speed(self) -> Array:
        """Return the speed of the movement by hand at its release (nv,); zero if it was at rest."""
        still = np.zeros(self._session.mech.nv)
        if len(self._hand) < 2:
            return still
        (t0, q0), (t1, q1) = self._hand[0], self._hand[-1]
        between = (t1 - t0) / (len(self._hand) - 1)
        if self.clock() - t1 > max(HAND, 2.0 * between):
            return still
        return np.asarray(self._session.mech.difference(q0, q1)) / max(t1 - t0, 1e-3)

    def _on_document_changed(self, old: Any, new: Any) -> None:
        """Handle a pose set by hand, or an edit of the model."""
        if self.live is None:
            return
        if old.model is not new.model or self.live.mech is not self._session.mech:
            self.stop("Interactive dynamics ended because the model was changed")
            return
        if old.pose != new.pose:
            self.continue_from_pose()

    def continue_from_pose(self) -> None:
        """Continue from the pose set by hand, with its speed."""
        live, session = self.live, self._session
        assert live is not None
        v = self._hand_speed()
        self._hand.clear()
        try:
            live.set_pose(session.q, v)
        except KinetostatError as error:
            session.message.emit("warning", str(error))


def run_name(live: Live) -> str:
    """Return the name of the run, with its artificial damping if there is any."""
    rates = " and ".join(f"{rate:g}" for rate in live.damping_rates)
    return f"{NAME}, artificial damping {rates} 1/s" if rates else NAME

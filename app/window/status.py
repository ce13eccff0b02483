"""The status line (the tool's hint, work in progress, the point under the pointer), and all places where the window
shows messages."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QStatusBar, QToolButton

from app.background.guard import Guard
from app.background.jobs import Job, Jobs
from app.background.signals import Lifetime
from app.dialogs.messages import MessageCard
from app.document.analyses import mobility_of_session
from app.document.revision import Ref, State
from app.document.session import Session
from app.plain_text import as_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import ElidedLabel, Label
from app.widgets.panel_parts import ProgressBar
from app.window.notices import Notices
from core.model import WORDS

if TYPE_CHECKING:
    from core.simulation.machine_code.supply import MakingAhead


class IntegratorsCompiler:
    """Compiles the integrators' code in the background if it is missing, as in a fresh checkout, before a run
    needs it."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._making: MakingAhead | None = None

    def start(self) -> None:
        """Check for missing code in a thread, and compile it."""
        self._thread = threading.Thread(target=self._start, name="kinetostat-integrators", daemon=True)
        self._thread.start()

    def _start(self) -> None:
        from core.simulation.machine_code.supply import AHEAD

        self._making = AHEAD
        AHEAD.start()

    @property
    def busy(self) -> bool:
        """True while code is checked or compiled."""
        looking = self._thread is not None and self._thread.is_alive()
        return looking or (self._making is not None and self._making.busy)

    @property
    def words(self) -> str:
        """Progress of the compilation; "" if nothing is compiled."""
        making = self._making
        return f"preparing integrators {making.ready}/{making.total}" if making is not None and making.busy else ""


class StatusLine(QStatusBar):
    """Status line. Left: hint. Right: job, compiler, coordinates."""

    def __init__(self, session: Session, settings: Settings, jobs: Jobs) -> None:
        super().__init__()
        self._session, self._settings, self._jobs = session, settings, jobs
        self.setSizeGripEnabled(False)
        self.words = ElidedLabel()
        self.work, self.code, self.part, self.place = Label(), Label(), Label(), Label()
        self.words.setMinimumWidth(60)
        self.words.setContentsMargins(10, 0, 0, 0)
        self.place.setContentsMargins(0, 0, 10, 0)
        self.place.setMinimumWidth(250)
        self.place.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.place.setToolTip("Point under the pointer, in world axes")
        self.bar = ProgressBar(textVisible=False, maximum=1000)
        self.bar.setFixedSize(110, 8)
        self.stop = QToolButton(icon=icon("stop"), autoRaise=True, toolTip="Stop this work")
        self.stop.clicked.connect(jobs.cancel_all)
        self.addWidget(self.words, 1)
        self.part.setToolTip("The element under the pointer")
        self.part.setContentsMargins(10, 0, 6, 0)
        self.freedoms = Label()
        self.integrators = IntegratorsCompiler()
        self._mobility = mobility_of_session(session)
        self._show_freedoms()
        for widget in (self.work, self.bar, self.stop, self.code, self.freedoms, self.part, self.place):
            self.addPermanentWidget(widget)
        self._last: ArrayLike | None = None
        self._reading = ""
        jobs.changed.connect(self.refresh)
        self._poll = QTimer(self, interval=150)
        self._poll.timeout.connect(self.refresh)
        self._life = Lifetime()
        self._life.listen(
            (self._mobility.ready, self._show_freedoms),
            (session.changed, self._document_changed),
            (session.hovered, self._hover_changed),
            (settings.changed, self._setting_changed),
        )
        self._life.callback(self._poll.stop)
        self._poll.start()
        self.refresh()

    def close(self) -> None:
        """Disconnect from session and jobs."""
        self._life.close()

    def prepare_integrators(self) -> None:
        """Compile missing code of the integrators, and show the progress."""
        self.integrators.start()
        self._poll.start()

    def expect(self, text: str) -> None:
        """Show the hint of the tool."""
        self.words.setText(text)
        self.words.setToolTip(as_tip(text))

    def busy(self, text: str) -> None:
        """Show what is being read; '' when nothing is."""
        self._reading = text
        self.refresh()

    def point(self, point: ArrayLike | None) -> None:
        """Show the coordinates of a point (3,) in m, world; None for none."""
        self._last = point
        if point is None:
            self.place.setText("")
            return
        shown = (self._settings.shown(float(x), "length") for x in np.asarray(point))
        self.place.setText("   ".join(f"{axis} {text}" for axis, text in zip("xyz", shown, strict=True)))

    def refresh(self) -> None:
        """Update job and compiler."""
        running = self._jobs.running
        job = running[0] if running else None
        left = job.time_left if job is not None else None
        about = f", about {left:.0f} s left" if left is not None and left > 2.0 else ""
        self.work.setText(f"{_progress_text(job)}{about}" if job is not None else self._reading)
        self.bar.setVisible(job is not None or bool(self._reading))
        self.stop.setVisible(job is not None)
        if job is not None and job.fraction > 0.0:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * job.fraction))
        else:
            self.bar.setRange(0, 0)
        ready = getattr(self._session.mech, "ready", True)
        self.code.setText(self.integrators.words if ready else "compiling …")
        if ready and job is None and not self._reading and not self.integrators.busy:
            self._poll.stop()
        elif not self._poll.isActive():
            self._poll.start()

    def _show_freedoms(self) -> None:
        """Show the degrees of freedom of the machine."""
        found = self._mobility.mobility
        if found is None:
            reason = self._mobility.open_loop_reason
            self.freedoms.setText("does not close" if reason else "")
            self.freedoms.setToolTip(as_tip(reason))
            return
        left = f", {found.undriven} undriven" if found.driven else ""
        self.freedoms.setText(f"{found.dof} degree{'s' * (found.dof != 1)} of freedom{left}")
        self.freedoms.setToolTip(as_tip(str(found)))

    def _hover_changed(self, ref: Ref | None) -> None:
        self.part.setText("" if ref is None else f"{WORDS[ref.collection]} {ref.name}")

    def _document_changed(self, old: State, new: State) -> None:
        self._poll.start()
        if old.model is not new.model:  # what was under the pointer may be gone
            self.point(None)

    def _setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.point(self._last)


def _progress_text(job: Job) -> str:
    """Describe the progress of a job: while it prepares, its own text."""
    return job.text if job.text and job.fraction == 0.0 else job.title


class MessagePlaces(NamedTuple):
    """The message card, the notices, the status line, and the guard that turns failures into messages."""

    messages: MessageCard
    notices: Notices
    status: StatusLine
    guard: Guard

"""The status bar (hint of the tool, work in progress, point under the pointer), and the places where the window shows
messages."""

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
from app.document.analyses import model_analysis_of
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import ElidedLabel, Label
from app.widgets.panel_parts import ProgressBar
from app.window.notices import Notices
from core.model import WORDS

if TYPE_CHECKING:
    from core.machine_code.supply import BackgroundCompilation


class IntegratorCompiler:
    """Compiles missing machine code of the integrators in the background, before a run needs it (code is missing in a
    fresh checkout, for example)."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._making: BackgroundCompilation | None = None

    def start(self) -> None:
        """Check in a thread whether code is missing, and compile it."""
        self._thread = threading.Thread(target=self._compile_missing, name="kinetostat-integrators", daemon=True)
        self._thread.start()

    def _compile_missing(self) -> None:
        from core.machine_code.supply import AHEAD

        self._making = AHEAD
        AHEAD.start()

    @property
    def is_busy(self) -> bool:
        """True while code is being checked or compiled."""
        looking = self._thread is not None and self._thread.is_alive()
        return looking or (self._making is not None and self._making.is_busy)

    @property
    def progress_text(self) -> str:
        """Progress of the compilation as text; "" if nothing is being compiled."""
        making = self._making
        return (
            f"compiling integrators {making.compiled_count}/{making.total}"
            if making is not None and making.is_busy
            else ""
        )


class StatusLine(QStatusBar):
    """Status bar. Left: hint. Right: job, compilation, degrees of freedom, element and coordinates under the
    pointer."""

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
        self.stop = QToolButton(icon=icon("stop"), autoRaise=True, toolTip="Stop this job")
        self.stop.clicked.connect(jobs.cancel_all)
        self.addWidget(self.words, 1)
        self.part.setToolTip("The element under the pointer")
        self.part.setContentsMargins(10, 0, 6, 0)
        self.freedoms = Label()
        self.integrators = IntegratorCompiler()
        self._mobility = model_analysis_of(session)
        self._show_dof()
        for widget in (self.work, self.bar, self.stop, self.code, self.freedoms, self.part, self.place):
            self.addPermanentWidget(widget)
        self._last: ArrayLike | None = None
        self._reading = ""
        jobs.changed.connect(self.refresh_progress)
        self._poll = QTimer(self, interval=150)
        self._poll.timeout.connect(self.refresh_progress)
        self._life = Lifetime()
        self._life.listen(
            (self._mobility.ready, self._show_dof),
            (session.changed, self._on_document_changed),
            (session.hovered, self._on_hover_changed),
            (settings.changed, self._on_setting_changed),
        )
        self._life.callback(self._poll.stop)
        self._poll.start()
        self.refresh_progress()

    def close(self) -> None:
        """Disconnect from session and jobs."""
        self._life.close()

    def compile_integrators(self) -> None:
        """Compile missing code of the integrators, and show the progress."""
        self.integrators.start()
        self._poll.start()

    def show_hint(self, text: str) -> None:
        """Show the hint of the active tool."""
        self.words.setText(text)
        self.words.setToolTip(escape_tip(text))

    def show_reading(self, text: str) -> None:
        """Show which file is being read; "" if none is."""
        self._reading = text
        self.refresh_progress()

    def show_point(self, point: ArrayLike | None) -> None:
        """Show the coordinates of a point (3,) in m, world; None for none."""
        self._last = point
        if point is None:
            self.place.setText("")
            return
        shown = (self._settings.format_value(float(x), "length") for x in np.asarray(point))
        self.place.setText("   ".join(f"{axis} {text}" for axis, text in zip("xyz", shown, strict=True)))

    def refresh_progress(self) -> None:
        """Update the progress of the job and of the compilation."""
        running = self._jobs.unfinished_jobs
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
        self.code.setText(self.integrators.progress_text if ready else "compiling …")
        if ready and job is None and not self._reading and not self.integrators.is_busy:
            self._poll.stop()
        elif not self._poll.isActive():
            self._poll.start()

    def _show_dof(self) -> None:
        """Show the degrees of freedom of the machine."""
        found = self._mobility.mobility
        if found is None:
            reason = self._mobility.open_loop_reason
            self.freedoms.setText("loops do not close" if reason else "")
            self.freedoms.setToolTip(escape_tip(reason))
            return
        left = f", {found.undriven} undriven" if found.driven else ""
        self.freedoms.setText(f"{found.dof} degree{'s' * (found.dof != 1)} of freedom{left}")
        self.freedoms.setToolTip(escape_tip(str(found)))

    def _on_hover_changed(self, ref: ElementRef | None) -> None:
        self.part.setText("" if ref is None else f"{WORDS[ref.collection]} {ref.name}")

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        self._poll.start()
        if old.model is not new.model:  # what was under the pointer may be gone
            self.show_point(None)

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.show_point(self._last)


def _progress_text(job: Job) -> str:
    """Return a description of a job in progress: its own text while it prepares, then its title."""
    return job.text if job.text and job.fraction == 0.0 else job.title


class MessageOutlets(NamedTuple):
    """Message card, notices, status bar, and the guard that turns exceptions into messages."""

    messages: MessageCard
    notices: Notices
    status: StatusLine
    guard: Guard

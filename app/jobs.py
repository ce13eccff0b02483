"""Work beside the window: one thread, one job after the other, with progress and cancel.

A job's signals arrive in the window's thread. What a job made before it failed or was stopped stays.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal

from core.functions.function import Cancelled

Work = Callable[[Callable[..., None], Callable[[], bool]], Any]
"""`work(progress, cancelled)`: progress(fraction 0 … 1, text) reports; cancelled() is True when it should stop."""

REPORT_EVERY = 0.05
"""Least time between two reports of progress, in s."""
CLOSE_WAIT = 10_000
"""How long closing waits for a job to notice that it should stop, in ms."""


class Job(QObject):
    """One piece of work. Exactly one of succeeded, failed, stopped is emitted, then ended."""

    progressed = Signal(float, str)
    succeeded = Signal(object)
    failed = Signal(object)
    stopped = Signal()
    ended = Signal()
    _done = Signal(str, object)

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.started = time.monotonic()
        self.fraction = 0.0
        self.seconds = 0.0
        self._work = work
        self._cancelled = False
        self._reported = 0.0
        self._done.connect(self._finish, Qt.ConnectionType.QueuedConnection)

    def cancel(self) -> None:
        """Ask the work to stop; what it returns is dropped."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """True when it was asked to stop."""
        return self._cancelled

    @property
    def time_left(self) -> float | None:
        """Estimated seconds left; None before there is anything to estimate from."""
        spent = time.monotonic() - self.started
        return spent * (1.0 - self.fraction) / self.fraction if self.fraction > 0.02 else None

    def run(self) -> None:
        """Do the work (in the job thread)."""
        self.started = time.monotonic()
        try:
            if self._cancelled:
                raise Cancelled
            result = self._work(self._progress, lambda: self._cancelled)
        except Cancelled:
            self._done.emit("stopped", None)
        except BaseException as error:  # told by whoever started the job
            self._done.emit("failed", error)
        else:
            self._done.emit("succeeded", result)

    def _progress(self, fraction: float, text: str = "") -> None:
        self.fraction = fraction
        now = time.monotonic()
        if now - self._reported >= REPORT_EVERY:
            self._reported = now
            self.progressed.emit(fraction, text)

    def _finish(self, how: str, result: object) -> None:
        self.seconds = time.monotonic() - self.started
        if how == "stopped" or self._cancelled:
            self.stopped.emit()
        elif how == "failed":
            self.failed.emit(result)
        else:
            self.succeeded.emit(result)
        self.ended.emit()


class Jobs(QObject):
    """The jobs of a window, run in order. `changed` whenever one starts or ends."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._running: list[Job] = []

    @property
    def running(self) -> tuple[Job, ...]:
        """Jobs that have not ended, oldest first."""
        return tuple(self._running)

    def start(self, title: str, work: Work) -> Job:
        """Queue work; connect to the job's signals right away (they arrive later, in this thread)."""
        job = Job(title, work, self)
        self._running.append(job)
        job.ended.connect(lambda: self._ended(job))
        self._pool.start(_Task(job))
        self.changed.emit()
        return job

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in self._running:
            job.cancel()

    def close(self) -> bool:
        """Stop everything and wait for the thread; True when no thread is left."""
        self.cancel_all()
        return self._pool.waitForDone(CLOSE_WAIT)

    def _ended(self, job: Job) -> None:
        if job in self._running:
            self._running.remove(job)
            job.deleteLater()
            self.changed.emit()


class _Task(QRunnable):
    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Called by the pool."""
        self._job.run()

"""Work in the background: jobs with progress and cancel, one at a time (`Jobs`); a thread for functions one after
another, such as writing files (`Worker`), also with results that come back to the window (`BackgroundQueue`); and jobs
in the window's worker process (`process_job`).

Signals and results come in the window's thread: a timer looks at what the working thread left in a plain `_Ticket` or
queue. That thread knows no Qt object, so none can be destroyed in it. What a job made before it failed or was stopped
stays.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from core.apart.talk import Progress, Task
from core.apart.work_process import WorkProcess
from core.functions.context import Cancelled

if TYPE_CHECKING:
    from core.mechanism import Mechanism, work_apart


WORKER_PATIENCE = 30.0
"""Seconds for which closing waits."""
Errand = Callable[[], object]


class Worker:
    """Starts its thread with the first work. `failed(error)` is called in that thread when work fails."""

    def __init__(self, name: str, failed: Callable[[Exception], object]) -> None:
        self._name, self._failed = name, failed
        self._waiting: dict[object, Errand] = {}
        self._free = threading.Condition()
        self._thread: threading.Thread | None = None
        self._over = self._at_work = False

    def do(self, work: Errand, key: object = None) -> None:
        """Queue work; queued work under the same key is replaced."""
        with self._free:
            key = object() if key is None else key
            self._waiting.pop(key, None)
            self._waiting[key] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._free.notify_all()

    @property
    def busy(self) -> bool:
        """True if work is left."""
        return bool(self._waiting) or self._at_work

    def wait(self, seconds: float = WORKER_PATIENCE) -> bool:
        """Wait until all work is done; returns False after a timeout."""
        with self._free:
            return self._free.wait_for(lambda: not self.busy, seconds)

    def drop(self) -> None:
        """Discard all queued work."""
        with self._free:
            self._waiting.clear()
            self._free.notify_all()

    def close(self) -> None:
        """Finish queued work and end the thread."""
        with self._free:
            self._over = True
            self._free.notify_all()
        if self._thread is not None:
            self._thread.join(WORKER_PATIENCE)

    def _work(self) -> None:
        while True:
            with self._free:
                self._at_work = False
                self._free.notify_all()
                self._free.wait_for(lambda: self._waiting or self._over)
                if not self._waiting:
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
                self._at_work = True
            try:
                work()
            except Exception as error:  # messages and defects are reported; the thread continues
                self._failed(error)


Work = Callable[[Callable[..., None], Callable[[], bool]], Any]
"""`work(progress, cancelled)`: progress(fraction 0 … 1, text) reports, progress.show(value) passes a partial result on;
cancelled() is True when the work should stop."""

LOOK_EVERY = 15
"""Milliseconds between two checks of the running job."""
CLOSE_WAIT = 10.0
"""Seconds for which closing waits for a job to stop."""

ENOUGH = 0.02
"""Progress from which the time left can be estimated."""


class _Ticket:
    """State of a job shared between the window and the job's thread."""

    def __init__(self, work: Work) -> None:
        self.work: Work | None = work
        self.cancelled = False
        self.fraction = 0.0
        self.text = ""
        self.first: tuple[float, float] | None = None
        """Time of the first progress, s, and its amount."""
        self.made: Any = None
        self.outcome: tuple[str, Any] | None = None

    def run(self) -> None:
        """Do the work (in the job's thread)."""
        assert self.work is not None
        try:
            if self.cancelled:
                raise Cancelled
            outcome = ("succeeded", self.work(self, lambda: self.cancelled))
        except Cancelled:
            outcome = ("stopped", None)
        except BaseException as error:  # told by whoever started the job
            outcome = ("failed", error)
        self.outcome = outcome

    def __call__(self, fraction: float, text: str = "") -> None:
        """Report progress of the work."""
        if fraction > 0.0 and self.first is None:
            self.first = time.monotonic(), fraction
        self.fraction, self.text = fraction, text

    def show(self, made: Any) -> None:
        """Pass a partial result on."""
        self.made = made


class Job(QObject):
    """One piece of work in the background. Emits exactly one of succeeded, failed and stopped, then ended."""

    progressed = Signal(float, str)
    grown = Signal(object)
    """Emitted with a partial result, if the work gives any."""
    succeeded = Signal(object)
    failed = Signal(object)
    stopped = Signal()
    ended = Signal()

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.started = time.monotonic()
        self.fraction, self.text = 0.0, ""
        self._ticket = _Ticket(work)
        self._grown: Any = None
        self._thread: threading.Thread | None = None

    def cancel(self) -> None:
        """Ask the work to stop; its result is dropped."""
        self._ticket.cancelled = True

    @property
    def cancelled(self) -> bool:
        """Return True if the job was asked to stop."""
        return self._ticket.cancelled

    @property
    def time_left(self) -> float | None:
        """Estimate the seconds left from the pace since the first progress (the time before is preparation); None while
        there is too little progress to estimate from."""
        since, before = self._ticket.first or (self.started, 0.0)
        if self.fraction - before <= ENOUGH:
            since, before = self.started, 0.0
        done = self.fraction - before
        return (time.monotonic() - since) * (1.0 - self.fraction) / done if done > ENOUGH else None

    def begin(self) -> None:
        """Start the thread."""
        if self._thread is None:
            self.started = time.monotonic()
            self._thread = threading.Thread(target=self._ticket.run, name=f"job {self.title}", daemon=True)
            self._thread.start()

    def look(self) -> bool:
        """Emit signals for new progress of the work; returns True once the work is over and its end was reported."""
        ticket = self._ticket
        if (ticket.fraction, ticket.text) != (self.fraction, self.text):
            self.fraction, self.text = ticket.fraction, ticket.text
            self.progressed.emit(self.fraction, self.text)
        outcome = ticket.outcome  # before what was made last
        if ticket.made is not self._grown and (not ticket.cancelled or outcome is not None):
            self._grown = ticket.made
            self.grown.emit(ticket.made)
        if outcome is None:
            return False
        if self._thread is not None:
            self._thread.join()
        how, result = outcome
        ticket.work = None
        if how == "stopped" or ticket.cancelled:
            self.stopped.emit()
        elif how == "failed":
            self.failed.emit(result)
        else:
            self.succeeded.emit(result)
        self.ended.emit()
        return True

    def wait(self, seconds: float) -> None:
        """Wait for the end of the thread, up to a number of seconds."""
        if self._thread is not None:
            self._thread.join(seconds)


class Jobs(QObject):
    """The jobs of a window, run one after another. Emits `changed` when a job starts or ends."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.process = WorkProcess()
        """For work over which the thread would hold the window, or a library might crash; begun when first needed."""
        self._jobs: list[Job] = []
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._look)

    @property
    def running(self) -> tuple[Job, ...]:
        """Return the jobs that have not ended, oldest first; the first one is running."""
        return tuple(self._jobs)

    def start(self, title: str, work: Work) -> Job:
        """Queue work and return its job; connect to the job's signals right away (they arrive later, in this
        thread)."""
        job = Job(title, work, self)
        self._jobs.append(job)
        self._jobs[0].begin()
        self._timer.start()
        self.changed.emit()
        return job

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in self._jobs:
            job.cancel()

    def finish(self, job: Job) -> None:
        """Stop a job and all jobs queued before it, and report its end now."""
        while job in self._jobs:
            first = self._jobs[0]
            first.cancel()
            first.begin()
            first.wait(CLOSE_WAIT)
            if not self._look():
                break

    def close(self) -> bool:
        """Stop all jobs and wait for the thread; returns True when none is left."""
        self.cancel_all()
        while self._jobs:
            job = self._jobs[0]
            job.begin()
            job.wait(CLOSE_WAIT)
            if not self._look():
                break
        self._timer.stop()
        self.process.close()
        return not self._jobs

    def _look(self) -> bool:
        """Check the running job; start the next one when it is over."""
        if not self._jobs or not self._jobs[0].look():
            return False
        self._jobs.pop(0).deleteLater()
        if self._jobs:
            self._jobs[0].begin()
        else:
            self._timer.stop()
        self.changed.emit()
        return True


QUEUE_CHECK_PERIOD = 5
"""Milliseconds between two checks for finished work."""
Take = Callable[[Any], object]


class BackgroundQueue(QObject):
    """A queue of functions with one thread, started at the first function."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done: queue.SimpleQueue[tuple[int, Any, Exception | None]] = queue.SimpleQueue()
        self._name = name
        self._worker: Worker | None = None
        self._take: dict[int, Take] = {}
        self._number = 0
        self._timer = QTimer(self, interval=QUEUE_CHECK_PERIOD)
        self._timer.timeout.connect(self._deliver_results)

    def do(self, work: Callable[[], Any], take: Take) -> None:
        """Run `work` in the thread after all queued functions, then call `take` with its result in the
        window's thread."""
        self._number += 1
        self._take[self._number] = take
        self._worker = self._worker or Worker(self._name, lambda error: None)
        self._worker.do(_queue_entry(self._number, work, self._done))
        self._timer.start()

    def wait(self) -> None:
        """Wait until all queued functions have run, without delivering their results."""
        if self._worker is not None:
            self._worker.wait()

    def close(self) -> None:
        """Drop queued functions and all results, wait for the running function, and end the thread; a later function
        starts a new one."""
        self._take.clear()
        self._timer.stop()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.drop()
            worker.close()

    def _deliver_results(self) -> None:
        """Deliver finished results. Raises the error that the work raised."""
        while self._take and not self._done.empty():
            number, found, error = self._done.get()
            take = self._take.pop(number, None)
            if not self._take:
                self._timer.stop()
            if take is not None and error is not None:
                raise error
            if take is not None:
                take(found)


def _queue_entry(
    number: int, work: Callable[[], Any], done: queue.SimpleQueue[tuple[int, Any, Exception | None]]
) -> Any:
    def errand() -> None:
        try:
            done.put((number, work(), None))
        except Exception as error:  # raised in the window's thread
            done.put((number, None, error))

    return errand


Asked = Callable[[Any], bool]


def process_job(
    jobs: Jobs,
    mech: Mechanism,
    work: Callable[[], work_apart.Work],
    asked: Asked = lambda cancelled: bool(cancelled()),
    patience: float = Task.patience,
) -> Callable[[Any, Callable[[], bool]], Any]:
    """Return a job that runs work(mech, line) in the worker process; the work may return None when it was stopped. work
    : is looked up in the job; asked : returns True if a job of its own kind should stop; patience : seconds after which
    a stopped job ends by itself."""

    def job(progress: Any, cancelled: Callable[[], bool]) -> Any:
        from core.mechanism.work_apart import Stopped, work_apart

        def hear(what: Any) -> None:
            progress(*what) if isinstance(what, Progress) else progress.show(what)

        try:
            found = work_apart(
                jobs.process, mech, work(), cancelled=lambda: asked(cancelled), hear=hear, patience=patience
            )
        except Stopped:
            raise Cancelled from None
        if found is None:
            raise Cancelled
        return found

    return job

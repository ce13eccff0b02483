"""Background work: jobs with progress and cancel, one at a time (`Jobs`); a thread that runs functions one after
another, such as writing files (`Worker`), also with results returned to the window (`BackgroundQueue`); and work in the
window's worker process (`build_process_work`).

Signals and results come in the window's thread: a timer looks at what the working thread left in a plain `_JobState` or
queue. That thread drops no function that it ran, and so destroys no Qt object that the function knows. What a job made
before it failed or was stopped stays.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from core.apart.talk import Progress, WorkerTask
from core.apart.work_process import WorkProcess
from core.functions.context import Cancelled

if TYPE_CHECKING:
    from core.mechanism import Mechanism, work_apart


WORKER_PATIENCE = 30.0
"""Time to wait for queued work at closing, s."""
Errand = Callable[[], object]


class Worker:
    """Thread that runs queued functions one after another, started with the first one. `failed(error)` is called in
    that thread when one fails."""

    def __init__(self, name: str, failed: Callable[[Exception], object]) -> None:
        self._name, self._failed = name, failed
        self._waiting: dict[object, Errand] = {}
        self._finished: list[Errand] = []
        """Functions that have run, until the thread that owns the worker drops them: their last reference may keep a Qt
        object alive, which must not be destroyed in another thread."""
        self._owner = threading.get_ident()
        self._free = threading.Condition()
        self._thread: threading.Thread | None = None
        self._over = self._at_work = False

    def submit(self, work: Errand, key: object = None) -> None:
        """Queue a function; it replaces a queued one with the same key."""
        self._drop_finished()
        with self._free:
            key = object() if key is None else key
            self._waiting.pop(key, None)
            self._waiting[key] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_queued, name=self._name, daemon=True)
                self._thread.start()
            self._free.notify_all()

    @property
    def is_busy(self) -> bool:
        """True if a function is queued or running."""
        return bool(self._waiting) or self._at_work

    def wait(self, seconds: float = WORKER_PATIENCE) -> bool:
        """Wait until all functions have run; returns False after a timeout."""
        with self._free:
            return self._free.wait_for(lambda: not self.is_busy, seconds)

    def discard_queued(self) -> None:
        """Discard all queued functions."""
        with self._free:
            self._waiting.clear()
            self._free.notify_all()

    def close(self) -> None:
        """Run the queued functions and end the thread."""
        with self._free:
            self._over = True
            self._free.notify_all()
        if self._thread is not None:
            self._thread.join(WORKER_PATIENCE)
        self._drop_finished()

    def _drop_finished(self) -> None:
        if threading.get_ident() == self._owner:
            del self._finished[:]

    def _run_queued(self) -> None:
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
            self._finished.append(work)
            del work


Work = Callable[[Callable[..., None], Callable[[], bool]], Any]
"""Function `work(progress, cancelled)`: progress(fraction 0 … 1, text) reports progress, progress.show(value) passes on
a partial result; cancelled() is True when the work should stop."""

LOOK_EVERY = 15
"""Interval between two checks of the running job, ms."""
CLOSE_WAIT = 10.0
"""Time to wait for a job to stop at closing, s."""

ENOUGH = 0.02
"""Least progress from which the time left is estimated."""


class _JobState:
    """State of a job, shared by the window and the job's thread."""

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
        """Run the work and store its outcome (in the job's thread)."""
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
        """Record the progress of the work."""
        if fraction > 0.0 and self.first is None:
            self.first = time.monotonic(), fraction
        self.fraction, self.text = fraction, text

    def show(self, partial_result: Any) -> None:
        """Pass a partial result on."""
        self.made = partial_result


class Job(QObject):
    """One piece of background work. Emits exactly one of succeeded, failed and stopped, then ended."""

    progressed = Signal(float, str)
    grown = Signal(object)
    """Emitted with each partial result of the work."""
    succeeded = Signal(object)
    failed = Signal(object)
    stopped = Signal()
    ended = Signal()

    def __init__(self, title: str, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.started = time.monotonic()
        self.fraction, self.text = 0.0, ""
        self._ticket = _JobState(work)
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
        """Estimate the seconds left from the pace since the first progress (preparation before that does not count);
        None if there is too little progress for an estimate."""
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

    def check_progress(self) -> bool:
        """Emit signals for new progress; returns True once the work is over and its end has been reported."""
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
        """Wait at most the given number of seconds for the thread to end."""
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
        self._timer.timeout.connect(self._check_running_job)

    @property
    def unfinished_jobs(self) -> tuple[Job, ...]:
        """Return the jobs that have not ended, oldest first; the first one is running."""
        return tuple(self._jobs)

    def start(self, title: str, work: Work) -> Job:
        """Queue work and return its job; connect to the job's signals at once (they are emitted later, in this
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

    def stop_up_to(self, job: Job) -> None:
        """Stop a job and all jobs queued before it, wait for their end, and report it."""
        while job in self._jobs:
            first = self._jobs[0]
            first.cancel()
            first.begin()
            first.wait(CLOSE_WAIT)
            if not self._check_running_job():
                break

    def close(self) -> bool:
        """Stop all jobs and wait for their thread; returns True when no job is left."""
        self.cancel_all()
        while self._jobs:
            job = self._jobs[0]
            job.begin()
            job.wait(CLOSE_WAIT)
            if not self._check_running_job():
                break
        self._timer.stop()
        self.process.close()
        return not self._jobs

    def _check_running_job(self) -> bool:
        """Check the running job, and start the next one when it is over; returns True if a job has ended."""
        if not self._jobs or not self._jobs[0].check_progress():
            return False
        self._jobs.pop(0).deleteLater()
        if self._jobs:
            self._jobs[0].begin()
        else:
            self._timer.stop()
        self.changed.emit()
        return True


QUEUE_CHECK_PERIOD = 5
"""Interval between two checks for finished work, ms."""
Take = Callable[[Any], object]


class BackgroundQueue(QObject):
    """Queue of functions run in one thread, which starts with the first function."""

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done: queue.SimpleQueue[tuple[int, Any, Exception | None]] = queue.SimpleQueue()
        self._name = name
        self._worker: Worker | None = None
        self._take: dict[int, Take] = {}
        self._number = 0
        self._timer = QTimer(self, interval=QUEUE_CHECK_PERIOD)
        self._timer.timeout.connect(self._deliver_results)

    def submit(self, work: Callable[[], Any], deliver: Take) -> None:
        """Run a function in the thread after all queued ones, then call `deliver` with its result in the window's
        thread."""
        self._number += 1
        self._take[self._number] = deliver
        self._worker = self._worker or Worker(self._name, lambda error: None)
        self._worker.submit(_queue_entry(self._number, work, self._done))
        self._timer.start()

    def wait(self) -> None:
        """Wait until all queued functions have run; their results are not delivered."""
        if self._worker is not None:
            self._worker.wait()

    def close(self) -> None:
        """Discard queued functions and all results, wait for the running function, and end the thread; a later function
        starts a new thread."""
        self._take.clear()
        self._timer.stop()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.discard_queued()
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
    def run_and_store() -> None:
        try:
            done.put((number, work(), None))
        except Exception as error:  # raised in the window's thread
            done.put((number, None, error))

    return run_and_store


Asked = Callable[[Any], bool]


def build_process_work(
    jobs: Jobs,
    mech: Mechanism,
    work: Callable[[], work_apart.Work],
    asked: Asked = lambda cancelled: bool(cancelled()),
    patience: float = WorkerTask.patience,
) -> Callable[[Any, Callable[[], bool]], Any]:
    """Return the work of a job that runs work(mech, line) in the worker process; it may return None if it was stopped.
    work : is called in the job to obtain the function; asked : returns True if a job of this kind should stop; patience
    : time after which a stopped job is ended, s."""

    def run_in_process(progress: Any, cancelled: Callable[[], bool]) -> Any:
        from core.mechanism.work_apart import WorkStoppedError, run_in_worker

        def on_partial_result(partial_result: Any) -> None:
            progress(*partial_result) if isinstance(partial_result, Progress) else progress.show(partial_result)

        try:
            found = run_in_worker(
                jobs.process,
                mech,
                work(),
                cancelled=lambda: asked(cancelled),
                hear=on_partial_result,
                patience=patience,
            )
        except WorkStoppedError:
            raise Cancelled from None
        if found is None:
            raise Cancelled
        return found

    return run_in_process

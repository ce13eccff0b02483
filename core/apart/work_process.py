"""Worker process that is started in advance and reused for further tasks; the caller survives its crashes and hangs."""

from __future__ import annotations

import contextlib
import math
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from core.apart.starting import Subprocess
from core.apart.talk import BROKEN, MessageKind, WorkerTask, receive_object, send_object

LOOK = 0.02
"""Seconds between two checks for stop and pause requests."""
ENDING = 1.0
"""Seconds to wait for a process to end after it has closed its output."""
STARTING = 120.0
"""Seconds within which a process must be ready."""
Hear = Callable[[Any], object]
Asked = Callable[[], bool]


class LostTask(NamedTuple):
    """A task whose process ended unexpectedly; how : description to follow "The solver"; prepared : True if the task
    was prepared; ready : True if the process had become ready"""

    how: str
    prepared: bool
    ready: bool


class AbandonedTask(NamedTuple):
    """A task that did not stop in time; its process was killed."""


class _RunningProcess:
    """A running process and its messages; None follows the last message."""

    def __init__(self) -> None:
        self.child = Subprocess(f"{__package__}.serving")
        self.ready = False
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._receive_messages, daemon=True).start()

    def _receive_messages(self) -> None:
        answers = self.child.process.stdout
        assert answers is not None
        try:
            with answers, contextlib.suppress(*BROKEN):
                while True:
                    self.said.put(receive_object(answers))
                    self.ready = True
        finally:
            self.said.put(None)

    def send_message(self, *content: Any) -> None:
        """Send a message; a lost process is noticed by the reader."""
        questions = self.child.process.stdin
        assert questions is not None
        with contextlib.suppress(*BROKEN):
            send_object(questions, content)


class WorkProcess:
    """A single worker process of low priority; tasks of several threads queue for it. silence : longest time, s,
    without a heartbeat, whatever the task allows"""

    def __init__(self, silence: float = math.inf) -> None:
        self.silence = silence
        self._running: _RunningProcess | None = None
        self._lock, self._task = threading.Lock(), threading.Lock()
        self._number = 0
        self._closed = False

    @property
    def process_id(self) -> int | None:
        """Process id of the running worker; None if there is none."""
        running = self._running
        return running.child.process.pid if running is not None and running.child.runs else None

    @property
    def is_busy(self) -> bool:
        """True while the process runs a task."""
        return self._task.locked()

    def begin(self) -> None:
        """Start the process before its first task. Raises OSError."""
        with self._lock:
            if not self._closed and self.process_id is None:
                if self._running is not None:
                    self._running.child.end()
                self._running = _RunningProcess()

    def start_in_background(self) -> None:
        """Start the process in a thread, before it is needed; a failure is reported by the first task."""

        def start_and_ignore_errors() -> None:
            with contextlib.suppress(OSError):
                self.begin()

        threading.Thread(target=start_and_ignore_errors, daemon=True).start()

    def close(self) -> None:
        """End the process for good; a running task is lost."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.child.end()

    def run_task(
        self, task: WorkerTask, cancelled: Asked, on_report: Hear = lambda _: None, paused: Asked = lambda: False
    ) -> Any:
        """Run a task and return its result, or `LostTask` or `AbandonedTask`. on_report : receives intermediate
        reports; cancelled, paused : polled, the first may block. Raises the task's exceptions, and OSError if no
        process can be started."""
        while not self._task.acquire(timeout=LOOK):
            if cancelled():
                return AbandonedTask()
        try:
            while True:
                self.begin()
                running = self._running
                if self._closed or running is None:
                    return AbandonedTask()
                was_ready = running.ready
                self._number += 1
                running.send_message(MessageKind.TASK, self._number, task)
                talk = _TaskExchange(self, running, self._number, task, on_report)
                found = talk.wait_for_result(cancelled, paused)
                if not (
                    isinstance(found, LostTask) and was_ready and talk.unheard and running.child.process.poll() == 0
                ):
                    return found  # else it had been idle, and ended by itself just when it was asked
        finally:
            self._task.release()


class _TaskExchange:
    """Exchange of messages about one task."""

    def __init__(
        self, owner: WorkProcess, running: _RunningProcess, number: int, task: WorkerTask, on_report: Hear
    ) -> None:
        self._owner, self._running, self._number, self._hear = owner, running, number, on_report
        self._limits = tuple(min(each, owner.silence) for each in (task.preparing, task.silence))
        self._patience = task.patience
        self._prepared = self._waits = False
        self._heard = time.monotonic()
        self.unheard = True
        """True until the process has reported something of the task."""
        self._stopped: float | None = None

    def wait_for_result(self, cancelled: Asked, paused: Asked) -> Any:
        """Wait for the end of the task and return its result."""
        while True:
            with contextlib.suppress(queue.Empty):
                said = self._running.said.get(timeout=LOOK)
                if said is None:
                    return self._end_lost_task()
                say, number, what = said
                self._heard = time.monotonic()
                self.unheard &= number != self._number
                if say is MessageKind.ERROR and number == self._number:
                    raise what
                if say is MessageKind.FOUND and number == self._number:
                    return what
                if say in (MessageKind.BEGUN, MessageKind.TOLD) and number == self._number:
                    self._prepared |= say is MessageKind.BEGUN
                    self._hear(what)
            self._forward_requests(cancelled, paused)
            now = time.monotonic()
            if self._stopped is not None and now - self._stopped > self._patience:
                self._running.child.end()
                with contextlib.suppress(OSError):
                    self._owner.begin()  # for the next task
                return AbandonedTask()
            limit = self._limits[self._prepared] if self._running.ready else min(self._limits[0], STARTING)
            if now - self._heard > limit:
                self._running.child.end()
                return self._end_lost_task(f"did not answer for {limit:g} s and was stopped")

    def _end_lost_task(self, description: str = "") -> LostTask:
        """Return the result for a process that has ended, or kill the process first."""
        child = self._running.child
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(ENDING)
        child.end()
        return LostTask(description or child.describe_end(), self._prepared, self._running.ready)

    def _forward_requests(self, cancelled: Asked, paused: Asked) -> None:
        """Forward stop and pause requests; time spent waiting for them does not count as silence of the worker."""
        if self._stopped is not None:
            return
        self._set_waiting(paused())
        began = time.monotonic()
        stop = cancelled()
        self._heard += time.monotonic() - began
        self._set_waiting(paused() and not stop)
        if stop:
            self._stopped = time.monotonic()
            self._running.send_message(MessageKind.STOP, self._number)

    def _set_waiting(self, is_waiting: bool) -> None:
        if is_waiting is not self._waits:
            self._waits = is_waiting
            self._running.send_message(MessageKind.PAUSE if is_waiting else MessageKind.GO_ON, self._number)

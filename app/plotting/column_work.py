"""Computes the columns of plots in a background thread, which keeps only the newest request for each curve."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable

from PySide6.QtCore import QObject, QTimer, Signal

Work = Callable[[], object]
LOOK = 10
"""Interval at which finished columns are collected from the thread, ms."""
CLOSE_WAIT = 10.0
"""Longest time that closing waits for a column being computed, s."""


class _TaskQueue:
    """Queue of requested tasks, and the thread that runs them. Does not use Qt."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._wanted: dict[Hashable, Work] = {}
        self._took: dict[Hashable, float] = {}
        """Seconds of the last work of each key: what is quick goes first."""
        self._thread: threading.Thread | None = None
        self._over = False
        self.busy = False
        self.done = 0
        self.defects: deque[BaseException] = deque()

    def put_task(self, key: Hashable, task: Work) -> None:
        """Add a task, replacing an earlier one with the same key."""
        with self._changed:
            self._wanted[key] = task
            self.busy = True
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="channels", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None) -> bool:
        """Wait until all tasks are done, or for a maximum time; return True if they are done."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, seconds)

    def close(self) -> None:
        """End the thread and drop tasks that have not begun."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_WAIT)

    def _run(self) -> None:
        while (taken := self._next_task()) is not None:
            key, work = taken
            began = time.perf_counter()
            try:
                work()
            except BaseException as error:  # told in the window
                self.defects.append(error)
            self._took[key] = time.perf_counter() - began
            with self._changed:
                self.done += 1
                self.busy = bool(self._wanted)
                self._changed.notify_all()

    def _next_task(self) -> tuple[Hashable, Work] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted or self._over)
            if self._over:
                self.busy = False
                return None
            key = min(self._wanted, key=lambda each: self._took.get(each, 0.0))
            return key, self._wanted.pop(key)


class BackgroundColumnWorker(QObject):
    """Runs the slow computations of `PlotColumns` in the background. Emits `came` when tasks have finished that were
    not yet acknowledged."""

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pile = _TaskQueue()
        self._noted = 0
        self.asked = 0
        """Number of requests."""
        self._timer = QTimer(self, interval=LOOK)
        self._timer.timeout.connect(self._collect_finished)

    def close(self) -> None:
        """Stop the worker permanently."""
        self._timer.stop()
        self._pile.close()

    @property
    def is_busy(self) -> bool:
        """True while tasks are unfinished."""
        return self._pile.busy

    @property
    def has_finished_work(self) -> bool:
        """True if tasks have finished since they were last acknowledged."""
        return self._pile.done != self._noted

    def acknowledge_finished(self) -> None:
        """Acknowledge the tasks finished so far."""
        self._noted = self._pile.done

    def request(self, key: Hashable, task: Work) -> None:
        """Request a task, replacing an earlier request with the same key."""
        self.asked += 1
        self._pile.put_task(key, task)
        if not self._timer.isActive():
            self._timer.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all tasks are done, or for a maximum time; return True if they are done."""
        return self._pile.wait(seconds)

    def _collect_finished(self) -> None:
        if not self.is_busy:
            self._timer.stop()
        if self.has_finished_work:
            self.came.emit()
        if self._pile.defects:
            raise self._pile.defects.popleft()

"""Background computation of plot columns: one thread that keeps only the newest request for each curve."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable

from PySide6.QtCore import QObject, QTimer, Signal

Work = Callable[[], object]
LOOK = 10
"""Interval at which finished work of the thread is collected, ms."""
CLOSE_WAIT = 10.0
"""Time that closing waits for a column being computed, s."""


class _WorkQueue:
    """Queue of requested work, and the thread that does it. Does not use Qt."""

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

    def put(self, key: Hashable, work: Work) -> None:
        """Add a task, replacing an older one with its key."""
        with self._changed:
            self._wanted[key] = work
            self.busy = True
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="channels", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None) -> bool:
        """Wait until all work is done, at most this long; return True if it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, seconds)

    def close(self) -> None:
        """End the thread and drop work that has not begun."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_WAIT)

    def _work(self) -> None:
        while (taken := self._take()) is not None:
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

    def _take(self) -> tuple[Hashable, Work] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted or self._over)
            if self._over:
                self.busy = False
                return None
            key = min(self._wanted, key=lambda each: self._took.get(each, 0.0))
            return key, self._wanted.pop(key)


class BackgroundColumns(QObject):
    """Background worker for the slow computations of a `Series`. Emits `came` when work is finished that was not yet
    acknowledged."""

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pile = _WorkQueue()
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
    def busy(self) -> bool:
        """True while work is unfinished."""
        return self._pile.busy

    @property
    def news(self) -> bool:
        """True if work was finished since the last `acknowledge`."""
        return self._pile.done != self._noted

    def acknowledge(self) -> None:
        """Acknowledge the work finished so far."""
        self._noted = self._pile.done

    def want(self, key: Hashable, work: Work) -> None:
        """Request work, replacing an earlier request with this key."""
        self.asked += 1
        self._pile.put(key, work)
        if not self._timer.isActive():
            self._timer.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all work is done, at most this long; return True if it is."""
        return self._pile.wait(seconds)

    def _collect_finished(self) -> None:
        if not self.busy:
            self._timer.stop()
        if self.news:
            self.came.emit()
        if self._pile.defects:
            raise self._pile.defects.popleft()

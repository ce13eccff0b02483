"""Long work that must run in the window's thread, divided into time slices. All owners share one slice per turn of the
event loop, so that several of them do not delay the window more than one would."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QCoreApplication, QObject, QTimer
from shiboken6 import isValid

SLICE = 0.01
"""Duration of a time slice, s."""
PAUSE = 1
"""Time between two slices, in which key and mouse events are handled, ms."""
Work = Callable[[float], bool]
"""Function `work(seconds)` that continues for about that time and returns True once nothing is left."""


class Slices(QObject):
    """Gives time slices to queued work in turn."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[QObject, Work]] = deque()
        self._timer = QTimer(self, interval=PAUSE, singleShot=True)
        self._timer.timeout.connect(self._run_next_slice)

    @property
    def has_work(self) -> bool:
        """True if work is left."""
        return bool(self._waiting)

    def add(self, owner: QObject, work: Work) -> None:
        """Queue work for an owner; it is dropped when the owner is deleted. Work that is already queued is not added
        again."""
        if (owner, work) not in self._waiting:
            self._waiting.append((owner, work))
        if not self._timer.isActive():
            self._timer.start()

    def drop(self, owner: QObject) -> None:
        """Remove an owner's work from the queue."""
        self._waiting = deque(each for each in self._waiting if each[0] is not owner)

    def _run_next_slice(self) -> None:
        until = time.perf_counter() + SLICE
        for _ in range(len(self._waiting)):
            owner, work = self._waiting.popleft()
            if isValid(owner) and not work(max(until - time.perf_counter(), 0.0)):
                self._waiting.append((owner, work))
            if time.perf_counter() > until:
                break
        if self._waiting:
            self._timer.start()


@cache
def shared_slices() -> Slices:
    """Return the time slices that the whole program shares."""
    return Slices(QCoreApplication.instance())

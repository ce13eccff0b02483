"""Run functions in a background thread one after another, and deliver their results in the window's thread.

The thread knows no Qt object: it neither tells Qt anything nor can it be the last that holds something of Qt's.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.background.worker import Worker

LOOK_EVERY = 5
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
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._deliver_results)

    def do(self, work: Callable[[], Any], take: Take) -> None:
        """Run `work` in the thread after all queued functions, then call `take` with its result in the
        window's thread."""
        self._number += 1
        self._take[self._number] = take
        self._worker = self._worker or Worker(self._name, lambda error: None)
        self._worker.do(_as_errand(self._number, work, self._done))
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


def _as_errand(number: int, work: Callable[[], Any], done: queue.SimpleQueue[tuple[int, Any, Exception | None]]) -> Any:
    def errand() -> None:
        try:
            done.put((number, work(), None))
        except Exception as error:  # raised in the window's thread
            done.put((number, None, error))

    return errand

"""A thread that runs functions one after another in the background, such as writing files. Independent of Qt."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE = 30.0
"""Seconds for which closing waits."""
Work = Callable[[], object]


class Worker:
    """Starts its thread with the first work. `failed(error)` is called in that thread when work fails."""

    def __init__(self, name: str, failed: Callable[[Exception], object]) -> None:
        self._name, self._failed = name, failed
        self._waiting: dict[object, Work] = {}
        self._free = threading.Condition()
        self._thread: threading.Thread | None = None
        self._over = self._at_work = False

    def do(self, work: Work, key: object = None) -> None:
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

    def wait(self, seconds: float = PATIENCE) -> bool:
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
            self._thread.join(PATIENCE)

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
            except Exception as error:  # messages and defects alike: told, the thread goes on
                self._failed(error)

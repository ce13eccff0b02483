"""A process that searches for designs, so that a library that crashes or hangs takes no window with it."""

from __future__ import annotations

import faulthandler
import os
import queue
import threading
import time
from typing import IO, Any

from core.design.search_tasks import Say
from core.design.searched_task import done
from core.piped_process import BROKEN, receive, send, serve

LIVES_EVERY = 0.2
"""Seconds between two signs of life while values are computed."""
STUCK = 120.0
"""Seconds of an iteration after which a process ends by itself, where nobody is there any more to end it."""
IDLE = 600.0
"""Seconds after which a process that nobody asks anything ends."""


class Line:
    """The line to whoever began the process; it ends with that."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions, self._answers = questions, answers
        self.tasks: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.number = 0
        """Of the task in hand."""
        self._stopped = 0
        """Number of the last task that shall stop."""
        self._go_on = threading.Event()
        self._told = 0.0
        self._nowhere = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                self._heard(*receive(self._questions))
        except BROKEN:
            pass
        finally:
            os._exit(0)  # whatever the search does just now

    def _heard(self, say: Say, number: int, what: Any = None) -> None:
        if say is Say.TASK:
            self.tasks.put((number, what))
        elif say is Say.STOP:
            self._stopped = number
        if say is Say.PAUSE:
            self._go_on.clear()
        else:
            self._go_on.set()

    def tell(self, say: Say, what: Any = None) -> None:
        """Say something."""
        try:
            send(self._answers, (say, self.number, what))
        except OSError:
            os._exit(0)

    def asked(self) -> bool:
        """Whether to stop; waits while paused, and gives a sign of life."""
        if not self._go_on.is_set():
            self.over()
            self._go_on.wait()
        now = time.monotonic()
        if now - self._told > LIVES_EVERY:
            self._told = now
            faulthandler.dump_traceback_later(STUCK, exit=True, file=self._nowhere)
            self.tell(Say.LIVES)
        return self._stopped >= self.number

    def over(self) -> None:
        """Nothing is computed now."""
        faulthandler.cancel_dump_traceback_later()


def main() -> None:
    """Until the other side ends, or asks nothing for long."""
    line = Line(*serve())
    line.tell(Say.READY)
    while True:
        try:
            line.number, task = line.tasks.get(timeout=IDLE)
        except queue.Empty:
            return
        try:
            line.tell(Say.FOUND, done(task, line.asked, line.tell))
        except Exception as error:
            line.tell(Say.ERROR, error)
        line.over()


if __name__ == "__main__":
    main()

"""Main program of a worker process, which keeps crashes and hangs of libraries away from the window."""

from __future__ import annotations

import faulthandler
import math
import os
import queue
import threading
import time
from typing import IO, Any

from core.apart import talk
from core.apart.talk import BROKEN, Say, Task, receive, send, serve

LIVES_EVERY = 0.2
"""Seconds between two heartbeats while values are computed."""
STUCK = 2.0
"""Multiple of a task's longest silence after which a worker ends itself, should the main program be gone."""
IDLE = 600.0
"""Seconds without a task after which a worker ends."""


class Line(talk.Line):
    """Connection from a worker to the process that started it; the worker ends when it closes."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions, self._answers = questions, answers
        self.tasks: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
        self._number = 0
        """Of the task in hand."""
        self._silence = math.inf
        self._stopped = 0
        """Number of the last task that shall stop."""
        self._go_on = threading.Event()
        self._told = 0.0
        self._nowhere = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
        threading.Thread(target=self._receive_messages, daemon=True).start()

    def _receive_messages(self) -> None:
        try:
            while True:
                self._handle_message(*receive(self._questions))
        except BROKEN:
            pass
        finally:
            os._exit(0)  # whatever is done just now

    def _handle_message(self, say: Say, number: int, what: Any = None) -> None:
        if say is Say.TASK:
            self.tasks.put((number, what))
        elif say is Say.STOP:
            self._stopped = number
        if say is Say.PAUSE:
            self._go_on.clear()
        else:
            self._go_on.set()

    def take(self, number: int, task: Task) -> None:
        """Run a task and send its result or error."""
        self._number, self._silence = number, task.silence
        try:
            self.say(Say.FOUND, task.done(self))
        except Exception as error:
            self.say(Say.ERROR, error)
        faulthandler.cancel_dump_traceback_later()

    def say(self, say: Say, what: Any = None) -> None:
        """Send a message."""
        try:
            send(self._answers, (say, self._number, what))
        except OSError:
            os._exit(0)

    def begun(self, what: Any) -> None:
        self.say(Say.BEGUN, what)

    def tell(self, what: Any) -> None:
        self.say(Say.TOLD, what)

    def asked(self) -> bool:
        if not self._go_on.is_set():
            faulthandler.cancel_dump_traceback_later()
            self._go_on.wait()
        now = time.monotonic()
        if now - self._told > LIVES_EVERY:
            self._told = now
            if self._silence < math.inf:
                faulthandler.dump_traceback_later(STUCK * self._silence, exit=True, file=self._nowhere)
            self.say(Say.LIVES)
        return self._stopped >= self._number


def main() -> None:
    """Serve tasks until the other side ends or sends none for a long time."""
    line = Line(*serve())
    line.say(Say.READY)
    while True:
        try:
            line.take(*line.tasks.get(timeout=IDLE))
        except queue.Empty:
            os._exit(0)  # Python's own end would wait for the thread that listens, and abort


if __name__ == "__main__":
    main()

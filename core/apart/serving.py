"""Main program of a worker process, which isolates the window from crashes and hangs of libraries."""

from __future__ import annotations

import faulthandler
import math
import os
import queue
import threading
import time
from typing import IO, Any

from core.apart import talk
from core.apart.talk import BROKEN, MessageKind, WorkerTask, open_worker_streams, receive_object, send_object

LIVES_EVERY = 0.2
"""Seconds between two heartbeats while values are computed."""
STUCK = 2.0
"""Multiple of a task's longest silence after which a worker ends itself, in case the main program no longer exists."""
IDLE = 600.0
"""Seconds without a task after which a worker ends."""


class WorkerConnection(talk.TaskConnection):
    """Connection from a worker to the process that started it; the worker ends when it closes."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions, self._answers = questions, answers
        self.tasks: queue.SimpleQueue[tuple[int, WorkerTask]] = queue.SimpleQueue()
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
                self._handle_message(*receive_object(self._questions))
        except BROKEN:
            pass
        finally:
            os._exit(0)  # whatever is done just now

    def _handle_message(self, kind: MessageKind, number: int, content: Any = None) -> None:
        if kind is MessageKind.TASK:
            self.tasks.put((number, content))
        elif kind is MessageKind.STOP:
            self._stopped = number
        if kind is MessageKind.PAUSE:
            self._go_on.clear()
        else:
            self._go_on.set()

    def run_task(self, number: int, task: WorkerTask) -> None:
        """Run a task and send its result or error."""
        self._number, self._silence = number, task.silence
        try:
            self.send_message(MessageKind.FOUND, task.execute(self))
        except Exception as error:
            self.send_message(MessageKind.ERROR, error)
        faulthandler.cancel_dump_traceback_later()

    def send_message(self, kind: MessageKind, content: Any = None) -> None:
        """Send a message."""
        try:
            send_object(self._answers, (kind, self._number, content))
        except OSError:
            os._exit(0)

    def report_prepared(self, details: Any) -> None:
        self.send_message(MessageKind.BEGUN, details)

    def report(self, content: Any) -> None:
        self.send_message(MessageKind.TOLD, content)

    def should_stop(self) -> bool:
        if not self._go_on.is_set():
            faulthandler.cancel_dump_traceback_later()
            self._go_on.wait()
        now = time.monotonic()
        if now - self._told > LIVES_EVERY:
            self._told = now
            if self._silence < math.inf:
                faulthandler.dump_traceback_later(STUCK * self._silence, exit=True, file=self._nowhere)
            self.send_message(MessageKind.LIVES)
        return self._stopped >= self._number


def main() -> None:
    """Serve tasks until the other side closes the connection, or sends no task for a long time."""
    line = WorkerConnection(*open_worker_streams())
    line.send_message(MessageKind.READY)
    while True:
        try:
            line.run_task(*line.tasks.get(timeout=IDLE))
        except queue.Empty:
            os._exit(0)  # Python's own end would wait for the thread that listens, and abort


if __name__ == "__main__":
    main()

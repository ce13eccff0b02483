"""A process that works beside the program, begun ahead and kept for the next task; it may crash or hang, and whoever
asks it goes on."""

from __future__ import annotations

import contextlib
import math
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from core.apart.piped_process import BROKEN, receive, send
from core.apart.starting import Child
from core.apart.talk import Say, Task

LOOK = 0.02
"""Seconds between two looks whether to stop or to wait."""
ENDING = 1.0
"""Seconds that a process whose answers have ended may take to end."""
STARTING = 120.0
"""Seconds in which a process must be ready."""
Hear = Callable[[Any], object]
Asked = Callable[[], bool]


class Lost(NamedTuple):
    """A task over which the process ended; how : in words that follow "The solver"; prepared : whether the task was;
    ready : whether the process ever was."""

    how: str
    prepared: bool
    ready: bool


class Left(NamedTuple):
    """A task that did not end soon after Stop; its process was ended."""


class _Running:
    """A process and what it says; None behind its last word."""

    def __init__(self) -> None:
        self.child = Child(f"{__package__}.serving")
        self.ready = False
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        answers = self.child.process.stdout
        assert answers is not None
        try:
            while True:
                self.said.put(receive(answers))
                self.ready = True
        except BROKEN:
            pass
        finally:
            self.said.put(None)

    def say(self, *what: Any) -> None:
        """Tell it something; that it is gone is found by whoever listens."""
        questions = self.child.process.stdin
        assert questions is not None
        with contextlib.suppress(*BROKEN):
            send(questions, what)


class WorkProcess:
    """One process at a time, of low priority; tasks of several threads wait for each other. silence : s without a sign
    of life at most, whatever the task allows."""

    def __init__(self, silence: float = math.inf) -> None:
        self.silence = silence
        self._running: _Running | None = None
        self._lock, self._task = threading.Lock(), threading.Lock()
        self._number = 0
        self._closed = False

    @property
    def id(self) -> int | None:
        """Of the process that lives."""
        running = self._running
        return running.child.process.pid if running is not None and running.child.runs else None

    @property
    def busy(self) -> bool:
        """Whether it has a task."""
        return self._task.locked()

    def begin(self) -> None:
        """Have it ready ahead. Raises OSError."""
        with self._lock:
            if not self._closed and self.id is None:
                if self._running is not None:
                    self._running.child.end()
                self._running = _Running()

    def begin_beside(self) -> None:
        """The same in a thread, for somebody who may soon ask; where it cannot begin, the task will say so."""

        def work() -> None:
            with contextlib.suppress(OSError):
                self.begin()

        threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        """End it, for good; a task that goes on is lost."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.child.end()

    def ask(self, task: Task, cancelled: Asked, hear: Hear = lambda _: None, paused: Asked = lambda: False) -> Any:
        """What comes of a task, `Lost` or `Left`. hear : hears what it tells meanwhile; cancelled, paused : asked again
        and again, the first may wait. Raises what the task raises, and OSError where no process can begin."""
        while not self._task.acquire(timeout=LOOK):
            if cancelled():
                return Left()
        try:
            while True:
                self.begin()
                running = self._running
                if self._closed or running is None:
                    return Left()
                was_ready = running.ready
                self._number += 1
                running.say(Say.TASK, self._number, task)
                talk = _Conversation(self, running, self._number, task, hear)
                found = talk.outcome(cancelled, paused)
                if not (isinstance(found, Lost) and was_ready and talk.unheard and running.child.process.poll() == 0):
                    return found  # else it had been idle, and ended by itself just when it was asked
        finally:
            self._task.release()


class _Conversation:
    """About one task."""

    def __init__(self, owner: WorkProcess, running: _Running, number: int, task: Task, hear: Hear) -> None:
        self._owner, self._running, self._number, self._hear = owner, running, number, hear
        self._limits = tuple(min(each, owner.silence) for each in (task.preparing, task.silence))
        self._patience = task.patience
        self._prepared = self._waits = False
        self._heard = time.monotonic()
        self.unheard = True
        """Whether the process has said nothing of the task."""
        self._stopped: float | None = None

    def outcome(self, cancelled: Asked, paused: Asked) -> Any:
        """Until it is over."""
        while True:
            with contextlib.suppress(queue.Empty):
                said = self._running.said.get(timeout=LOOK)
                if said is None:
                    return self._lost()
                say, number, what = said
                self._heard = time.monotonic()
                self.unheard &= number != self._number
                if say is Say.ERROR and number == self._number:
                    raise what
                if say is Say.FOUND and number == self._number:
                    return what
                if say in (Say.BEGUN, Say.TOLD) and number == self._number:
                    self._prepared |= say is Say.BEGUN
                    self._hear(what)
            self._ask(cancelled, paused)
            now = time.monotonic()
            if self._stopped is not None and now - self._stopped > self._patience:
                self._running.child.end()
                with contextlib.suppress(OSError):
                    self._owner.begin()  # for the next task
                return Left()
            limit = self._limits[self._prepared] if self._running.ready else min(self._limits[0], STARTING)
            if now - self._heard > limit:
                self._running.child.end()
                return self._lost(f"did not answer for {limit:g} s and was ended")

    def _lost(self, how: str = "") -> Lost:
        """The process has ended, or is ended."""
        child = self._running.child
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(ENDING)
        child.end()
        return Lost(how or child.ended(), self._prepared, self._running.ready)

    def _ask(self, cancelled: Asked, paused: Asked) -> None:
        """Whether to stop or to wait; time in which whoever is asked waits does not count."""
        if self._stopped is not None:
            return
        self._turn(paused())
        began = time.monotonic()
        stop = cancelled()
        self._heard += time.monotonic() - began
        self._turn(paused() and not stop)
        if stop:
            self._stopped = time.monotonic()
            self._running.say(Say.STOP, self._number)

    def _turn(self, waits: bool) -> None:
        if waits is not self._waits:
            self._waits = waits
            self._running.say(Say.PAUSE if waits else Say.GO_ON, self._number)

"""A process for searches, begun ahead and kept for the next one; it may crash or hang, and whoever asks it goes on."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from core.design.search_tasks import Say
from core.piped_process import BROKEN, begin, receive, send

SILENCE = 60.0
"""Seconds of an iteration: without a sign of life for so long a process is ended."""
PREPARING = 300.0
"""The same before a search is prepared, while machine code is made."""
PATIENCE = 0.2
"""Seconds for which a stopped search is waited for."""
LOOK = 0.02
"""Seconds between two looks whether to stop or to wait."""


class Lost(NamedTuple):
    """A search whose process ended; words : a sentence; prepared : whether it had begun."""

    words: str
    prepared: bool


class Left(NamedTuple):
    """A search that did not end soon after Stop, whose process was ended."""


class _Running:
    """A process and what it says; None behind its last word."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] = begin(f"{__package__}.search_worker")
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(*BROKEN):
            while True:
                self.said.put(receive(self.process.stdout))
        self.said.put(None)

    def say(self, *what: Any) -> None:
        """Tell it something; that it is gone is found by whoever listens."""
        assert self.process.stdin is not None
        with contextlib.suppress(*BROKEN):
            send(self.process.stdin, what)

    def end(self) -> int:
        """End it now; how it ended: minus the signal, or its exit code."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        with contextlib.suppress(*BROKEN):
            assert self.process.stdin is not None
            self.process.stdin.close()
        return code


class SearchProcess:
    """One process at a time, of low priority, asked by one thread. silence, preparing : s, as above."""

    def __init__(self, silence: float = SILENCE, preparing: float = PREPARING) -> None:
        self.silence, self.preparing = silence, preparing
        self._running: _Running | None = None
        self._lock = threading.Lock()
        self._number = 0
        self._closed = False

    @property
    def id(self) -> int | None:
        """Of the process that lives."""
        running = self._running
        return running.process.pid if running is not None and running.process.poll() is None else None

    def begin(self) -> None:
        """Have it ready ahead. Raises OSError."""
        with self._lock:
            if not self._closed and self.id is None:
                if self._running is not None:
                    self._running.end()
                self._running = _Running()

    def close(self) -> None:
        """End it, for good; a search that goes on is lost."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.end()

    def ask(
        self,
        task: Any,
        cancelled: Callable[[], bool],
        paused: Callable[[], bool],
        hear: Callable[[Say, Any], None],
    ) -> Any:
        """What comes of a task, `Lost` or `Left`. hear(say, what) : hears what it tells meanwhile; cancelled, paused :
        asked again and again, the first may wait. Raises what the search raises, and OSError where none can begin."""
        self.begin()
        running = self._running
        if self._closed or running is None:
            return Left()
        self._number += 1
        running.say(Say.TASK, self._number, task)
        return _Conversation(self, running, self._number, hear).outcome(cancelled, paused)


class _Conversation:
    """About one task."""

    def __init__(self, owner: SearchProcess, running: _Running, number: int, hear: Callable[[Say, Any], None]) -> None:
        self._owner, self._running, self._number, self._hear = owner, running, number, hear
        self._prepared = self._waits = False
        self._heard = time.monotonic()
        self._stopped: float | None = None

    def outcome(self, cancelled: Callable[[], bool], paused: Callable[[], bool]) -> Any:
        """Until it is over."""
        while True:
            with contextlib.suppress(queue.Empty):
                said = self._running.said.get(timeout=LOOK)
                if said is None:
                    return Lost(_ended(self._running.end()), self._prepared)
                say, number, what = said
                self._heard = time.monotonic()
                if say is Say.ERROR and number == self._number:
                    raise what
                if say is Say.FOUND and number == self._number:
                    return what
                if number == self._number:
                    self._prepared |= say is Say.BEGUN
                    self._hear(say, what)
            self._ask(cancelled, paused)
            now = time.monotonic()
            if self._stopped is not None and now - self._stopped > PATIENCE:
                self._running.end()
                with contextlib.suppress(OSError):
                    self._owner.begin()  # for the next search
                return Left()
            limit = self._owner.silence if self._prepared else self._owner.preparing
            if now - self._heard > limit:
                self._running.end()
                return Lost(f"The solver did not answer for {limit:g} s and was ended.", self._prepared)

    def _ask(self, cancelled: Callable[[], bool], paused: Callable[[], bool]) -> None:
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


def _ended(code: int) -> str:
    """How a process ended, in a sentence."""
    return f"The solver ended unexpectedly ({f'signal {-code}' if code < 0 else f'exit code {code}'})."

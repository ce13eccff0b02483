"""One thread that compiles what is asked for, in the background."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]
PAUSE = 0.03
"""Seconds before the first job: short scripts end without having compiled anything."""
FOR_EVER = threading.TIMEOUT_MAX
IDLE = 0.2
"""Seconds without work after which the thread ends."""

_jobs: queue.Queue[Job] = queue.Queue()
_allowed = threading.Event()
_patience = PAUSE
_stopping = threading.Event()
_start = threading.Lock()
_worker: threading.Thread | None = None


class Stopped(Exception):
    """The program ends: what was asked for is dropped."""


def go_on() -> None:
    """Called by long jobs again and again. Raises Stopped when the program ends."""
    if _stopping.is_set():
        raise Stopped


def submit(job: Job) -> None:
    """Run the job in the background, after those before it."""
    global _worker
    with _start:
        _jobs.put(job)
        if _worker is None:
            _worker = threading.Thread(target=_work, name="kinetostat-compiler", daemon=True)
            _worker.start()


def busy() -> bool:
    """Whether something waits to be compiled, or is being compiled."""
    return _worker is not None


def hold(seconds: float = FOR_EVER) -> None:
    """Begin to compile so long after something was first asked for, or when told to `resume`: something else is awaited
    before, or nothing is evaluated often, and the interpreter serves."""
    global _patience
    _patience = seconds


def resume() -> None:
    """Compile what was asked for, and from now on at once."""
    hold(PAUSE)
    _allowed.set()


def _work() -> None:
    global _worker
    _allowed.wait(_patience)
    _allowed.clear()
    while not _stopping.is_set():
        try:
            job = _jobs.get(timeout=IDLE)
        except queue.Empty:
            with _start:
                if _jobs.empty():
                    _worker = None
                    return
            continue
        if not _stopping.is_set():
            job()


@atexit.register
def _stop() -> None:
    """Let the job in hand end (LLVM must not be left in mid-work), drop the others."""
    _stopping.set()
    _allowed.set()
    with _start:
        worker = _worker
    if worker is not None:
        worker.join()

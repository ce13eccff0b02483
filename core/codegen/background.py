"""Background thread that compiles functions."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]
PAUSE = 0.03
"""Delay (s) before the first job, so that short scripts end without compiling anything."""
FOR_EVER = threading.TIMEOUT_MAX
IDLE = 0.2
"""Time (s) without work after which the thread ends."""

_jobs: queue.Queue[Job] = queue.Queue()
_allowed = threading.Event()
_patience = PAUSE
_stopping = threading.Event()
_start = threading.Lock()
_worker: threading.Thread | None = None


class CompilationStopped(Exception):
    """Raised in a compilation job when the program is ending."""


def raise_if_stopping() -> None:
    """Raise Stopped if the program is ending; long jobs call this regularly."""
    if _stopping.is_set():
        raise CompilationStopped


def submit_job(job: Job) -> None:
    """Queue a job for the background thread."""
    global _worker
    with _start:
        _jobs.put(job)
        if _worker is None:
            _worker = threading.Thread(target=_run_jobs, name="kinetostat-compiler", daemon=True)
            _worker.start()


def is_busy() -> bool:
    """Return True while jobs are waiting or running."""
    return _worker is not None


def delay_compilation(seconds: float = FOR_EVER) -> None:
    """Delay the next compilation by a time; until then, the interpreter evaluates functions. `resume` ends the delay
    early."""
    global _patience
    _patience = seconds


def resume_compilation() -> None:
    """Start waiting compilations now, and later ones without delay."""
    delay_compilation(PAUSE)
    _allowed.set()


def _run_jobs() -> None:
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
def _stop_at_exit() -> None:
    """Wait for the running job (LLVM must not be interrupted) and drop the others."""
    _stopping.set()
    _allowed.set()
    with _start:
        worker = _worker
    if worker is not None:
        worker.join()

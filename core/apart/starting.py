"""The one place that starts other processes: of this program, and programs of the system.

Processes of this program import from where the program and its libraries lie, never from the folder that the user is in
or that a model lies in: `python -P`, the program's own folder as working folder, and on the path only absolute folders.
What a process writes to standard error is kept: its last words say why it ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import site
import subprocess
import sys
import sysconfig
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[__package__.count(".") + 1]
"""The folder of the packages, whatever the outermost is called."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LIBRARIES = ("numpy", "scipy", "casadi", "llvmlite", "yaml", "h5py", "vtkmodules")
"""Libraries whose folders are passed on where they are not the usual ones."""
LINES, LETTERS = 20, 300
"""Last lines of standard error that are kept; letters of the last one that a message has."""
LOOK = 0.1
"""Seconds between two looks at whether to go on."""
CLOSING = 1.0
"""Seconds that the last words of a process that has ended may take."""


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of the program."""
    personal = [] if site.ENABLE_USER_SITE else ["-s"]
    return [sys.executable, "-P", *personal, "-m", module, *arguments]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process of the program."""
    path = {"PYTHONPATH": os.pathsep.join(folders()), "PYTHONSAFEPATH": "1"}
    return {**os.environ, **ONE_THREAD, **path, **(more or {})}


def folders() -> list[str]:
    """Absolute folders that a process of the program needs on its path beyond those of its Python: the program's, those
    that the user has put on PYTHONPATH, and those in which libraries lie that are installed elsewhere."""
    given = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    loaded = [getattr(sys.modules.get(name), "__file__", None) for name in LIBRARIES]
    wanted = [str(ROOT), *filter(os.path.isabs, given.split(os.pathsep))]
    wanted += [os.path.dirname(os.path.dirname(file)) for file in loaded if file]
    usual = {os.path.realpath(each) for each in _usual()}
    return [each for each in dict.fromkeys(wanted) if os.path.realpath(each) not in usual]


def _usual() -> list[str]:
    """Folders that any Python here has on its path."""
    found = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    with contextlib.suppress(AttributeError):  # of some makers of environments
        found += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return found


def program(name: str) -> str | None:
    """The path of a program of the system, sought in the absolute folders of PATH alone; None if there is none."""
    endings = os.environ.get("PATHEXT", ".EXE").split(os.pathsep) if os.name == "nt" else [""]
    for folder in filter(os.path.isabs, os.get_exec_path()):
        for ending in endings:
            found = os.path.join(folder, name + ending)
            if os.path.isfile(found) and os.access(found, os.X_OK):
                return found
    return None


class Child:
    """A process of the program that is spoken to. Raises OSError where it cannot begin."""

    def __init__(self, module: str, *arguments: str, listens: bool = True) -> None:
        """module : what it runs; listens : whether it has an input"""
        pipe = subprocess.PIPE
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            python(module, *arguments),
            cwd=ROOT,
            env=environment(),
            stdin=pipe if listens else subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        self._lines: deque[str] = deque(maxlen=LINES)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while line := self.process.stderr.readline(10 * LETTERS):
                if words := line.decode("utf-8", "replace").strip():
                    self._lines.append(words)

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    @property
    def last_words(self) -> str:
        """What it wrote last to standard error; '' if nothing."""
        if not self.runs:
            self._reader.join(CLOSING)
        return self._lines[-1][:LETTERS].rstrip(".") if self._lines else ""

    def end(self) -> int:
        """End it now; how it ended: minus the signal, or its exit code."""
        if self.runs:
            self.process.kill()
        code = self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        return code

    def ended(self) -> str:
        """How it ended, in words that follow its name."""
        code, words = self.process.poll(), self.last_words
        how = "" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"ended unexpectedly ({how}{f': {words}' if words else ''})"


class Finished(NamedTuple):
    """A process that has ended: its exit code, what it wrote to standard output and to standard error."""

    code: int
    output: bytes
    errors: bytes

    @property
    def last_words(self) -> str:
        """The last line of standard error; '' if there is none."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:LETTERS].rstrip(".") if lines else ""


def finished(
    command: Sequence[str],
    folder: str | os.PathLike[str] = ROOT,
    *,
    limit: float,
    text: bytes = b"",
    own: Mapping[str, str] | None = None,
    look: Callable[[], object] = lambda: None,
) -> Finished:
    """Run a command to its end. It has a group of its own: whatever way this ends, nothing that it started is left.

    limit : s; text : its input; own : its environment, without it that of this process; look : called again and again,
    what it raises ends the command. Raises OSError where it cannot begin, TimeoutError after the limit.
    """
    pipe, until = subprocess.PIPE, time.monotonic() + limit
    with subprocess.Popen(
        command, cwd=folder, env=own, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        given: bytes | None = text
        try:
            while True:
                try:
                    output, errors = process.communicate(given, max(0.0, min(LOOK, until - time.monotonic())))
                    return Finished(process.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    given = None
                look()
                if time.monotonic() > until:
                    raise TimeoutError(f"it has not ended after {limit:g} s")
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that still runs, or whose output somebody still has, and all of its group."""
    if process.returncode is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()

"""The only place where subprocesses are started: worker processes of this program, and system programs.

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
"""Folder that contains the packages."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LIBRARIES = ("numpy", "scipy", "casadi", "llvmlite", "yaml", "h5py", "vtkmodules")
"""Libraries whose folders are passed on if they are installed in unusual places."""
LINES, LETTERS = 20, 300
"""Number of last lines of standard error that are kept, and of characters of the last one in a message."""
LOOK = 0.1
"""Seconds between two polls for cancellation."""
CLOSING = 1.0
"""Seconds to wait for the last output of a process that has ended."""


def module_command(module: str, *arguments: str) -> list[str]:
    """Command line that runs a module of the program."""
    personal = [] if site.ENABLE_USER_SITE else ["-s"]
    return [sys.executable, "-P", *personal, "-m", module, *arguments]


def process_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment variables for a subprocess of the program."""
    path = {"PYTHONPATH": os.pathsep.join(import_folders()), "PYTHONSAFEPATH": "1"}
    return {**os.environ, **ONE_THREAD, **path, **(extra or {})}


def import_folders() -> list[str]:
    """Absolute folders that a subprocess needs on its import path in addition to those of its Python: the program's,
    the user's PYTHONPATH, and those of libraries installed elsewhere."""
    given = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    loaded = [getattr(sys.modules.get(name), "__file__", None) for name in LIBRARIES]
    wanted = [str(ROOT), *filter(os.path.isabs, given.split(os.pathsep))]
    wanted += [os.path.dirname(os.path.dirname(file)) for file in loaded if file]
    usual = {os.path.realpath(each) for each in _standard_import_folders()}
    return [each for each in dict.fromkeys(wanted) if os.path.realpath(each) not in usual]


def _standard_import_folders() -> list[str]:
    """Folders that any Python here has on its import path."""
    found = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    with contextlib.suppress(AttributeError):  # of some makers of environments
        found += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return found


def find_program(name: str) -> str | None:
    """Find the path of a system program, searching only the absolute folders of PATH; None if it is not found."""
    endings = os.environ.get("PATHEXT", ".EXE").split(os.pathsep) if os.name == "nt" else [""]
    for folder in filter(os.path.isabs, os.get_exec_path()):
        for ending in endings:
            found = os.path.join(folder, name + ending)
            if os.path.isfile(found) and os.access(found, os.X_OK):
                return found
    return None


class Subprocess:
    """A subprocess of the program, with pipes. Raises OSError if it cannot start."""

    def __init__(self, module: str, *arguments: str, listens: bool = True) -> None:
        """module : module to run; listens : True to open its standard input"""
        pipe = subprocess.PIPE
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            module_command(module, *arguments),
            cwd=ROOT,
            env=process_environment(),
            stdin=pipe if listens else subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )
        self._lines: deque[str] = deque(maxlen=LINES)
        self._reader = threading.Thread(target=self._read_error_output, daemon=True)
        self._reader.start()

    def _read_error_output(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr, contextlib.suppress(OSError, ValueError):
            while line := self.process.stderr.readline(10 * LETTERS):
                if words := line.decode("utf-8", "replace").strip():
                    self._lines.append(words)

    @property
    def runs(self) -> bool:
        """True if the process has not ended."""
        return self.process.poll() is None

    @property
    def last_error_line(self) -> str:
        """Last line the process wrote to standard error; '' if there is none."""
        if not self.runs:
            self._reader.join(CLOSING)
        return self._lines[-1][:LETTERS].rstrip(".") if self._lines else ""

    def end(self) -> int:
        """Kill the process; return its exit code, or minus the signal that ended it."""
        if self.runs:
            self.process.kill()
        code = self.process.wait()
        with contextlib.suppress(OSError, ValueError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        return code

    def describe_end(self) -> str:
        """Return a description of how the process ended, to follow its name in a sentence."""
        code, words = self.process.poll(), self.last_error_line
        how = "" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"ended unexpectedly ({how}{f': {words}' if words else ''})"


class ProcessResult(NamedTuple):
    """Result of a finished process: exit code, standard output and standard error."""

    code: int
    output: bytes
    errors: bytes

    @property
    def last_error_line(self) -> str:
        """Last line of standard error; '' if there is none."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:LETTERS].rstrip(".") if lines else ""


def run_command(
    command: Sequence[str],
    folder: str | os.PathLike[str] = ROOT,
    *,
    timeout: float,
    standard_input: bytes = b"",
    environment_variables: Mapping[str, str] | None = None,
    poll: Callable[[], object] = lambda: None,
) -> ProcessResult:
    """Run a command to its end, in a process group of its own, so that none of its child processes survives.

    timeout : s; standard_input : bytes; environment_variables : default those of this one; poll : called repeatedly,
    its exceptions end the command. Raises OSError if the command cannot start, TimeoutError after the timeout.
    """
    pipe, until = subprocess.PIPE, time.monotonic() + timeout
    with subprocess.Popen(
        command, cwd=folder, env=environment_variables, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        given: bytes | None = standard_input
        try:
            while True:
                try:
                    output, errors = process.communicate(given, max(0.0, min(LOOK, until - time.monotonic())))
                    return ProcessResult(process.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    given = None
                poll()
                if time.monotonic() > until:
                    raise TimeoutError(f"the process did not finish within {timeout:g} s")
        finally:
            _kill_process_group(process)


def _kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that still runs, or whose output is still open, with its whole group."""
    if process.returncode is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()

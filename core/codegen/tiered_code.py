"""Tiered compilation: IR text is compiled quickly at first, and replaced by optimised code with identical results.

The quick code's functions are called through variables that hold their addresses. A process of low priority compiles
the optimised code; then the variables get its addresses, so that callers, even loops in progress, go on with that.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import re
import sys
import threading
import time
import weakref
from collections import deque
from typing import Protocol

from core.apart.talk import TaskConnection, WorkerTask
from core.apart.work_process import WorkProcess
from core.codegen.object_code import QUICK, LoadedLibrary, is_cached, is_optimisation_skipped, object_code
from core.later import dataclass

DELAY = 1.0
"""Seconds before the process is started, so that short scripts and first runs have the processors to themselves."""
IDLE = 5.0
"""Seconds without work after which the process is ended."""
LOOK = 0.05
"""Seconds between two checks for work."""
_EXPORTED = re.compile(r"^define (?P<type>i64|ptr) @(?P<name>\w+)\((?P<parameters>[^)]*)\) nounwind {$", re.MULTILINE)


class Improvable(Protocol):
    """Protocol of what gets optimised code later."""

    @property
    def ir(self) -> str:
        """Return the IR text."""
        ...

    @property
    def is_optimised(self) -> bool:
        """Return True if no better code will follow."""
        ...

    def optimise(self) -> None:
        """Compile the optimised code now, in this thread, unless that is done."""
        ...

    def install(self, data: bytes) -> None:
        """Use optimised object code."""
        ...


class TieredLibrary(LoadedLibrary):
    """Loaded functions of IR text, at first in code that was compiled quickly if there is no better one in the
    cache."""

    def __init__(self, ir: str) -> None:
        self.ir = ir
        self._names: list[str] = []
        self._optimised: list[LoadedLibrary] = []
        if is_optimisation_skipped() or getattr(sys, "frozen", False) or is_cached(ir):
            super().__init__(ir)
        else:
            text, self._names = _call_through_variables(ir)
            super().__init__(text, level=QUICK)
            OPTIMISER.submit(self)

    @property
    def is_optimised(self) -> bool:
        """Return True if no better code will follow."""
        return bool(self._optimised) or not self._names

    def optimise(self) -> None:
        """Compile the optimised code now, in this thread, unless that is done."""
        if not self.is_optimised:
            self.install(object_code(self.ir))

    def install(self, data: bytes) -> None:
        """Replace the quickly compiled functions by those of optimised object code."""
        library = LoadedLibrary.from_object_code(data)
        for name in self._names:
            place = self.variable_address(f"{name}.code")
            ctypes.c_uint64.from_address(place).value = library.address(name)
        self._optimised.append(library)  # kept: functions may be in use


def _call_through_variables(ir: str) -> tuple[str, list[str]]:
    """Return IR whose exported functions are called through variables `name.code`, and the names of the functions."""
    names: list[str] = []
    jumps: list[str] = []

    def rename(match: re.Match[str]) -> str:
        name, result, parameters = match["name"], match["type"], match["parameters"]
        names.append(name)
        jumps.append(
            f"@{name}.code = global ptr @{name}.first\n"
            f"define {result} @{name}({parameters}) nounwind {{\n"
            f"  %code.now = load atomic ptr, ptr @{name}.code monotonic, align 8\n"
            f"  %result.now = musttail call {result} %code.now({parameters})\n  ret {result} %result.now\n}}"
        )
        return match[0].replace(f"@{name}(", f"@{name}.first(", 1)

    text = _EXPORTED.sub(rename, ir)
    return "\n".join([text, *jumps]), names


@dataclass(frozen=True)
class CompilationTask(WorkerTask):
    """Compilation of IR text to optimised object code."""

    ir: str

    def execute(self, connection: TaskConnection) -> bytes:
        return object_code(self.ir)


class BackgroundOptimiser:
    """Compiles optimised code in a process of low priority, one library after the other."""

    def __init__(self) -> None:
        self._once = threading.Lock()
        self._waiting: deque[weakref.ref[Improvable]] = deque()
        self._thread: threading.Thread | None = None
        self._process: WorkProcess | None = None
        atexit.register(self.close)
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Return True while libraries are waiting for optimised code."""
        return self._thread is not None and self._thread.is_alive() and any(each() for each in list(self._waiting))

    def submit(self, library: Improvable) -> None:
        """Queue a library, which need not live until its turn comes."""
        with self._once:
            self._waiting.append(weakref.ref(library))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="kinetostat-optimiser", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        if self._process is not None:
            self._process.close()

    def _run(self) -> None:
        """Optimise what is waiting until nothing has come for a while."""
        time.sleep(DELAY)
        process = self._process = WorkProcess()
        idle_since = time.monotonic()
        while not self._is_closed:
            library = self._waiting[0]() if self._waiting else None
            if library is not None:
                self._optimise(library, process)
                idle_since = time.monotonic()
            del library
            with self._once:
                if self._waiting:
                    self._waiting.popleft()
                    continue
                if time.monotonic() - idle_since > IDLE:
                    self._thread = None
                    break
            time.sleep(LOOK)
        process.close()

    def _optimise(self, library: Improvable, process: WorkProcess) -> None:
        """Give a library its optimised code."""
        if library.is_optimised:
            return
        with contextlib.suppress(OSError, RuntimeError):  # without a process, the present code goes on serving
            if is_cached(library.ir):
                library.optimise()
                return
            found = process.run_task(CompilationTask(library.ir), lambda: self._is_closed or library.is_optimised)
            if isinstance(found, bytes) and not library.is_optimised:
                library.install(found)


OPTIMISER = BackgroundOptimiser()
"""Background optimiser, of which a program has one."""

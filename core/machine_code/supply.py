"""Provides the machine code of entry points on demand and compiles what is missing.

An installed package brings intermediate code with it, and object code for computers like the one that built it. In a
checkout an entry that is waited for is compiled quickly, in this process. A process of low priority, started then or
with the window, makes the optimised code of all entries, those asked for first; it replaces the other once it is there.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import llvmlite.binding as llvm

from core.apart.starting import Subprocess, module_command, process_environment, run_command
from core.errors import SimulationError
from core.machine_code import making
from core.machine_code.intermediate import (
    QUICK,
    StoredCode,
    UnusableCode,
    clear_source_hashes,
    hash_sources,
    read,
    sources_changed_since,
    writable_folder,
    write_code,
)
from core.machine_code.language import BEGAN
from core.machine_code.shipped_code import find_shipped_code

if TYPE_CHECKING:
    from core.codegen.object_code import LoadedLibrary

DELAY = 1.0
"""s: delay before the process of low priority is started by a run."""
LONGEST = 300.0
"""s: time limit for compiling an entry point, which usually takes a few seconds."""
BY_NAME = ("pow", "sqrt", "ceil", "rint", "memcpy", "memmove", "memset")
"""C library functions that object code calls for operations of the bitcode."""
WHERE = "integrators"

Report = Callable[[str], None]
_listener: ContextVar[tuple[Report, set[str]] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def report_waiting(report: Report) -> Iterator[None]:
    """Context in which waiting for missing machine code of the integrators is reported to the user, once for each
    reason."""
    before = _listener.set((report, set()))
    try:
        yield
    finally:
        _listener.reset(before)


def _report_once(message: str) -> None:
    listener = _listener.get()
    if listener is not None and message not in listener[1]:
        listener[1].add(message)
        listener[0](message)


class LoadedCode(NamedTuple):
    """Loaded machine code of an entry point."""

    library: LoadedLibrary
    is_final: bool
    """False: code compiled without full optimisation, to be replaced by that of `AHEAD`."""


def load_code(name: str) -> LoadedCode:
    """Load the machine code of an entry point from the cache, or compile it now with little optimisation.

    Raises SimulationError with the remedy if it cannot be made.
    """
    from core.codegen import object_code

    code, is_optimised = _find_current_code(name)
    is_kept = is_optimised and object_code.is_cached(code.bitcode)
    is_final = is_kept or (is_optimised and object_code.is_optimisation_skipped())
    if not is_final:
        AHEAD.start_soon()
        AHEAD.prioritise(name)
        if is_optimised and (shipped := find_shipped_code(name, code.bitcode)) is not None:
            library = object_code.LoadedLibrary.from_object_code(shipped, [*code.needed, *BY_NAME])
            return LoadedCode(library, is_final)
    level = object_code.FULL if is_kept else object_code.QUICK
    try:
        return LoadedCode(_load_library(code, level), is_final)
    except RuntimeError:  # LLVM cannot read it
        return LoadedCode(_load_library(_compile_in_process(name), level), is_final)


def _load_library(code: StoredCode, level: int) -> LoadedLibrary:
    from core.codegen.object_code import LoadedLibrary

    return LoadedLibrary(code.bitcode, [*code.needed, *BY_NAME], _report_object_code, level)


def _report_object_code() -> None:
    _report_once("Compiling the integrators for this computer (once) …")


def _find_current_code(name: str) -> tuple[StoredCode, bool]:
    """Return up-to-date bitcode of an entry point, compiling it if it is missing or outdated; False: it was compiled
    quickly."""
    try:
        return read(name), True
    except UnusableCode as reason:
        _report_once(f"Compiling the integrators, whose stored code {reason}: takes a few seconds …")
    try:
        writable_folder()
    except OSError:  # nothing can be kept
        return _compile_in_process(name), True
    if getattr(sys, "frozen", False):
        making.make_bitcode(name)
    elif sources_changed_since(name.rpartition(".")[0], BEGAN):  # the texts are not those of this process
        compile_in_subprocess(name)
    else:
        return _find_quick_code(name), False
    try:
        return read(name), True
    except UnusableCode as reason:
        raise SimulationError(
            f"The machine code of '{name}' {reason}, although it was just compiled.", where=WHERE
        ) from None


def _find_quick_code(name: str) -> StoredCode:
    """Return up-to-date bitcode of an entry point compiled quickly, stored or made now."""
    with contextlib.suppress(UnusableCode):
        return read(name, QUICK)
    code = _compile_in_process(name, quickly=True)
    with contextlib.suppress(OSError):
        write_code(name, code, QUICK)
    return code


def _compile_in_process(name: str, quickly: bool = False) -> StoredCode:
    """Compile an entry point in this process without storing its bitcode."""
    from core.machine_code.compiler import compile_entry
    from core.machine_code.translation import LanguageError

    module, _, function = name.rpartition(".")
    room = __package__.rpartition(".")[0]
    try:
        bitcode, needed = compile_entry(getattr(import_module(f"{room}.{module}"), function), quickly)
    except (LanguageError, OSError) as error:
        raise _compilation_error(name, str(error)) from error
    return StoredCode(bitcode, needed, hash_sources(module), "", list(llvm.llvm_version_info), "")


def _compilation_error(name: str, reason: str) -> SimulationError:
    return SimulationError(
        f"The machine code of '{name}' could not be compiled: {reason}",
        where=WHERE,
        remedy="If you changed source files, correct the error named; otherwise reinstall Kinetostat: "
        "pip install --force-reinstall kinetostat",
    )


def compile_in_subprocess(*names: str) -> None:
    """Compile these entry points, or all outdated ones if none is named, in a subprocess.

    Raises SimulationError.
    """
    try:
        done = run_command(
            module_command(making.__name__, *names), environment_variables=process_environment(), timeout=LONGEST
        )
    except TimeoutError:
        raise _compilation_error(" ".join(names), f"compilation took longer than {LONGEST:.0f} s") from None
    if done.code != 0:
        raise _compilation_error(" ".join(names), done.last_error_line or "no reason was reported")
    clear_source_hashes()


class BackgroundCompilation:
    """Low-priority background process that compiles all outdated entry points and then their object code."""

    def __init__(self) -> None:
        self._once = threading.Lock()
        self._process: Subprocess | None = None
        self._lines: list[str] = []
        self._requested: deque[str] = deque()
        """Entry points that the process has not been asked for yet."""
        self._starter: threading.Thread | None = None
        self._is_left_to_others = False
        self.total = 0
        """Number of pieces that it makes."""

    @property
    def is_busy(self) -> bool:
        """Return True while it runs."""
        return self._process is not None and self._process.runs

    @property
    def compiled_count(self) -> int:
        """Return the number of items compiled so far."""
        return len(self._lines)

    def has_compiled(self, name: str) -> bool:
        """Return True if it has compiled the object code of an entry point."""
        return making.OBJECT + name in self._lines

    def leave_to_others(self) -> None:
        """Start no process here, because another program of the same user already does the work."""
        self._is_left_to_others = True

    def prioritise(self, name: str) -> None:
        """Compile an entry point before others that nobody is waiting for."""
        self._requested.append(name)
        self._send_requests()

    def _send_requests(self) -> None:
        if self._process is None or self._process.process.stdin is None:
            return
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended, or all were sent
            while True:
                self._process.process.stdin.write(f"{self._requested.popleft()}\n".encode())
                self._process.process.stdin.flush()

    def start_soon(self) -> None:
        """Start the process in a moment, in a thread of its own: a first run has the processors to itself."""
        if self._starter is None and self._process is None and not self._is_left_to_others:
            self._starter = threading.Thread(target=self._start_later, name="kinetostat-integrators", daemon=True)
            self._starter.start()

    def _start_later(self) -> None:
        time.sleep(DELAY)
        self.start()

    def start(self, changed: Callable[[], object] = int) -> None:
        """Start the process, unless it was started before or there is nothing to compile.

        changed : called in a thread of its own whenever a piece is ready, and at the end
        """
        with self._once:
            if self._process is not None or self._is_left_to_others or getattr(sys, "frozen", False):
                return
            self.total = making.count_missing_items()
            if self.total == 0:
                return
            with contextlib.suppress(OSError):
                writable_folder()
                self._process = Subprocess(making.__name__, making.IDLE)
                atexit.register(self._process.end)
                self._send_requests()
                threading.Thread(target=self._follow_output, args=(self._process, changed), daemon=True).start()

    def _follow_output(self, child: Subprocess, changed: Callable[[], object]) -> None:
        assert child.process.stdout is not None
        with child.process.stdout as output:
            for line in output:
                self._lines.append(line.decode("utf-8", "replace").strip())
                changed()
        child.process.wait()
        changed()


AHEAD = BackgroundCompilation()
"""Background compilation, of which a program has one."""

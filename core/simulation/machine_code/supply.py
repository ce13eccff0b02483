"""Provides the machine code of entry points on demand, compiling what is missing.

An installed package brings intermediate code with it. In a checkout it is made by processes of their own: one makes the
entry that is waited for; another, at low priority, all others meanwhile, or from the start of the window on.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import llvmlite.binding as llvm

from core.apart.starting import Child, environment, finished, python
from core.errors import SimulationError
from core.simulation.machine_code import making
from core.simulation.machine_code.intermediate import Code, UnusableCode, clear_source_hashes, read, writable_place

if TYPE_CHECKING:
    from core.codegen.object_code import Library

LONGEST = 300.0
"""s: time limit for compiling an entry point, which usually takes a few seconds."""
BY_NAME = ("pow", "sqrt", "ceil", "rint", "memcpy", "memmove", "memset")
"""C library functions that object code calls for operations of the bitcode."""
WHERE = "integrators"

Report = Callable[[str], None]
_listener: ContextVar[tuple[Report, set[str]] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def telling(report: Report) -> Iterator[None]:
    """Context in which waiting for missing machine code of the integrators is reported, once for each reason."""
    before = _listener.set((report, set()))
    try:
        yield
    finally:
        _listener.reset(before)


def _report_once(words: str) -> None:
    listener = _listener.get()
    if listener is not None and words not in listener[1]:
        listener[1].add(words)
        listener[0](words)


class Loaded(NamedTuple):
    """Loaded machine code of an entry point."""

    library: Library
    is_final: bool
    """False: code compiled without full optimisation, to be replaced by that of `AHEAD`."""


def loaded(name: str) -> Loaded:
    """Load the machine code of an entry point from the cache, or compile it now with little optimisation.

    Raises SimulationError with the remedy if it cannot be made.
    """
    code = _current_code(name)
    try:
        return _loaded(code)
    except RuntimeError:  # LLVM cannot read it
        return _loaded(_compiled_in_process(name))


def _loaded(code: Code) -> Loaded:
    from core.codegen.object_code import FULL, QUICK, Library, kept, plain

    final = kept(code.bitcode)
    library = Library(code.bitcode, [*code.needed, *BY_NAME], _report_object_code, FULL if final else QUICK)
    if not (final or plain()):
        AHEAD.start()
    return Loaded(library, final or plain())


def _report_object_code() -> None:
    _report_once("Compiling the integrators for this computer (once) …")


def _current_code(name: str) -> Code:
    """Return up-to-date bitcode of an entry point, compiling it if it is missing or outdated."""
    try:
        return read(name)
    except UnusableCode as reason:
        _report_once(f"Compiling the integrators, whose stored code {reason}: takes a few seconds …")
    clear_source_hashes()
    try:
        writable_place()
    except OSError:  # nothing can be kept
        return _compiled_in_process(name)
    AHEAD.start()
    if getattr(sys, "frozen", False):
        making.make(name)
    else:
        make(name)
    try:
        return read(name)
    except UnusableCode as reason:
        raise SimulationError(
            f"The machine code of '{name}' {reason}, although it was just compiled.", where=WHERE
        ) from None


def _compiled_in_process(name: str) -> Code:
    """Compile an entry point in this process without storing its bitcode."""
    from core.simulation.machine_code.compiler import compiled
    from core.simulation.machine_code.translation import LanguageError

    module, _, function = name.rpartition(".")
    room = __package__.rpartition(".")[0]
    try:
        bitcode, needed = compiled(getattr(import_module(f"{room}.{module}"), function))
    except (LanguageError, OSError) as error:
        raise _compilation_error(name, str(error)) from error
    return Code(bitcode, needed, "", "", list(llvm.llvm_version_info), "")


def _compilation_error(name: str, reason: str) -> SimulationError:
    return SimulationError(
        f"The machine code of '{name}' could not be compiled: {reason}",
        where=WHERE,
        remedy="If you changed source files, correct the error named; otherwise reinstall Kinetostat: "
        "pip install --force-reinstall kinetostat",
    )


def make(*names: str) -> None:
    """Compile these entry points, or all outdated ones if none is named, in a subprocess.

    Raises SimulationError.
    """
    try:
        done = finished(python(making.__name__, *names), own=environment(), limit=LONGEST)
    except TimeoutError:
        raise _compilation_error(" ".join(names), f"compilation took longer than {LONGEST:.0f} s") from None
    if done.code != 0:
        raise _compilation_error(" ".join(names), done.last_words or "no reason was reported")
    clear_source_hashes()


class MakingAhead:
    """Low-priority background process that compiles all outdated entry points and then their object code."""

    def __init__(self) -> None:
        self._once = threading.Lock()
        self._process: Child | None = None
        self._lines: list[str] = []
        self.total = 0
        """Number of pieces that it makes."""

    @property
    def busy(self) -> bool:
        """Return True while it runs."""
        return self._process is not None and self._process.runs

    @property
    def ready(self) -> int:
        """Return the number of items compiled so far."""
        return len(self._lines)

    def has_made(self, name: str) -> bool:
        """Return True if it has compiled the object code of an entry point."""
        return making.OBJECT + name in self._lines

    def start(self, changed: Callable[[], object] = int) -> None:
        """Start the process, unless it was started before or there is nothing to compile.

        changed : called in a thread of its own whenever a piece is ready, and at the end
        """
        with self._once:
            if self._process is not None or getattr(sys, "frozen", False):
                return
            self.total = making.count_of_missing()
            if self.total == 0:
                return
            with contextlib.suppress(OSError):
                writable_place()
                self._process = Child(making.__name__, making.IDLE)
                atexit.register(self._process.end)
                threading.Thread(target=self._follow_output, args=(self._process, changed), daemon=True).start()

    def _follow_output(self, child: Child, changed: Callable[[], object]) -> None:
        assert child.process.stdout is not None
        for line in child.process.stdout:
            self._lines.append(line.decode("utf-8", "replace").strip())
            changed()
        child.process.wait()
        changed()


AHEAD = MakingAhead()
"""The program's single background compilation."""

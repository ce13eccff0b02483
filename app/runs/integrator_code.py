"""The integrators' machine code is there before the first run: read from the cache in a thread beside the window.

On a new machine another process makes it: the compiler is Python at work, and in a thread the window would
wait for it.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from core.functions.context import Cancelled
from core.mechanism import Mechanism
from core.simulation.methods.method_table import AUTOMATIC, METHODS

LIBRARIES = ("scipy.linalg", "scipy.spatial.transform", "scipy.interpolate")
"""What the start needs none of, but somebody will."""

WAITING = "Compiling the integrators: once on this computer, up to a minute …"


class IntegratorCode:
    """Goes through the stages once, each ready as soon as it can be."""

    def __init__(self, stages: Mapping[str, Callable[[], None]], mark: Callable[[], Path | None]) -> None:
        self._stages, self._mark = stages, mark
        self._ready = {name: threading.Event() for name in stages}
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start, if it has not been."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="integrators", daemon=True)
            self._thread.start()

    def wait(self, cancelled: Callable[[], bool], *stages: str, tell: Callable[[str], object] = str) -> None:
        """Until these stages (or all) are done, in a thread that is not the window's; if that is not so yet, `tell` is
        called before with words for what is waited for. Raises Cancelled."""
        if self.busy(*stages):
            tell(WAITING)
        for name in stages or self._ready:
            while self.busy(name):
                if cancelled():
                    raise Cancelled
                self._ready[name].wait(0.05)

    def busy(self, *stages: str) -> bool:
        """Whether one of these stages (or all) is still being made."""
        return self._thread is not None and not all(self._ready[name].is_set() for name in stages or self._ready)

    def _work(self) -> None:
        try:
            mark = self._mark()
            new = mark is not None and not mark.exists()
            with _process(tuple(self._stages.values())) if new else contextlib.nullcontext(lambda: None) as made:
                for name, stage in self._stages.items():
                    made()
                    stage()
                    self._ready[name].set()
                    for library in LIBRARIES:
                        importlib.import_module(library)
            if new and mark is not None:
                with contextlib.suppress(OSError):
                    mark.touch()
        finally:
            for event in self._ready.values():
                event.set()


@contextlib.contextmanager
def _process(stages: tuple[Callable[[], None], ...]) -> Iterator[Callable[[], None]]:
    """Another process that makes the stages; what is given waits for the next one. If there is no process, or it ends
    early, there is nothing to wait for: stages are then made here."""
    import multiprocessing

    from core.simulation import precompilation

    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=precompilation.make, args=(there, stages), daemon=True)
    try:
        process.start()
    except (OSError, RuntimeError):
        process = None  # type: ignore[assignment]
    there.close()

    def made() -> None:
        with contextlib.suppress(EOFError, OSError):
            here.recv()

    try:
        yield made
    finally:
        here.close()
        if process is not None:
            process.join()


@cache
def integrators() -> IntegratorCode:
    """Those of the program."""
    from core.simulation import precompilation

    return IntegratorCode(precompilation.STAGES, precompilation.mark)


def stages_for(mech: Mechanism, method: str = AUTOMATIC) -> tuple[str, ...]:
    """What a run of a machine needs."""
    held, stiff = ("loops",) if mech.constrained else (), ("stiff",) if METHODS[method].implicit else ()
    return ("usual", *held, *stiff)

"""Searches of the Design panel as background work, with progress reports and results; paced by the window: a search
waits while results are drawn, can pause, and is abandoned if it does not end soon after Stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from app.background.jobs import Job, Jobs, Work
from app.widgets.quantities.quantity_text import Units, measure_of
from core.design.search_apart import CurveTask
from core.errors import KinetostatError
from core.functions.context import Cancelled
from core.model import Aim, Model
from core.model.parameters import value_of
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from core.apart.work_process import WorkProcess
    from core.design import search_apart
    from core.design.designed import Designed, Start
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target


Array = NDArray[np.float64]
Asked = Callable[[Any], bool]
"""Function that tells a search whether to stop, given the cancel function of its job."""
FIRST_CURVES_SHOWN = 6
"""Significant digits of results."""
MOST_LINKAGES = 8
"""Largest number of linkages shown for a curve."""


class Better(NamedTuple):
    """Improved point of a start. rows : the machine's behaviour in display units, None if not evaluated; lost :
    sentence about the last start whose process ended early."""

    start: int
    parameters: Mapping[str, float]
    value: float
    rows: Array | None
    lost: str = ""


class Curves(NamedTuple):
    """Linkages found for a curve, the best first; lost : sentence saying how the search's process ended early, if it
    did."""

    linkages: tuple[Linkage, ...]
    lost: str = ""


class Found(NamedTuple):
    """Result of a parameter search. rows : the machine's behaviour by number of the start; lost : starts whose process
    ended early."""

    designed: Designed
    rows: Mapping[int, Array]
    lost: tuple[Start, ...] = ()


def machine_work(
    process: WorkProcess, model: Model, aim: Aim, starts: int, units: Units, asked: Asked, paused: Callable[[], bool]
) -> Any:
    """Return the background work of a parameter search for a design, run in a subprocess."""

    def shown(rows: Array | None) -> Array | None:
        return None if rows is None else rows / _factors(aim, model, units)

    def work(progress: Any, cancelled: Any) -> Found:
        from core.design.search_apart import optimise_in_subprocess

        words = ""

        def watch(what: search_apart.Better) -> None:
            progress(what.start / starts, f"start {what.start + 1} of {starts}")
            progress.show(Better(what.start, dict(what.parameters), what.value, shown(what.rows), words))

        def lost(row: Start) -> None:
            nonlocal words
            words = f" {ended_process_text(row)}"

        def stop() -> bool:
            return asked(cancelled)

        try:
            found = optimise_in_subprocess(
                process, model, aim, starts, cancelled=stop, paused=paused, watch=watch, lost=lost
            )
        except KinetostatError:
            if stop():  # stopped before anything was found
                raise Cancelled from None
            raise
        return Found(
            found.designed, {k: rows / _factors(aim, model, units) for k, rows in found.rows.items()}, found.lost
        )

    return work


def ended_process_text(row: Start) -> str:
    """Return a sentence saying that the process ended during a start, and how."""
    return f"Start {row.number + 1}: {row.message}"


def _factors(aim: Aim, model: Model, units: Units) -> Array:
    """Return SI values per display unit, shape (2,) or (4,); angles of poses stay in rad."""
    x, y = (measure_of(dimension_of_signal(model, name)).display(units).factor for name in (aim.coordinate, aim.output))
    length = measure_of("length").display(units).factor
    return np.array([x, length, length, 1.0] if aim.kind == "motion" else [x, y])


def desired_rows(aim: Aim, model: Model, units: Units) -> Array:
    """Return the desired values in display units, shape (n, 2) or (n, 4); rows without a value are left out."""
    values = model.values()
    asked = (
        [(row.x, row.u, row.v, row.angle) for row in aim.poses]
        if aim.kind == "motion"
        else [(row.x, row.y) for row in aim.function]
    )
    rows = np.array([[float(value_of(each, values)) for each in row] for row in asked], dtype=float)
    return rows.reshape(len(asked), 4 if aim.kind == "motion" else 2) / _factors(aim, model, units)


def curve_work(process: WorkProcess, wanted: Target, topology: str, asked: Asked, paused: Callable[[], bool]) -> Any:
    """Return the background work of a linkage search for a curve, run in a subprocess."""

    def work(progress: Any, cancelled: Any) -> Curves:
        from core.design.search_apart import search_linkages_in_subprocess

        def stop() -> bool:
            return asked(cancelled)

        task = CurveTask(wanted, topology, MOST_LINKAGES)
        found, lost = search_linkages_in_subprocess(process, task, cancelled=stop, paused=paused, watch=progress.show)
        if not found:
            raise Cancelled
        return Curves(found, lost)

    return work


LOOKED_EVERY = 0.1
"""Time between two pictures of the best result so far, s."""
LOOK_AGAIN = 5
"""Interval at which the window checks whether the search is waiting, ms."""
SHOWN = 20
"""Time after which a picture is drawn and a search continues, ms."""
LONGEST_WAIT = 0.5
"""Longest time that a search waits for the window, s."""
PATIENCE = 200
"""Time for which a stopped search is waited for, ms."""


class PacedSearch(QObject):
    """One search at a time. Without pacing, window and search would compete for the interpreter and each update of the
    window would take several times as long."""

    better = Signal(object)
    """Emitted with the best result so far whenever it improves."""
    seen = Signal(object)
    """Emitted with the best result so far at a limited rate, while the search waits."""
    succeeded = Signal(object)
    failed = Signal(object)
    given_up = Signal()
    """Emitted when the search ended without a result."""
    late = Signal()
    """Emitted when the search has not ended soon after Stop; `leave` then abandons it."""
    ended = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._stop, self._pause = threading.Event(), threading.Event()
        self._free, self.waits = threading.Event(), threading.Event()
        """True if the window has shown the last result; True if the search waits for that."""
        self._free.set()
        self.best: Any = None
        """Result to be shown next."""
        self.has_found = False
        """True if the search has found something."""
        self._shown_at = 0.0
        self._soon = self._timer(LOOK_AGAIN, self._show_best)
        self._shown = self._timer(SHOWN, self._free.set)
        self._patience = self._timer(PATIENCE, self._on_patience_over)

    def _timer(self, milliseconds: int, then: Callable[[], object]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=milliseconds)
        timer.timeout.connect(then)
        return timer

    @property
    def busy(self) -> bool:
        """True while a search runs."""
        return self._job is not None

    def paused(self) -> bool:
        """True if the search should wait rather than end."""
        return self._pause.is_set() and not self._stop.is_set()

    def close(self) -> None:
        """Stop searching when the panel closes."""
        self._stop.set()
        self._free.set()
        for timer in (self._soon, self._shown, self._patience):
            timer.stop()

    def begin(self, title: str, work: Work) -> None:
        """Begin a search whose work calls `asked` repeatedly."""
        self._stop.clear()
        self._pause.clear()
        self._free.set()
        self.has_found, self.best = False, None
        job = self._job = self._jobs.start(title, work)

        def own(hear: Callable[..., object]) -> Callable[..., None]:
            return lambda *what: None if self._job is not job else (hear(*what), None)[1]

        job.grown.connect(own(self._on_progress))
        job.succeeded.connect(own(self.succeeded.emit))
        job.failed.connect(own(self.failed.emit))
        job.stopped.connect(own(self.given_up.emit))
        job.ended.connect(own(self._ended))

    def asked(self, cancelled: Callable[[], bool]) -> bool:
        """Return True if the search should stop; blocks while paused (in the job's thread)."""
        while self._pause.is_set() and not self._stop.is_set() and not cancelled():
            time.sleep(0.05)
        if not self._free.is_set():
            self.waits.set()
            self._free.wait(LONGEST_WAIT)
            self.waits.clear()
        time.sleep(0)
        return bool(self._stop.is_set() or cancelled())

    def pause(self, on: bool) -> None:
        """Pause the search, or continue it."""
        self._pause.set() if on else self._pause.clear()

    def stop(self) -> None:
        """End the search with the best result so far."""
        self._stop.set()
        self._free.set()
        self._patience.start()

    def leave(self) -> None:
        """Stop waiting for the search: it ends in the background and its result is dropped."""
        if self._job is not None:
            self._job.cancel()
            self._ended()

    def _on_patience_over(self) -> None:
        if self.busy and self._stop.is_set():
            self.late.emit()

    def _on_progress(self, what: Any) -> None:
        self.has_found, self.best = True, what
        self.better.emit(what)
        if time.monotonic() - self._shown_at < LOOKED_EVERY or self._stop.is_set():
            return
        self._shown_at = time.monotonic()
        self._free.clear()
        self._soon.start()

    def _show_best(self) -> None:
        """Show the best result so far once the search waits."""
        if not self.busy or self._stop.is_set():
            self._free.set()
            return
        if not self.waits.is_set() and time.monotonic() - self._shown_at < LONGEST_WAIT:
            self._soon.start()
            return
        self._shown.start()
        self.seen.emit(self.best)

    def _ended(self) -> None:
        self._job = None
        self.ended.emit()

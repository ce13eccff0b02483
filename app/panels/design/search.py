"""Background searches of the Design panel, with progress reports and results. The window sets the pace: a search waits
while results are drawn, can be paused, and is abandoned if it does not end soon after Stop."""

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
from core.model.parameters import evaluate_field
from core.model.trims import signal_dimension

if TYPE_CHECKING:
    from core.apart.work_process import WorkProcess
    from core.design import search_apart
    from core.design.designed import OptimisationResult, StartResult
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target


Array = NDArray[np.float64]
Asked = Callable[[Any], bool]
"""Function that tells a search whether to stop; its argument is the cancel function of the search's job."""
FIRST_CURVES_SHOWN = 6
"""Significant digits of results."""
MOST_LINKAGES = 8
"""Largest number of linkages returned for a curve."""


class ImprovedPoint(NamedTuple):
    """Improved point found from one start. rows : the machine's behaviour in display units, None if not evaluated; lost
    : sentence about the latest start whose process ended early."""

    start: int
    parameters: Mapping[str, float]
    value: float
    rows: Array | None
    lost: str = ""


class FoundLinkages(NamedTuple):
    """Linkages found for a curve, best first; lost : sentence saying how the search's process ended early, if it
    did."""

    linkages: tuple[Linkage, ...]
    lost: str = ""


class ParameterSearchResult(NamedTuple):
    """Result of a parameter search. rows : the machine's behaviour for each start; lost : starts whose process ended
    early."""

    designed: OptimisationResult
    rows: Mapping[int, Array]
    lost: tuple[StartResult, ...] = ()


def parameter_search_work(
    process: WorkProcess,
    model: Model,
    aim: Aim,
    starts: int,
    units: Units,
    stop_requested: Asked,
    paused: Callable[[], bool],
) -> Any:
    """Return the background work of a parameter search for a design; the search runs in a subprocess."""

    def to_display_units(rows: Array | None) -> Array | None:
        return None if rows is None else rows / _display_factors(aim, model, units)

    def work(progress: Any, cancelled: Any) -> ParameterSearchResult:
        from core.design.search_apart import optimise_in_subprocess

        words = ""

        def report_improvement(point: search_apart.BetterPoint) -> None:
            progress(point.start / starts, f"start {point.start + 1} of {starts}")
            progress.show(
                ImprovedPoint(point.start, dict(point.parameters), point.value, to_display_units(point.rows), words)
            )

        def note_lost_start(row: StartResult) -> None:
            nonlocal words
            words = f" {ended_process_text(row)}"

        def should_stop() -> bool:
            return stop_requested(cancelled)

        try:
            found = optimise_in_subprocess(
                process,
                model,
                aim,
                starts,
                cancelled=should_stop,
                paused=paused,
                watch=report_improvement,
                lost=note_lost_start,
            )
        except KinetostatError:
            if should_stop():  # stopped before anything was found
                raise Cancelled from None
            raise
        return ParameterSearchResult(
            found.designed,
            {k: rows / _display_factors(aim, model, units) for k, rows in found.rows.items()},
            found.lost,
        )

    return work


def ended_process_text(row: StartResult) -> str:
    """Return a sentence saying how the process of a start ended early."""
    return f"Start {row.number + 1}: {row.message}"


def _display_factors(aim: Aim, model: Model, units: Units) -> Array:
    """Return the SI value of each column's display unit, shape (2,) or (4,); angles of poses stay in rad."""
    x, y = (
        measure_of(signal_dimension(model, name)).display_unit(units).factor for name in (aim.coordinate, aim.output)
    )
    length = measure_of("length").display_unit(units).factor
    return np.array([x, length, length, 1.0] if aim.kind == "motion" else [x, y])


def desired_rows(aim: Aim, model: Model, units: Units) -> Array:
    """Return the required values in display units, shape (n, 2) or (n, 4); rows without a value are omitted."""
    values = model.values()
    asked = (
        [(row.x, row.u, row.v, row.angle) for row in aim.poses]
        if aim.kind == "motion"
        else [(row.x, row.y) for row in aim.function]
    )
    rows = np.array([[float(evaluate_field(each, values)) for each in row] for row in asked], dtype=float)
    return rows.reshape(len(asked), 4 if aim.kind == "motion" else 2) / _display_factors(aim, model, units)


def linkage_search_work(
    process: WorkProcess, target: Target, topology: str, stop_requested: Asked, paused: Callable[[], bool]
) -> Any:
    """Return the background work of a linkage search for a curve; the search runs in a subprocess."""

    def work(progress: Any, cancelled: Any) -> FoundLinkages:
        from core.design.search_apart import search_linkages_in_subprocess

        def should_stop() -> bool:
            return stop_requested(cancelled)

        task = CurveTask(target, topology, MOST_LINKAGES)
        found, lost = search_linkages_in_subprocess(
            process, task, cancelled=should_stop, paused=paused, on_better_linkage=progress.show
        )
        if not found:
            raise Cancelled
        return FoundLinkages(found, lost)

    return work


LOOKED_EVERY = 0.1
"""Shortest time between two updates of the best result shown, s."""
LOOK_AGAIN = 5
"""Interval at which the window checks whether the search has paused for drawing, ms."""
SHOWN = 20
"""Time allowed for drawing before the search continues, ms."""
LONGEST_WAIT = 0.5
"""Longest time that a search waits for the window to draw, s."""
PATIENCE = 200
"""Time allowed for a stopped search to end, ms."""


class PacedSearch(QObject):
    """Runs one search at a time at the window's pace; otherwise both would compete for the interpreter and each update
    of the window would take several times as long."""

    better = Signal(object)
    """Emitted with the best result so far whenever it improves."""
    seen = Signal(object)
    """Emitted with the best result so far, at a limited rate, while the search waits for it to be drawn."""
    succeeded = Signal(object)
    failed = Signal(object)
    given_up = Signal()
    """Emitted when the search ended without a result."""
    late = Signal()
    """Emitted if the search has not ended soon after Stop; it can then be abandoned."""
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
        self._soon = self._create_timer(LOOK_AGAIN, self._show_best)
        self._shown = self._create_timer(SHOWN, self._free.set)
        self._patience = self._create_timer(PATIENCE, self._on_patience_over)

    def _create_timer(self, milliseconds: int, on_timeout: Callable[[], object]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=milliseconds)
        timer.timeout.connect(on_timeout)
        return timer

    @property
    def is_running(self) -> bool:
        """True while a search runs."""
        return self._job is not None

    def is_paused(self) -> bool:
        """True if the search should wait rather than end."""
        return self._pause.is_set() and not self._stop.is_set()

    def close(self) -> None:
        """Stop the search because the panel closes."""
        self._stop.set()
        self._free.set()
        for timer in (self._soon, self._shown, self._patience):
            timer.stop()

    def begin(self, title: str, work: Work) -> None:
        """Start a search whose work regularly asks whether to stop."""
        self._stop.clear()
        self._pause.clear()
        self._free.set()
        self.has_found, self.best = False, None
        job = self._job = self._jobs.start(title, work)

        def if_current(listener: Callable[..., object]) -> Callable[..., None]:
            return lambda *what: None if self._job is not job else (listener(*what), None)[1]

        job.grown.connect(if_current(self._on_progress))
        job.succeeded.connect(if_current(self.succeeded.emit))
        job.failed.connect(if_current(self.failed.emit))
        job.stopped.connect(if_current(self.given_up.emit))
        job.ended.connect(if_current(self._on_ended))

    def should_stop(self, cancelled: Callable[[], bool]) -> bool:
        """Return True if the search should stop; blocks while paused (in the job's thread)."""
        while self._pause.is_set() and not self._stop.is_set() and not cancelled():
            time.sleep(0.05)
        if not self._free.is_set():
            self.waits.set()
            self._free.wait(LONGEST_WAIT)
            self.waits.clear()
        time.sleep(0)
        return bool(self._stop.is_set() or cancelled())

    def set_paused(self, on: bool) -> None:
        """Pause the search, or continue it."""
        self._pause.set() if on else self._pause.clear()

    def stop(self) -> None:
        """End the search with the best result so far."""
        self._stop.set()
        self._free.set()
        self._patience.start()

    def abandon(self) -> None:
        """Abandon the search: it ends in the background and its result is dropped."""
        if self._job is not None:
            self._job.cancel()
            self._on_ended()

    def _on_patience_over(self) -> None:
        if self.is_running and self._stop.is_set():
            self.late.emit()

    def _on_progress(self, result: Any) -> None:
        self.has_found, self.best = True, result
        self.better.emit(result)
        if time.monotonic() - self._shown_at < LOOKED_EVERY or self._stop.is_set():
            return
        self._shown_at = time.monotonic()
        self._free.clear()
        self._soon.start()

    def _show_best(self) -> None:
        """Show the best result so far as soon as the search waits."""
        if not self.is_running or self._stop.is_set():
            self._free.set()
            return
        if not self.waits.is_set() and time.monotonic() - self._shown_at < LONGEST_WAIT:
            self._soon.start()
            return
        self._shown.start()
        self.seen.emit(self.best)

    def _on_ended(self) -> None:
        self._job = None
        self.ended.emit()

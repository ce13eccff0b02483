"""Design searches in a subprocess: for parameters of a machine, and for linkages that trace a curve.

The process reports `Begun`, then `StartBegins`, `Better` and a `Row` for each start; for a curve a `Progress` for each
better linkage. A start on which the process crashes becomes a row, a kind of linkage keeps what was found until then,
and the others are searched in a new process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from core import later
from core.apart.talk import LocalConnection, TaskConnection, WorkerTask
from core.apart.work_process import AbandonedTask, LostTask, WorkProcess
from core.design.designed import (
    Array,
    OptimisationResult,
    Row,
    StartResult,
    model_with_row_values,
    rank_rows,
    variables_at_bounds,
)
from core.design.target_curves import Target
from core.errors import KinetostatError, ModelError, SimulationError
from core.files.sent_model import PackedModel
from core.kinds import KindError
from core.later import dataclass
from core.model import Aim, Model

if TYPE_CHECKING:
    from core.design.path_synthesis import Linkage, SynthesisProgress


_searched = later.lazy_function(__package__, "searched_task.search_parameters")
_linkages = later.lazy_function(__package__, "searched_task.search_linkages")

ITERATIONS = 200
MOST_UNPREPARED = 2
"""Number of process crashes that are tolerated before a search is prepared."""
Asked = Callable[[], bool]


class _SearchTask(WorkerTask):
    """Search task. Machine code is compiled before the search begins, and each iteration is short."""

    silence: ClassVar[float] = 60.0
    preparing: ClassVar[float] = 300.0


@dataclass(frozen=True)
class ParameterTask(_SearchTask):
    """Task: search parameters of a design. before : rows of finished starts"""

    model: PackedModel
    aim: Aim
    starts: int
    solver: str
    seed: int
    iterations: int
    before: tuple[Row, ...] = ()

    def execute(self, line: TaskConnection) -> SearchSummary:
        summary: SearchSummary = _searched(self, line)
        return summary


@dataclass(frozen=True)
class CurveTask(_SearchTask):
    """Task: search linkages for a curve, as in `synthesise`; most : largest number of solutions"""

    target: Target
    topology: str
    most: int

    def execute(self, line: TaskConnection) -> tuple[Linkage, ...]:
        found: tuple[Linkage, ...] = _linkages(self, line)
        return found


class SearchPrepared(NamedTuple):
    """Message that the search is prepared, and how it is done, with the fields of the result."""

    solver: str
    reason: str
    slopes: str


class BetterPoint(NamedTuple):
    """Message that a start has reached a better point. x (n,), 0 … 1; rows : attained values for prescribed functions
    or poses, SI; None: not computed"""

    start: int
    x: Array
    parameters: Mapping[str, float]
    value: float
    rows: Array | None


class StartBegins(NamedTuple):
    """Message that a start begins at x (n,), 0 … 1."""

    number: int
    x: Array
    parameters: Mapping[str, float]


class SearchSummary(NamedTuple):
    """Result of a search without its model; rows : attained values of the machines in the table, by row number, SI."""

    table: tuple[StartResult, ...]
    how: SearchPrepared
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...]
    rows: Mapping[int, Array]


class SubprocessResult(NamedTuple):
    """Result of a search in a subprocess. rows : attained values of the machines in the table, by start, SI; lost :
    starts on which a process crashed."""

    designed: OptimisationResult
    rows: Mapping[int, Array]
    lost: tuple[StartResult, ...]


def optimise_in_subprocess(
    process: WorkProcess,
    model: Model,
    aim: Aim,
    starts: int,
    solver: str = "auto",
    seed: int = 0,
    *,
    iterations: int = ITERATIONS,
    cancelled: Callable[[], bool] = lambda: False,
    paused: Callable[[], bool] = lambda: False,
    watch: Callable[[BetterPoint], None] = lambda _: None,
    lost: Callable[[StartResult], None] = lambda _: None,
) -> SubprocessResult:
    """Run `design_of_aim(model, aim, "design").solve(…)` in a subprocess, with identical results; cancelled, paused :
    polled, the first may block; watch, lost : called with each better point and each start on which a process crashed.
    A machine with a kind defined in the console is searched in this process. Raises KinetostatError as `solve` does,
    and if no process can be started."""
    search = _RemoteSearchState(watch)
    try:
        task = ParameterTask(PackedModel.of(model), aim, starts, solver, seed, iterations)
    except KindError:
        task = ParameterTask(PackedModel.pack_without_kinds(model), aim, starts, solver, seed, iterations)
        return _search_in_this_process(model, task, cancelled, search)
    unprepared = 0
    while True:
        try:
            found = process.run_task(replace(task, before=tuple(search.rows)), cancelled, search.record_message, paused)
        except OSError as error:
            raise _make_process_error(str(error.strerror or error)) from None
        if isinstance(found, SearchSummary):
            return SubprocessResult(_result_with_model(model, found), found.rows, tuple(search.lost))
        if isinstance(found, AbandonedTask):
            search.finish_current_start("stopped")
            return search.result_so_far(model)
        assert isinstance(found, LostTask)
        if search.running is not None:
            search.finish_current_start(f"The solver {found.how}.")
            lost(search.rows[-1][1])
        elif search.how is not None and len(search.rows) == starts:  # all but the look at the best is done
            return search.result_so_far(model)
        else:
            unprepared += 1
            if unprepared >= MOST_UNPREPARED:
                raise _make_process_error(f"The solver {found.how}.")
        if len(search.rows) == starts or cancelled():
            return search.result_so_far(model)


def _search_in_this_process(
    model: Model, task: ParameterTask, cancelled: Callable[[], bool], search: _RemoteSearchState
) -> SubprocessResult:
    found = task.execute(LocalConnection(search.record_message, cancelled))
    return SubprocessResult(_result_with_model(model, found), found.rows, ())


def _make_process_error(reason: str) -> KinetostatError:
    return SimulationError(
        f"The search could not be prepared: {reason}",
        where="design",
        remedy="Vary fewer parameters, or run the search in a script.",
    )


def _result_with_model(model: Model, summary: SearchSummary) -> OptimisationResult:
    how = summary.how
    return OptimisationResult(
        summary.table,
        model_with_row_values(model, summary.table[0]),
        *how,
        sensitivities=summary.sensitivities,
        alike=summary.alike,
    )


class _RemoteSearchState:
    """State of a search in the subprocess, as known from its messages."""

    def __init__(self, watch: Callable[[BetterPoint], None]) -> None:
        self._watch = watch
        self.rows: list[Row] = []
        self.lost: list[StartResult] = []
        self.how: SearchPrepared | None = None
        self.running: StartBegins | None = None
        """The start in hand."""
        self._best: BetterPoint | None = None
        """Of this start."""

    def record_message(self, message: SearchPrepared | StartBegins | BetterPoint | Row) -> None:
        """Record a message of the subprocess."""
        if isinstance(message, SearchPrepared):
            self.how = message
        elif isinstance(message, StartBegins):
            self.running, self._best = message, None
        elif isinstance(message, BetterPoint):
            self._best = message
            self._watch(message)
        else:
            self.running = None
            self.rows.append(message)

    def finish_current_start(self, reason: str) -> None:
        """Finish the current start after a crash: keep its best point so far, or mark it as failed with the reason."""
        begun, best, self.running = self.running, self._best, None
        if begun is None:
            return
        if best is not None:
            edge = variables_at_bounds(tuple(best.parameters), best.x)
            self.rows.append((best.x, StartResult(best.start, best.parameters, best.value, "stopped", reason, edge)))
        elif reason != "stopped":
            self.rows.append((begun.x, StartResult(begun.number, begun.parameters, np.inf, "failed", reason)))
        if reason != "stopped":
            self.lost.append(self.rows[-1][1])

    def result_so_far(self, model: Model) -> SubprocessResult:
        """Return the result so far. Raises ModelError if no starting point gave a result."""
        table = tuple(row for _, row in rank_rows(self.rows))
        if self.how is None:
            raise ModelError("No starting point gave a result.", where="design", remedy="Allow a longer search.")
        return SubprocessResult(
            OptimisationResult(table, model_with_row_values(model, table[0]), *self.how, sensitivities={}),
            {},
            tuple(self.lost),
        )


class LinkageSearchResult(NamedTuple):
    """Result of a linkage search. found : linkages, the best first; lost : sentences that name the topologies on which
    the process crashed, and how."""

    found: tuple[Linkage, ...]
    lost: str = ""


def search_linkages_in_subprocess(
    process: WorkProcess,
    task: CurveTask,
    *,
    cancelled: Asked = lambda: False,
    paused: Asked = lambda: False,
    on_better_linkage: Callable[[SynthesisProgress], None] = lambda _: None,
) -> LinkageSearchResult:
    """Run `synthesise` in a subprocess, with identical results; cancelled, paused : polled, the first may block; watch
    : called with each better linkage. Raises KinetostatError as `synthesise` does, and if the process crashed without a
    result or cannot be started."""
    from core.design.path_synthesis import has_exact_linkage, select_best, topologies_for_name
    from core.design.topologies import topology_named

    names = topologies_for_name(task.topology)
    found: tuple[Linkage, ...] = ()
    lost: list[str] = []
    for name in names:
        if name != names[0] and (cancelled() or has_exact_linkage(found)):
            break
        kind = replace(task, topology=name)
        try:
            own, how = _search_one_topology(
                process, kind, select_best(found, task.most), cancelled, paused, on_better_linkage
            )
        except OSError as error:
            lost.append(f"The search process could not be started ({error.strerror or error}).")
            break
        found += own
        if how:
            over = f"{topology_named(name).title}: the" if len(names) > 1 else "The"
            lost.append(f"{over} solver {how}.")
    if lost and not found:
        raise SimulationError(
            f"No linkage was found: {' '.join(lost)}",
            where="linkage",
            remedy="Search again, or choose another kind of linkage.",
        )
    return LinkageSearchResult(select_best(found, task.most), " ".join(lost))


def _search_one_topology(
    process: WorkProcess,
    task: CurveTask,
    earlier_linkages: tuple[Linkage, ...],
    cancelled: Asked,
    paused: Asked,
    on_better_linkage: Callable[[SynthesisProgress], None],
) -> tuple[tuple[Linkage, ...], str]:
    """Search linkages of one topology in the process; return them, and how the process crashed (words that follow "The
    solver"). Raises the errors of the search, and OSError if no process can be started."""
    last: list[SynthesisProgress] = []

    def record_progress(progress: SynthesisProgress | None) -> None:
        if progress is not None:
            last[:] = [progress]
            on_better_linkage(replace(progress, found=earlier_linkages))

    found = process.run_task(task, cancelled, record_progress, paused)
    if not isinstance(found, (AbandonedTask, LostTask)):
        return found, ""
    kept = tuple(now.best for now in last if now.best is not None)
    return kept, found.how if isinstance(found, LostTask) else ""

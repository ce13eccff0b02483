"""Design searches in a subprocess: for parameters of a machine, and for linkages that trace a curve.

The process reports `Begun`, then `Begins`, `Better` and a `Row` for each start; for a curve a `Progress` for each
better linkage. A start on which the process crashes becomes a row, a kind of linkage keeps what was found until then,
and the others are searched in a new process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from core import later
from core.apart.talk import Here, Line, Task
from core.apart.work_process import Left, Lost, WorkProcess
from core.design.designed import Array, Designed, Row, Start, applied, ranked, variables_at_bounds
from core.design.target_curves import Target
from core.errors import KinetostatError, ModelError, SimulationError
from core.files.sent_model import SentModel
from core.kinds import KindError
from core.later import dataclass
from core.model import Aim, Model

if TYPE_CHECKING:
    from core.design.path_synthesis import Linkage, Progress


_searched = later.function(__package__, "searched_task.searched")
_linkages = later.function(__package__, "searched_task.linkages")

ITERATIONS = 200
MOST_UNPREPARED = 2
"""Number of process crashes tolerated before a search is prepared."""
Asked = Callable[[], bool]


class _Search(Task):
    """Search task: machine code is compiled before the search begins, and each iteration is short."""

    silence: ClassVar[float] = 60.0
    preparing: ClassVar[float] = 300.0


@dataclass(frozen=True)
class ParameterTask(_Search):
    """Parameter search for a design. before : rows of finished starts"""

    model: SentModel
    aim: Aim
    starts: int
    solver: str
    seed: int
    iterations: int
    before: tuple[Row, ...] = ()

    def done(self, line: Line) -> Summary:
        summary: Summary = _searched(self, line)
        return summary


@dataclass(frozen=True)
class CurveTask(_Search):
    """Linkage search for a curve, as in `synthesise`; most : largest number of solutions"""

    target: Target
    topology: str
    most: int

    def done(self, line: Line) -> tuple[Linkage, ...]:
        found: tuple[Linkage, ...] = _linkages(self, line)
        return found


class Begun(NamedTuple):
    """Message on how the search is done, with the fields of `Designed`."""

    solver: str
    reason: str
    slopes: str


class Better(NamedTuple):
    """Message on a better point of a start. x (n,), 0 … 1; rows : attained values for prescribed functions or poses,
    SI; None: not computed"""

    start: int
    x: Array
    parameters: Mapping[str, float]
    value: float
    rows: Array | None


class Begins(NamedTuple):
    """Message that a start begins at x (n,), 0 … 1."""

    number: int
    x: Array
    parameters: Mapping[str, float]


class Summary(NamedTuple):
    """Result of a search, as `Designed` without its model; rows : attained values of the machines in the table, by row
    number, SI."""

    table: tuple[Start, ...]
    how: Begun
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...]
    rows: Mapping[int, Array]


class SubprocessDesign(NamedTuple):
    """Result of a search in a subprocess. rows : attained values of the machines in the table, by start, SI; lost :
    starts on which a process crashed."""

    designed: Designed
    rows: Mapping[int, Array]
    lost: tuple[Start, ...]


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
    watch: Callable[[Better], None] = lambda _: None,
    lost: Callable[[Start], None] = lambda _: None,
) -> SubprocessDesign:
    """Run `design_of_aim(model, aim, "design").solve(…)` in a subprocess, with identical results; cancelled, paused :
    polled, the first may block; watch, lost : called with each better point and each start on which a process crashed.
    A machine with a kind defined in the console is searched in this process. Raises KinetostatError as `solve` does,
    and if no process can be started."""
    search = _RemoteSearch(watch)
    try:
        task = ParameterTask(SentModel.of(model), aim, starts, solver, seed, iterations)
    except KindError:
        task = ParameterTask(SentModel.text_of(model), aim, starts, solver, seed, iterations)
        return _search_here(model, task, cancelled, search)
    unprepared = 0
    while True:
        try:
            found = process.ask(replace(task, before=tuple(search.rows)), cancelled, search.hear, paused)
        except OSError as error:
            raise _process_error(str(error.strerror or error)) from None
        if isinstance(found, Summary):
            return SubprocessDesign(_complete_result(model, found), found.rows, tuple(search.lost))
        if isinstance(found, Left):
            search.end("stopped")
            return search.apart(model)
        assert isinstance(found, Lost)
        if search.running is not None:
            search.end(f"The solver {found.how}.")
            lost(search.rows[-1][1])
        elif search.how is not None and len(search.rows) == starts:  # all but the look at the best is done
            return search.apart(model)
        else:
            unprepared += 1
            if unprepared >= MOST_UNPREPARED:
                raise _process_error(f"The solver {found.how}.")
        if len(search.rows) == starts or cancelled():
            return search.apart(model)


def _search_here(
    model: Model, task: ParameterTask, cancelled: Callable[[], bool], search: _RemoteSearch
) -> SubprocessDesign:
    found = task.done(Here(search.hear, cancelled))
    return SubprocessDesign(_complete_result(model, found), found.rows, ())


def _process_error(why: str) -> KinetostatError:
    return SimulationError(
        f"The search could not be prepared: {why}",
        where="design",
        remedy="Vary fewer parameters, or run the search in a script.",
    )


def _complete_result(model: Model, found: Summary) -> Designed:
    how = found.how
    return Designed(
        found.table, applied(model, found.table[0]), *how, sensitivities=found.sensitivities, alike=found.alike
    )


class _RemoteSearch:
    """State of a search in the subprocess, as known here from its messages."""

    def __init__(self, watch: Callable[[Better], None]) -> None:
        self._watch = watch
        self.rows: list[Row] = []
        self.lost: list[Start] = []
        self.how: Begun | None = None
        self.running: Begins | None = None
        """The start in hand."""
        self._best: Better | None = None
        """Of this start."""

    def hear(self, what: Begun | Begins | Better | Row) -> None:
        """Record a message of the subprocess."""
        if isinstance(what, Begun):
            self.how = what
        elif isinstance(what, Begins):
            self.running, self._best = what, None
        elif isinstance(what, Better):
            self._best = what
            self._watch(what)
        else:
            self.running = None
            self.rows.append(what)

    def end(self, words: str) -> None:
        """Finish the current start after a crash: with its best point so far, or as failed with the reason."""
        begun, best, self.running = self.running, self._best, None
        if begun is None:
            return
        if best is not None:
            edge = variables_at_bounds(tuple(best.parameters), best.x)
            self.rows.append((best.x, Start(best.start, best.parameters, best.value, "stopped", words, edge)))
        elif words != "stopped":
            self.rows.append((begun.x, Start(begun.number, begun.parameters, np.inf, "failed", words)))
        if words != "stopped":
            self.lost.append(self.rows[-1][1])

    def apart(self, model: Model) -> SubprocessDesign:
        """Return the result so far. Raises ModelError if no start yielded a value."""
        table = tuple(row for _, row in ranked(self.rows))
        if self.how is None:
            raise ModelError("No start yielded a value.", where="design", remedy="Search for longer.")
        return SubprocessDesign(
            Designed(table, applied(model, table[0]), *self.how, sensitivities={}), {}, tuple(self.lost)
        )


class Linkages(NamedTuple):
    """Result of a linkage search. found : linkages, the best first; lost : sentences naming the kinds on which the
    process crashed, and how."""

    found: tuple[Linkage, ...]
    lost: str = ""


def search_linkages_in_subprocess(
    process: WorkProcess,
    task: CurveTask,
    *,
    cancelled: Asked = lambda: False,
    paused: Asked = lambda: False,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Linkages:
    """Run `synthesise` in a subprocess, with identical results; cancelled, paused : polled, the first may block; watch
    : called with each better linkage. Raises KinetostatError as `synthesise` does, and if the process crashed without a
    result or cannot be started."""
    from core.design.path_synthesis import best_of, exact, kinds_of
    from core.design.topologies import topology_named

    names = kinds_of(task.topology)
    found: tuple[Linkage, ...] = ()
    lost: list[str] = []
    for name in names:
        if name != names[0] and (cancelled() or exact(found)):
            break
        kind = replace(task, topology=name)
        try:
            own, how = _search_kind(process, kind, best_of(found, task.most), cancelled, paused, watch)
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
    return Linkages(best_of(found, task.most), " ".join(lost))


def _search_kind(
    process: WorkProcess,
    task: CurveTask,
    before: tuple[Linkage, ...],
    cancelled: Asked,
    paused: Asked,
    watch: Callable[[Progress], None],
) -> tuple[tuple[Linkage, ...], str]:
    """Search linkages of one kind in the process; return them and how the process crashed (words that follow "The
    solver"). before : linkages of the earlier kinds. Raises the errors of the search, and OSError if no process can be
    started."""
    last: list[Progress] = []

    def hear(progress: Progress | None) -> None:
        if progress is not None:
            last[:] = [progress]
            watch(replace(progress, found=before))

    found = process.ask(task, cancelled, hear, paused)
    if not isinstance(found, (Left, Lost)):
        return found, ""
    kept = tuple(now.best for now in last if now.best is not None)
    return kept, found.how if isinstance(found, Lost) else ""

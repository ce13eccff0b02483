"""Parameter search in a subprocess: a start on which the process crashes becomes a row, and the others continue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from core.apart.talk import Here
from core.apart.work_process import Left, Lost, WorkProcess
from core.design.designed import Array, Designed, Row, Start, applied, ranked, variables_at_bounds
from core.design.search_tasks import Begins, Begun, Better, ParameterTask, Summary
from core.errors import KinetostatError, ModelError, SimulationError
from core.files.sent_model import SentModel
from core.kinds import KindError
from core.model import Aim, Model

ITERATIONS = 200
MOST_UNPREPARED = 2
"""Number of process crashes tolerated before a search is prepared."""


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
    from core.design.searched_task import searched

    found = searched(task, Here(search.hear, cancelled))
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

"""A search for parameters in a process of its own: a start over which the process ends is a row, the others go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from core.apart.talk import Here
from core.apart.work_process import Left, Lost, WorkProcess
from core.design.designed import Array, Designed, Row, Start, applied, at_edge, ranked
from core.design.search_tasks import Begins, Begun, Better, ParameterTask, Summary
from core.errors import KinetostatError, ModelError, SimulationError
from core.files.sent_model import SentModel
from core.kinds import KindError
from core.model import Aim, Model

ITERATIONS = 200
MOST_UNPREPARED = 2
"""Processes that may end before a search is prepared."""


class Apart(NamedTuple):
    """What a search came to. rows : what machines of the table do, by start, SI; lost : starts over which a process
    ended."""

    designed: Designed
    rows: Mapping[int, Array]
    lost: tuple[Start, ...]


def design_apart(
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
) -> Apart:
    """As `design_of_aim(model, aim, "design").solve(…)` with the same numbers; cancelled, paused : asked again and
    again, the first may wait; watch, lost : hear of each better point, of each start over which a process ended.
    A machine with a kind that was made in the console is searched here. Raises KinetostatError as that does, and where
    no process can begin."""
    search = _Search(watch)
    try:
        task = ParameterTask(SentModel.of(model), aim, starts, solver, seed, iterations)
    except KindError:
        task = ParameterTask(SentModel.text_of(model), aim, starts, solver, seed, iterations)
        return _here(model, task, cancelled, search)
    unprepared = 0
    while True:
        try:
            found = process.ask(replace(task, before=tuple(search.rows)), cancelled, search.hear, paused)
        except OSError as error:
            raise _no_process(str(error.strerror or error)) from None
        if isinstance(found, Summary):
            return Apart(_whole(model, found), found.rows, tuple(search.lost))
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
                raise _no_process(f"The solver {found.how}.")
        if len(search.rows) == starts or cancelled():
            return search.apart(model)


def _here(model: Model, task: ParameterTask, cancelled: Callable[[], bool], search: _Search) -> Apart:
    from core.design.searched_task import searched

    found = searched(task, Here(search.hear, cancelled))
    return Apart(_whole(model, found), found.rows, ())


def _no_process(why: str) -> KinetostatError:
    return SimulationError(
        f"The search could not be prepared: {why}", where="design", remedy="Vary less, or search by a script."
    )


def _whole(model: Model, found: Summary) -> Designed:
    how = found.how
    return Designed(
        found.table, applied(model, found.table[0]), *how, sensitivities=found.sensitivities, alike=found.alike
    )


class _Search:
    """What is known here of a search there."""

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
        """What the process tells."""
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
        """The start in hand came to no end: its best so far, else that it failed, and why."""
        begun, best, self.running = self.running, self._best, None
        if begun is None:
            return
        if best is not None:
            edge = at_edge(tuple(best.parameters), best.x)
            self.rows.append((best.x, Start(best.start, best.parameters, best.value, "stopped", words, edge)))
        elif words != "stopped":
            self.rows.append((begun.x, Start(begun.number, begun.parameters, np.inf, "failed", words)))
        if words != "stopped":
            self.lost.append(self.rows[-1][1])

    def apart(self, model: Model) -> Apart:
        """What there is. Raises ModelError where no start came to a value."""
        table = tuple(row for _, row in ranked(self.rows))
        if self.how is None:
            raise ModelError("No start came to a value.", where="design", remedy="Let it search for longer.")
        return Apart(Designed(table, applied(model, table[0]), *self.how, sensitivities={}), {}, tuple(self.lost))

"""Execution of a search task in the current process, with a message for each step."""

from __future__ import annotations

import time
from typing import Any

from core.apart.talk import TaskConnection
from core.design.asked_designs import design_from_aim
from core.design.design import Design
from core.design.designed import Array, OptimisationResult, Row
from core.design.path_synthesis import Linkage, SynthesisProgress, synthesise
from core.design.search_apart import BetterPoint, CurveTask, ParameterTask, SearchPrepared, SearchSummary, StartBegins
from core.design.starts import MultiStartSearch, SearchListener
from core.errors import KinetostatError
from core.model import Aim

TOLD_EVERY = 0.1
"""Interval between reports of the values that a better machine attains, s."""
MOST_ROWS = 50
"""Number of results for which poses are computed."""


def search_linkages(task: CurveTask, line: TaskConnection) -> tuple[Linkage, ...]:
    """Search linkages together with their curves, so that the receiver need not compute them."""

    def send_progress(progress: SynthesisProgress) -> None:
        if progress.best is not None:
            progress.best.curve()
        line.report(progress)

    line.report_prepared(None)
    found = synthesise(task.target, task.topology, count=task.most, stop=line.should_stop, tell=send_progress)
    for each in found:
        each.curve()
    return found


class ReportingListener(SearchListener):
    """Listener that sends the steps of a search as messages."""

    def __init__(self, line: TaskConnection, design: Design, aim: Aim) -> None:
        self._line, self._design, self._aim = line, design, aim
        self._looked = 0.0

    def on_search_prepared(self, search: MultiStartSearch) -> None:
        """Report that the search is prepared, and how it is done."""
        self._line.report_prepared(SearchPrepared(search.solver, search.reason, search.slope_source))

    def start(self, number: int, x: Array) -> None:
        """Report the initial point of a start."""
        self._line.report(StartBegins(number, x, self._design.values(x)))

    def on_better_point(self, number: int, x: Array, value: float) -> None:
        """Report a better point and, at intervals, the machine's attained values there."""
        values, rows = self._design.values(x), None
        if time.monotonic() - self._looked > TOLD_EVERY:
            self._looked = time.monotonic()
            rows = attained_values(self._design, self._aim, values)
        self._line.report(BetterPoint(number, x.copy(), values, value, rows))

    def on_start_ended(self, row: Row) -> None:
        """Report the result of a start."""
        self._line.report(row)


def attained_values(design: Design, aim: Aim, parameters: Any) -> Array | None:
    """Return the values that a machine attains for prescribed functions or poses, SI."""
    if aim.kind not in ("function", "motion"):
        return None
    try:
        return design.generated(parameters)
    except (KinetostatError, ArithmeticError, ValueError):
        return None


def search_parameters(task: ParameterTask, line: TaskConnection) -> SearchSummary:
    """Execute a parameter search task. Raises KinetostatError."""
    design = design_from_aim(task.model.read(), task.aim, "design")
    hears = ReportingListener(line, design, task.aim)
    found = design.search(
        task.starts, task.solver, task.seed, task.iterations, line.should_stop, hears, before=task.before
    )
    rows = {}
    for row in found.table[:MOST_ROWS]:
        made = attained_values(design, task.aim, row.parameters) if row.state != "failed" else None
        if made is not None:
            rows[row.number] = made
    return summarise_result(found, rows)


def summarise_result(result: OptimisationResult, rows: dict[int, Array]) -> SearchSummary:
    """Strip a result of its model, which can be rebuilt from the table."""
    how = SearchPrepared(result.solver, result.reason, result.slopes)
    return SearchSummary(result.table, how, dict(result.sensitivities), result.alike, rows)

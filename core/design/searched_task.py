"""Execution of a search task in the current process, with a message for each step."""

from __future__ import annotations

import time
from typing import Any

from core.apart.talk import Line
from core.design.asked_designs import design_of_aim
from core.design.design import Design
from core.design.designed import Array, Designed, Row
from core.design.path_synthesis import Linkage, Progress, synthesise
from core.design.search_apart import Begins, Begun, Better, CurveTask, ParameterTask, Summary
from core.design.starts import Listener, MultiStartSearch
from core.errors import KinetostatError
from core.model import Aim

TOLD_EVERY = 0.1
"""Interval between reports of a better machine's attained values, s."""
MOST_ROWS = 50
"""Number of results whose poses are computed."""


def linkages(task: CurveTask, line: Line) -> tuple[Linkage, ...]:
    """Search linkages together with their curves, so that the receiver need not compute them."""

    def hear(now: Progress) -> None:
        if now.best is not None:
            now.best.curve()
        line.tell(now)

    line.begun(None)
    found = synthesise(task.target, task.topology, count=task.most, stop=line.asked, tell=hear)
    for each in found:
        each.curve()
    return found


class ReportingListener(Listener):
    """Listener that sends the steps of a search as messages."""

    def __init__(self, line: Line, design: Design, aim: Aim) -> None:
        self._line, self._design, self._aim = line, design, aim
        self._looked = 0.0

    def begun(self, search: MultiStartSearch) -> None:
        """Report how the search is done."""
        self._line.begun(Begun(search.solver, search.reason, search.slopes))

    def start(self, number: int, x: Array) -> None:
        """Report the initial point of a start."""
        self._line.tell(Begins(number, x, self._design.values(x)))

    def better(self, number: int, x: Array, value: float) -> None:
        """Report a better point and, at intervals, the machine's attained values there."""
        values, rows = self._design.values(x), None
        if time.monotonic() - self._looked > TOLD_EVERY:
            self._looked = time.monotonic()
            rows = generated(self._design, self._aim, values)
        self._line.tell(Better(number, x.copy(), values, value, rows))

    def row(self, row: Row) -> None:
        """Report the result of a start."""
        self._line.tell(row)


def generated(design: Design, aim: Aim, parameters: Any) -> Array | None:
    """Return a machine's attained values for prescribed functions or poses, SI."""
    if aim.kind not in ("function", "motion"):
        return None
    try:
        return design.generated(parameters)
    except (KinetostatError, ArithmeticError, ValueError):
        return None


def searched(task: ParameterTask, line: Line) -> Summary:
    """Execute a parameter search task. Raises KinetostatError."""
    design = design_of_aim(task.model.read(), task.aim, "design")
    hears = ReportingListener(line, design, task.aim)
    found = design.search(task.starts, task.solver, task.seed, task.iterations, line.asked, hears, before=task.before)
    rows = {}
    for row in found.table[:MOST_ROWS]:
        made = generated(design, task.aim, row.parameters) if row.state != "failed" else None
        if made is not None:
            rows[row.number] = made
    return summary(found, rows)


def summary(found: Designed, rows: dict[int, Array]) -> Summary:
    """Strip a result of its model, which can be rebuilt from the table."""
    how = Begun(found.solver, found.reason, found.slopes)
    return Summary(found.table, how, dict(found.sensitivities), found.alike, rows)

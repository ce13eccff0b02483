"""A task of a search, done where it is called, and told step by step."""

from __future__ import annotations

import time
from typing import Any

from core.apart.talk import Line
from core.design.asked_designs import design_of_aim
from core.design.design import Design
from core.design.designed import Array, Designed, Row
from core.design.path_synthesis import Linkage, Progress, synthesise
from core.design.search_tasks import Begins, Begun, Better, CurveTask, ParameterTask, Summary
from core.design.starts import Listener, StartSearch
from core.errors import KinetostatError
from core.model import Aim

TOLD_EVERY = 0.1
"""Seconds between two looks at what a better machine does."""
MOST_ROWS = 50
"""Results whose poses are computed."""


def linkages(task: CurveTask, line: Line) -> tuple[Linkage, ...]:
    """Linkages with their curves, so that nobody else follows them."""

    def hear(now: Progress) -> None:
        if now.best is not None:
            now.best.curve()
        line.tell(now)

    line.begun(None)
    found = synthesise(task.target, task.topology, count=task.most, stop=line.asked, tell=hear)
    for each in found:
        each.curve()
    return found


class Told(Listener):
    """Tells what a search does."""

    def __init__(self, line: Line, design: Design, aim: Aim) -> None:
        self._line, self._design, self._aim = line, design, aim
        self._looked = 0.0

    def begun(self, search: StartSearch) -> None:
        """How it is searched."""
        self._line.begun(Begun(search.solver, search.reason, search.slopes))

    def start(self, number: int, x: Array) -> None:
        """Where a start begins."""
        self._line.tell(Begins(number, x, self._design.values(x)))

    def better(self, number: int, x: Array, value: float) -> None:
        """The point, and now and then what the machine does there."""
        values, rows = self._design.values(x), None
        if time.monotonic() - self._looked > TOLD_EVERY:
            self._looked = time.monotonic()
            rows = generated(self._design, self._aim, values)
        self._line.tell(Better(number, x.copy(), values, value, rows))

    def row(self, row: Row) -> None:
        """What came of a start."""
        self._line.tell(row)


def generated(design: Design, aim: Aim, parameters: Any) -> Array | None:
    """What a machine does where a function or poses are wanted, SI."""
    if aim.kind not in ("function", "motion"):
        return None
    try:
        return design.generated(parameters)
    except (KinetostatError, ArithmeticError, ValueError):
        return None


def searched(task: ParameterTask, line: Line) -> Summary:
    """All that a task asks. Raises KinetostatError."""
    design = design_of_aim(task.model.read(), task.aim, "design")
    hears = Told(line, design, task.aim)
    found = design.search(task.starts, task.solver, task.seed, task.iterations, line.asked, hears, before=task.before)
    rows = {}
    for row in found.table[:MOST_ROWS]:
        made = generated(design, task.aim, row.parameters) if row.state != "failed" else None
        if made is not None:
            rows[row.number] = made
    return summary(found, rows)


def summary(found: Designed, rows: dict[int, Array]) -> Summary:
    """A result without its model, which follows from the table."""
    how = Begun(found.solver, found.reason, found.slopes)
    return Summary(found.table, how, dict(found.sensitivities), found.alike, rows)

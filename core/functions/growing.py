"""Reports in symbols that are shown while they grow, and stop in time: what is there by then is the result."""

from __future__ import annotations

import time
from typing import Any

from core.errors import KinetostatError
from core.functions.context import Cancelled, Context
from core.functions.results import Formulas, Message, Report, Result
from core.functions.subjects.robot_formulas import described, formulas

SHOW_EVERY = 0.3
"""Seconds between two pictures of what is there already."""
WAITING = "…"
"""Stands for entries that are not there yet."""


class OutOfTime(KinetostatError):
    """The time that was given is over."""

    def __init__(self) -> None:
        super().__init__("Out of time.")


class Growing:
    """A report that gets one result of a robot after another.

    seconds : time for all of it; total : how many results there will be
    """

    def __init__(self, context: Context, robot: Any, title: str, seconds: float, total: int) -> None:
        self._context, self._robot = context, robot
        self._title, self._seconds, self._total = title, seconds, total
        self._until = time.monotonic() + seconds
        self._shown = time.monotonic()
        self.parts: list[Result] = []
        self.out_of_time = False
        robot.chain.watch = self._watch

    def _watch(self) -> None:
        """Stop long work between two entries."""
        if self._context.cancelled():
            raise Cancelled
        if time.monotonic() > self._until:
            raise OutOfTime

    def add(self, what: str, *indices: int, done: int = 0) -> Formulas | None:
        """The next result, `done` results after the first; None once the time is over."""
        if self.out_of_time:
            return None
        self._context.step(done, self._total, f"{what} …")
        rows: list[tuple[Any, ...]] = []
        count = self._robot.height(what)
        try:
            for row in self._robot.rows(what, *indices):
                rows.append(row)
                self._grow(what, indices, rows, count, done)
            found = formulas(self._robot, what, *indices)
        except OutOfTime:
            self._stop(what, indices, rows, count)
            return None
        self.parts.append(found)
        self._show(done + 1)
        return found

    def _grow(self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int, done: int) -> None:
        """Tell how far a result has got; show it from time to time."""
        self._context.step(round(100 * (done + len(rows) / count)), 100 * self._total, f"{what} {len(rows)}/{count}")
        if len(rows) < count and time.monotonic() > self._shown + SHOW_EVERY:
            self._show(done, self._unfinished(what, indices, rows, count))

    def _unfinished(self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int) -> Formulas:
        from core.symbolic.forms import Symbol

        missing = (Symbol(WAITING),) * len(rows[0]) if rows else (Symbol(WAITING),)
        return described(self._robot, what, indices, (*rows, *[missing] * (count - len(rows))))

    def _show(self, done: int, *more: Result) -> None:
        self._shown = time.monotonic()
        if done < self._total:
            self._context.show(Report(title=self._title, parts=(*self.parts, *more)))

    def _stop(self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int) -> None:
        self.out_of_time = True
        if rows:
            self.parts.append(self._unfinished(what, indices, rows, count))
        words = (
            f"{self._seconds:g} s were over in {what}, after {len(rows)} of {count} rows. Give more time (what is "
            "derived is kept, so it goes on from here), fewer symbols, or take the recursion as code "
            "(Write equations)."
        )
        self.parts.append(Message(text=words, severity="warning"))

    def report(self) -> Report:
        """All that is there."""
        return Report(title=self._title, parts=tuple(self.parts))

    def result(self) -> Result:
        """The only result by itself; a report if there are more, or if time was over."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Formulas):
            return self.parts[0]
        return self.report()

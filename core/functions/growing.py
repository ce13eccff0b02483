"""Symbolic reports that are shown while they are computed, with a time limit that keeps what has been computed."""

from __future__ import annotations

import time
from typing import Any

from core.errors import KinetostatError
from core.functions.context import Cancelled, Context
from core.functions.results import Formulas, Message, Report, Result
from core.functions.subjects.robot_formulas import described, formulas

SHOW_EVERY = 0.3
"""Least time in seconds between two updates of the partial report."""
WAITING = "…"
"""Placeholder for entries that are not computed yet."""


class TimeLimitReached(KinetostatError):
    """Raised when the time limit has passed."""

    def __init__(self) -> None:
        super().__init__("Out of time.")


class GrowingReport:
    """Report that collects symbolic results of a robot one by one and shows them as they come.

    seconds : time for all of it; total : how many results there will be
    """

    def __init__(self, context: Context, robot: Any, title: str, seconds: float, total: int) -> None:
        self._context, self._robot = context, robot
        self._title, self._seconds, self._total = title, seconds, total
        self._until = time.monotonic() + seconds
        self._shown = time.monotonic()
        self.parts: list[Result] = []
        self.out_of_time = False
        robot.chain.watch = self._check_time_limit

    def _check_time_limit(self) -> None:
        """Interrupt the computation between two entries if it is cancelled or out of time."""
        if self._context.cancelled():
            raise Cancelled
        if time.monotonic() > self._until:
            raise TimeLimitReached

    def add(self, what: str, *indices: int, done: int = 0) -> Formulas | None:
        """Compute one more result and append it; `done` results precede it. Returns None once the time limit has
        passed."""
        if self.out_of_time:
            return None
        self._context.step(done, self._total, f"{what} …")
        rows: list[tuple[Any, ...]] = []
        count = self._robot.height(what)
        try:
            for row in self._robot.rows(what, *indices):
                rows.append(row)
                self._report_rows(what, indices, rows, count, done)
            found = formulas(self._robot, what, *indices)
        except TimeLimitReached:
            self._keep_unfinished(what, indices, rows, count)
            return None
        self.parts.append(found)
        self._show_progress(done + 1)
        return found

    def _report_rows(
        self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int, done: int
    ) -> None:
        """Report the progress of a result, and show its finished rows from time to time."""
        self._context.step(round(100 * (done + len(rows) / count)), 100 * self._total, f"{what} {len(rows)}/{count}")
        if len(rows) < count and time.monotonic() > self._shown + SHOW_EVERY:
            self._show_progress(done, self._unfinished_formulas(what, indices, rows, count))

    def _unfinished_formulas(
        self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int
    ) -> Formulas:
        from core.symbolic.forms import Symbol

        missing = (Symbol(WAITING),) * len(rows[0]) if rows else (Symbol(WAITING),)
        return described(self._robot, what, indices, (*rows, *[missing] * (count - len(rows))))

    def _show_progress(self, done: int, *more: Result) -> None:
        self._shown = time.monotonic()
        if done < self._total:
            self._context.show(Report(title=self._title, parts=(*self.parts, *more)))

    def _keep_unfinished(self, what: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int) -> None:
        self.out_of_time = True
        if rows:
            self.parts.append(self._unfinished_formulas(what, indices, rows, count))
        words = (
            f"{self._seconds:g} s were over in {what}, after {len(rows)} of {count} rows. Give more time (what is "
            "derived is kept, so it goes on from here), fewer symbols, or take the recursion as code "
            "(Write equations)."
        )
        self.parts.append(Message(text=words, severity="warning"))

    def report(self) -> Report:
        """Return a report of everything computed so far."""
        return Report(title=self._title, parts=tuple(self.parts))

    def result(self) -> Result:
        """Return the single result itself, or a report if there are several or the time limit has passed."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Formulas):
            return self.parts[0]
        return self.report()

"""A process that searches for designs, so that a library that crashes or hangs takes no window with it."""

from __future__ import annotations

import faulthandler
import os
import queue
import threading
import time
from typing import IO, Any

from core.design.asked_designs import design_of_aim
from core.design.design import Design
from core.design.designed import Array, Designed, Row
from core.design.search_tasks import Begins, Begun, Better, Say, Summary, Task
from core.design.starts import Listener, StartSearch
from core.errors import KinetostatError
from core.files import loads
from core.model import Aim
from core.piped_process import BROKEN, receive, send, serve

LIVES_EVERY = 0.2
"""Seconds between two signs of life while values are computed."""
STUCK = 120.0
"""Seconds of an iteration after which a process ends by itself, where nobody is there any more to end it."""
IDLE = 600.0
"""Seconds after which a process that nobody asks anything ends."""
TOLD_EVERY = 0.1
"""Seconds between two looks at what a better machine does."""
MOST_ROWS = 50
"""Results whose poses are computed."""


class Line:
    """The line to whoever began the process; it ends with that."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions, self._answers = questions, answers
        self.tasks: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.number = 0
        """Of the task in hand."""
        self._stopped = 0
        """Number of the last task that shall stop."""
        self._go_on = threading.Event()
        self._told = 0.0
        self._nowhere = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                self._heard(*receive(self._questions))
        except BROKEN:
            os._exit(0)  # whatever the search does just now

    def _heard(self, say: Say, number: int, what: Any = None) -> None:
        if say is Say.TASK:
            self.tasks.put((number, what))
        elif say is Say.STOP:
            self._stopped = number
        if say is Say.PAUSE:
            self._go_on.clear()
        else:
            self._go_on.set()

    def tell(self, say: Say, what: Any = None) -> None:
        """Say something."""
        try:
            send(self._answers, (say, self.number, what))
        except OSError:
            os._exit(0)

    def asked(self) -> bool:
        """Whether to stop; waits while paused, and gives a sign of life."""
        if not self._go_on.is_set():
            self.over()
            self._go_on.wait()
        now = time.monotonic()
        if now - self._told > LIVES_EVERY:
            self._told = now
            faulthandler.dump_traceback_later(STUCK, exit=True, file=self._nowhere)
            self.tell(Say.LIVES)
        return self._stopped >= self.number

    def over(self) -> None:
        """Nothing is computed now."""
        faulthandler.cancel_dump_traceback_later()


class Told(Listener):
    """Tells over the line what a search does."""

    def __init__(self, line: Line, design: Design, aim: Aim) -> None:
        self._line, self._design, self._aim = line, design, aim
        self._looked = 0.0

    def begun(self, search: StartSearch) -> None:
        """How it is searched."""
        self._line.tell(Say.BEGUN, Begun(search.solver, search.reason, search.slopes))

    def start(self, number: int, x: Array) -> None:
        """Where a start begins."""
        self._line.tell(Say.START, Begins(number, x, self._design.values(x)))

    def better(self, number: int, x: Array, value: float) -> None:
        """The point, and now and then what the machine does there."""
        values, rows = self._design.values(x), None
        if time.monotonic() - self._looked > TOLD_EVERY:
            self._looked = time.monotonic()
            rows = generated(self._design, self._aim, values)
        self._line.tell(Say.BETTER, Better(number, x.copy(), values, value, rows))

    def row(self, row: Row) -> None:
        """What came of a start."""
        self._line.tell(Say.ROW, row)


def generated(design: Design, aim: Aim, parameters: Any) -> Array | None:
    """What a machine does where a function or poses are wanted, SI."""
    if aim.kind not in ("function", "motion"):
        return None
    try:
        return design.generated(parameters)
    except (KinetostatError, ArithmeticError, ValueError):
        return None


def searched(line: Line, task: Task) -> Summary:
    """All that a task asks. Raises KinetostatError."""
    design = design_of_aim(loads(task.model, origin=task.origin), task.aim, "design")
    listener = Told(line, design, task.aim)
    found = design.search(
        task.starts, task.solver, task.seed, task.iterations, line.asked, listener, before=task.before
    )
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


def main() -> None:
    """Until the other side ends, or asks nothing for long."""
    line = Line(*serve())
    line.tell(Say.READY)
    while True:
        try:
            line.number, task = line.tasks.get(timeout=IDLE)
        except queue.Empty:
            return
        try:
            line.tell(Say.FOUND, searched(line, task))
        except Exception as error:
            line.tell(Say.ERROR, error)
        line.over()


if __name__ == "__main__":
    main()

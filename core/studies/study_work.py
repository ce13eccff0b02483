"""A study under way: chunks are given out, come back, and are kept; whoever asked is told, and may end it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files.sent_model import packed_kinds
from core.kinds import KindError
from core.studies.backends import Backend, Chunk, Dask, Finished, Processes, Serial
from core.studies.declaration import Declaration
from core.studies.row_file import RowFile, Table
from core.studies.sample_rows import DONE, LOST, Machine, Rows

CHUNK = 1.0
"""s that a chunk shall take."""
OWN_CHUNK = 0.1
"""s of a chunk in this thread, which can stop between two."""
CHUNKS_EACH = 4
"""Chunks for each worker at least, so that progress moves and a loss costs little."""
IN_HAND = 2
"""Chunks for each worker that are given out at once."""
POLL = 0.1
"""s between two looks at who wants to stop."""
TRIAL = 3
"""Rows that are computed first, which say what the others cost and bring the machine code into the cache."""
WORTH = 0.5
"""s of work for which other processes are begun: they take longer than that to be ready."""
FIRST_ROWS = 200
"""Of which more than half may not fail without a question."""


class Progress(NamedTuple):
    """done, failed : rows of total; rate : rows/s; left : s; table : all rows so far."""

    done: int
    total: int
    failed: int
    rate: float
    left: float
    table: Table

    def __str__(self) -> str:
        return f"{self.done} of {self.total} rows, {self.failed} failed, {self.rate:.3g} rows/s, {self.left:.3g} s left"


class Asked(NamedTuple):
    """Whom a study tells, and asks: see `Study.run`."""

    progress: Callable[[Progress], object]
    cancelled: Callable[[], bool]
    enough: Callable[[], bool]
    elsewhere: Callable[[FileError], str | None] | None = None
    failing: Callable[[Progress], bool] | None = None


class Work:
    """One study under way."""

    def __init__(
        self, declaration: Declaration, machine: Machine, table: Table, kept: RowFile | None, asked: Asked
    ) -> None:
        self.machine, self.table, self.kept = machine, table, kept
        self.declaration, self.asked = declaration, asked
        self.values = declaration.values()
        self.began, self.before = time.perf_counter(), int(table.done.sum())
        self.cost = 0.0
        """s of a row."""
        self._refused = False
        self._first_done = self.before >= FIRST_ROWS

    @property
    def _over(self) -> bool:
        return self._refused or self.asked.cancelled()

    @property
    def _enough(self) -> bool:
        return self._over or self.asked.enough()

    def go(self, cores: int | Literal["all"], cluster: str | None, aside: bool) -> None:
        """All rows that are not done; those of a machine with a kind that was made in the console are computed here.
        Raises KindError where such a machine is asked of a cluster."""
        left = np.flatnonzero(~self.table.done)
        serial = Serial(self.machine)
        for first in left[:TRIAL]:
            self._take(self._computed(serial, np.array([first])))
            if self._enough:
                return
        left = left[TRIAL:]
        if not len(left):
            return
        workers = max((os.cpu_count() or 2) - 1, 1) if cores == "all" else int(cores)
        backend: Backend = serial
        own = None
        if cluster is not None:
            backend = Dask(self.declaration, cluster, packed_kinds(self.machine.model))
        elif (aside or workers > 1) and self.cost * len(left) > WORTH:
            with contextlib.suppress(KindError):  # of the console: no other process can have it
                kinds = packed_kinds(self.machine.model)
                backend = Processes(self.declaration, workers if aside else workers - 1, kinds)
                own = None if aside else serial
        try:
            self._all(backend, left, own)
        finally:
            backend.close()

    def _computed(self, backend: Serial, places: NDArray[np.int64]) -> Finished:
        backend.submit(Chunk(places, self.values[places]))
        finished = backend.next(0.0)
        assert finished is not None
        return finished

    def _all(self, backend: Backend, left: NDArray[np.int64], own: Serial | None) -> None:
        """own : who computes while others do."""
        at = out = 0
        end = len(left)
        hands = backend.workers + (own is not None)
        while at < end or out:
            size = self._size(end - at, hands, CHUNK, backend.least)
            if isinstance(backend, Serial):
                size = self._size(end - at, hands, OWN_CHUNK)
            while at < end and out < IN_HAND * backend.workers * size:
                places = left[at : min(at + size, end)]
                backend.submit(Chunk(places, self.values[places]))
                at, out = at + len(places), out + len(places)
            finished = backend.next(0.0 if own is not None else POLL)
            if finished is None and own is not None:
                if at < end:
                    places = left[at : at + self._size(end - at, hands, OWN_CHUNK)]
                    at += len(places)
                    self._take(self._computed(own, places))
                else:
                    finished = self._last(backend, own)
            if finished is not None:
                out -= len(finished.chunk.places)
                self._take(finished)
            if self._over:
                return
            if self._enough:
                end = at

    def _last(self, backend: Backend, own: Serial) -> Finished | None:
        """A chunk of those given out, computed here if nobody has begun it: nobody waits for the last ones."""
        chunk = backend.take_back() if isinstance(backend, Processes) else None
        return backend.next(POLL) if chunk is None else self._computed(own, chunk.places)

    def _size(self, left: int, hands: int, seconds: float, least: float = 0.0) -> int:
        """Rows of the next chunk, which takes so many seconds at most and, if there is so much left, at least."""
        wanted, few = (each / self.cost if self.cost > 0.0 else 1.0 for each in (seconds, least))
        return int(max(1, min(wanted, max(few, -(-left // (CHUNKS_EACH * hands))))))

    def _take(self, finished: Finished) -> None:
        if finished.error is not None:
            raise finished.error
        chunk, rows = finished.chunk, finished.rows
        assert rows is not None
        if rows.status[0] == LOST and rows.results.shape[1] != len(self.table.columns):
            rows = Rows(np.full((len(chunk.places), len(self.table.columns)), np.nan), rows.status, rows.messages)
        if finished.seconds:
            cost = finished.seconds / len(chunk.places)
            self.cost = min(self.cost, cost) if len(chunk.places) == 1 and self.cost else cost
        self.table.put(chunk.places, rows)
        if self.kept is not None:
            self._keep(chunk.places, rows)
        self._tell()

    def _tell(self) -> None:
        """How far it is; where most of the first rows failed, whoever asked is asked."""
        done, total = int(self.table.done.sum()), len(self.table.done)
        failed = int((self.table.status[self.table.done] != DONE).sum())
        rate = (done - self.before) / max(time.perf_counter() - self.began, 1e-9)
        progress = Progress(done, total, failed, rate, (total - done) / rate if rate > 0.0 else 0.0, self.table)
        self.asked.progress(progress)
        if not self._first_done and done >= min(FIRST_ROWS, total):
            self._first_done = True
            if self.asked.failing is not None and 2 * failed > done and done < total:
                self._refused = not self.asked.failing(progress)

    def _keep(self, places: NDArray[np.int64], rows: Rows) -> None:
        assert self.kept is not None
        try:
            self.kept.append(places, rows)
            return
        except OSError as error:
            problem = FileError(
                f"The rows cannot be kept: {error.strerror or error}.",
                file=str(self.kept.path),
                remedy="Make room and resume, or name another file.",
            )
        while (other := self.asked.elsewhere(problem) if self.asked.elsewhere is not None else None) is not None:
            try:
                self.kept.move(other)
                return
            except (OSError, FileError) as error:
                problem = FileError(f"The rows cannot be kept: {error}.", file=other, remedy="Name another file.")
        raise problem

"""Execution of a study: chunks of rows are distributed, collected and stored; progress is reported, and the study can
be stopped."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files.sent_model import pack_kinds
from core.kinds import KindError
from core.studies.backends import Backend, Chunk, DaskBackend, FinishedChunk, ProcessBackend, SerialBackend
from core.studies.declaration import Declaration
from core.studies.row_file import RowFile, RowTable
from core.studies.sample_rows import DONE, LOST, Rows, StudyMachine

CHUNK = 1.0
"""Target duration of a chunk, s."""
OWN_CHUNK = 0.1
"""Duration of a chunk in this thread, which can stop only between two chunks, s."""
CHUNKS_EACH = 4
"""Smallest number of chunks per worker, so that progress is visible and a crash costs little."""
IN_HAND = 2
"""Number of chunks submitted to each worker at once."""
POLL = 0.1
"""Interval between checks of a stop request, s."""
TRIAL = 3
"""Number of rows computed first, to estimate the cost and to fill the cache of machine code."""
WORTH = 0.5
"""Estimated work, s, from which starting subprocesses pays off; starting them takes about as long."""
FIRST_ROWS = 200
"""Number of first rows: if more than half of them fail, the user is asked whether to continue."""


class Progress(NamedTuple):
    """Progress of a study. done, failed : of total rows; rate : rows/s; left : remaining time, s; table : all rows so
    far."""

    done: int
    total: int
    failed: int
    rate: float
    left: float
    table: RowTable

    def __str__(self) -> str:
        return f"{self.done} of {self.total} rows, {self.failed} failed, {self.rate:.3g} rows/s, {self.left:.3g} s left"


class StudyCallbacks(NamedTuple):
    """Callbacks of a study: progress, stop request, alternative file, question about failures; see `Study.run`."""

    progress: Callable[[Progress], object]
    cancelled: Callable[[], bool]
    enough: Callable[[], bool]
    elsewhere: Callable[[FileError], str | None] | None = None
    failing: Callable[[Progress], bool] | None = None


class StudyExecution:
    """A study while it is computed."""

    def __init__(
        self,
        declaration: Declaration,
        machine: StudyMachine,
        table: RowTable,
        row_file: RowFile | None,
        callbacks: StudyCallbacks,
    ) -> None:
        self.machine, self.table, self.kept = machine, table, row_file
        self.declaration, self.asked = declaration, callbacks
        self.values = declaration.values()
        self.began, self.before = time.perf_counter(), int(table.done.sum())
        self.cost = 0.0
        """s of a row."""
        self._refused = False
        self._first_done = self.before >= FIRST_ROWS

    @property
    def _is_stopped(self) -> bool:
        return self._refused or self.asked.cancelled()

    @property
    def _should_stop(self) -> bool:
        return self._is_stopped or self.asked.enough()

    def compute_unfinished_rows(self, cores: int | Literal["all"], cluster: str | None, in_background: bool) -> None:
        """Compute all unfinished rows. A machine with a kind defined in the console is computed in this process. Raises
        KindError if such a machine is to be computed by a cluster."""
        left = np.flatnonzero(~self.table.done)
        serial = SerialBackend(self.machine)
        for first in left[:TRIAL]:
            self._store_finished(self._compute_in_thread(serial, np.array([first])))
            if self._should_stop:
                return
        left = left[TRIAL:]
        if not len(left):
            return
        workers = max((os.cpu_count() or 2) - 1, 1) if cores == "all" else int(cores)
        backend: Backend = serial
        own = None
        if cluster is not None:
            backend = DaskBackend(self.declaration, cluster, pack_kinds(self.machine.model))
        elif (in_background or workers > 1) and self.cost * len(left) > WORTH:
            with contextlib.suppress(KindError):  # of the console: no other process can have it
                kinds = pack_kinds(self.machine.model)
                backend = ProcessBackend(self.declaration, workers if in_background else workers - 1, kinds)
                own = None if in_background else serial
        try:
            self._distribute_rows(backend, left, own)
        finally:
            backend.close()

    def _compute_in_thread(self, backend: SerialBackend, row_indices: NDArray[np.int64]) -> FinishedChunk:
        backend.submit(Chunk(row_indices, self.values[row_indices]))
        finished = backend.next_finished_chunk(0.0)
        assert finished is not None
        return finished

    def _distribute_rows(
        self, backend: Backend, unfinished_rows: NDArray[np.int64], local_backend: SerialBackend | None
    ) -> None:
        """Distribute chunks to the workers and collect them; if there is a backend of this thread, it computes
        meanwhile, too."""
        at = out = 0
        end = len(unfinished_rows)
        hands = backend.workers + (local_backend is not None)
        while at < end or out:
            size = self._chunk_size(end - at, hands, CHUNK, backend.least)
            if isinstance(backend, SerialBackend):
                size = self._chunk_size(end - at, hands, OWN_CHUNK)
            while at < end and out < IN_HAND * backend.workers * size:
                places = unfinished_rows[at : min(at + size, end)]
                backend.submit(Chunk(places, self.values[places]))
                at, out = at + len(places), out + len(places)
            finished = backend.next_finished_chunk(0.0 if local_backend is not None else POLL)
            if finished is None and local_backend is not None:
                if at < end:
                    places = unfinished_rows[at : at + self._chunk_size(end - at, hands, OWN_CHUNK)]
                    at += len(places)
                    self._store_finished(self._compute_in_thread(local_backend, places))
                else:
                    finished = self._compute_unstarted(backend, local_backend)
            if finished is not None:
                out -= len(finished.chunk.places)
                self._store_finished(finished)
            if self._is_stopped:
                return
            if self._should_stop:
                end = at

    def _compute_unstarted(self, backend: Backend, local_backend: SerialBackend) -> FinishedChunk | None:
        """Compute in this thread a chunk that is submitted but not started, to avoid waiting for the last chunks."""
        chunk = backend.withdraw_chunk() if isinstance(backend, ProcessBackend) else None
        return (
            backend.next_finished_chunk(POLL) if chunk is None else self._compute_in_thread(local_backend, chunk.places)
        )

    def _chunk_size(self, rows_left: int, worker_count: int, seconds: float, min_seconds: float = 0.0) -> int:
        """Return the number of rows of the next chunk, for at most a given time and, if enough rows are left, at least
        another."""
        wanted, few = (each / self.cost if self.cost > 0.0 else 1.0 for each in (seconds, min_seconds))
        return int(max(1, min(wanted, max(few, -(-rows_left // (CHUNKS_EACH * worker_count))))))

    def _store_finished(self, finished: FinishedChunk) -> None:
        if finished.error is not None:
            raise finished.error
        chunk, rows = finished.chunk, finished.rows
        assert rows is not None
        if rows.status[0] == LOST and rows.results.shape[1] != len(self.table.columns):
            rows = Rows(np.full((len(chunk.places), len(self.table.columns)), np.nan), rows.status, rows.messages)
        if finished.seconds:
            cost = finished.seconds / len(chunk.places)
            self.cost = min(self.cost, cost) if len(chunk.places) == 1 and self.cost else cost
        self.table.store_rows(chunk.places, rows)
        if self.kept is not None:
            self._store_rows(chunk.places, rows)
        self._report_progress()

    def _report_progress(self) -> None:
        """Report progress; if most of the first rows have failed, ask the user whether to continue."""
        done, total = int(self.table.done.sum()), len(self.table.done)
        failed = int((self.table.status[self.table.done] != DONE).sum())
        rate = (done - self.before) / max(time.perf_counter() - self.began, 1e-9)
        progress = Progress(done, total, failed, rate, (total - done) / rate if rate > 0.0 else 0.0, self.table)
        self.asked.progress(progress)
        if not self._first_done and done >= min(FIRST_ROWS, total):
            self._first_done = True
            if self.asked.failing is not None and 2 * failed > done and done < total:
                self._refused = not self.asked.failing(progress)

    def _store_rows(self, row_indices: NDArray[np.int64], rows: Rows) -> None:
        assert self.kept is not None
        try:
            self.kept.append(row_indices, rows)
            return
        except OSError as error:
            problem = FileError(
                f"The rows cannot be saved: {error.strerror or error}.",
                file=str(self.kept.path),
                remedy="Free disk space and resume, or choose another file.",
            )
        while (other := self.asked.elsewhere(problem) if self.asked.elsewhere is not None else None) is not None:
            try:
                self.kept.move(other)
                return
            except (OSError, FileError) as error:
                problem = FileError(f"The rows cannot be saved: {error}.", file=other, remedy="Choose another file.")
        raise problem

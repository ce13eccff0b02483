"""Backends that compute chunks of a study: in this thread, in subprocesses, or on a Dask cluster.

A backend takes chunks and gives finished ones back, in any order. The numbers are the same everywhere: a row depends on
its values alone.
"""

from __future__ import annotations

import queue
import sys
import threading
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.apart.talk import TaskConnection, WorkerTask
from core.apart.work_process import AbandonedTask, LostTask, WorkProcess
from core.errors import KinetostatError, SimulationError
from core.files.followed_files import content_fingerprints
from core.files.formats import reload_model
from core.files.sent_model import NO_KINDS, absolute_path, register_packed_kinds
from core.later import dataclass
from core.model import Model
from core.studies.declaration import Declaration, read_declaration
from core.studies.sample_rows import LOST, Rows, StudyMachine

Array = NDArray[np.float64]
REPLY_SLACK = 30.0
"""Time in s beyond the time limit of its rows after which an unresponsive process is terminated."""
MOST_UNREADY = 3
"""Number of consecutive processes that may end before they are ready; one more aborts the study."""


class Chunk(NamedTuple):
    """Rows to compute: their indices, their values, and the number of processes that crashed on them."""

    places: NDArray[np.int64]
    values: Array
    lost: int = 0


class FinishedChunk(NamedTuple):
    """Finished chunk with its computing time, s, or the error that stopped the backend."""

    chunk: Chunk
    rows: Rows | None
    seconds: float
    error: Exception | None = None


class Backend(Protocol):
    """Interface of backends that compute chunks.

    least : s of work in a chunk, beside which giving it out and taking it back is little
    """

    workers: int
    least: float

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        ...

    def next_finished_chunk(self, timeout: float) -> FinishedChunk | None:
        """Return the next finished chunk; None if there is none within the timeout, s."""
        ...

    def close(self) -> None:
        """Shut down; unstarted chunks are dropped."""
        ...


def compute_chunk(machine: StudyMachine, chunk: Chunk) -> FinishedChunk:
    """Compute a chunk in this thread."""
    import time

    began = time.perf_counter()
    return FinishedChunk(chunk, machine.rows(chunk.values), time.perf_counter() - began)


class SerialBackend:
    """Backend that computes in the calling thread."""

    workers, least = 1, 0.0

    def __init__(self, machine: StudyMachine) -> None:
        self._machine = machine
        self._waiting: list[Chunk] = []

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._waiting.append(chunk)

    def next_finished_chunk(self, timeout: float) -> FinishedChunk | None:
        """Compute the next chunk in this thread and return it."""
        return compute_chunk(self._machine, self._waiting.pop(0)) if self._waiting else None

    def close(self) -> None:
        """Do nothing, as there is nothing to shut down."""
        self._waiting.clear()


class ProcessBackend:
    """Backend of subprocesses with low priority, each with a single thread for linear algebra. kinds : packed
    user-defined kinds that the machine uses"""

    least = 0.0

    def __init__(self, declaration: Declaration, workers: int, kinds: bytes = NO_KINDS) -> None:
        self.workers = workers
        self._declaration, self._kinds = declaration, kinds
        self._chunks: queue.SimpleQueue[Chunk | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[FinishedChunk] = queue.SimpleQueue()
        self._ends = self._lost = False
        self._unready = 0
        self._processes = [WorkProcess() for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._run_process, args=(each,), daemon=True) for each in self._processes
        ]
        for thread in self._threads:
            thread.start()

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the live processes."""
        return [each.process_id for each in self._processes if each.process_id is not None]

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._chunks.put(chunk)

    def next_finished_chunk(self, timeout: float) -> FinishedChunk | None:
        """Return the next finished chunk."""
        try:
            return self._finished.get(timeout=timeout)
        except queue.Empty:
            return None

    def withdraw_chunk(self) -> Chunk | None:
        """Withdraw a chunk that no process has started; None if all are started, or if a row has crashed a process."""
        try:
            return None if self._lost else self._chunks.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """End all processes."""
        self._ends = True
        for _ in self._threads:
            self._chunks.put(None)
        for each in self._processes:
            each.close()
        for thread in self._threads:
            thread.join(timeout=5.0)

    def _run_process(self, process: WorkProcess) -> None:
        """Run one process and restart it after a crash; if no process can start, end the study."""
        text = replace(self._declaration, origin=absolute_path(self._declaration.origin)).text
        while not self._ends and (chunk := self._chunks.get()) is not None:
            process.silence = self._declaration.limit * (len(chunk.places) + 1) + REPLY_SLACK
            try:
                answer = process.run_task(ChunkTask(text, self._kinds, chunk), lambda: self._ends)
            except OSError as error:
                self._finished.put(FinishedChunk(chunk, None, 0.0, _make_process_error(str(error.strerror or error))))
                return
            except Exception as error:
                self._finished.put(FinishedChunk(chunk, None, 0.0, error))
                continue
            if isinstance(answer, AbandonedTask):
                return
            if not isinstance(answer, LostTask):
                self._finished.put(answer)
                continue
            self._unready = 0 if answer.ready else self._unready + 1
            if self._unready >= MOST_UNREADY:
                self._finished.put(FinishedChunk(chunk, None, 0.0, _make_process_error(f"a process {answer.how}")))
                return
            if answer.ready:
                self._requeue_in_halves(chunk)
            else:  # no row has to do with it
                self._chunks.put(chunk)

    def _requeue_in_halves(self, chunk: Chunk) -> None:
        """Split the rows of a crashed process in halves and queue them again; a single row that crashes repeatedly
        counts as failed."""
        self._lost = True
        for half in split_chunk_in_halves(chunk):
            if len(half.places) == 1 and half.lost > 2:
                self._finished.put(FinishedChunk(half, failure_rows(half), 0.0))
            else:
                self._chunks.put(half)


@dataclass(frozen=True)
class ChunkTask(WorkerTask):
    """Task of a subprocess: compute a chunk. text, kinds : declaration with an absolute path of its model, and packed
    user-defined kinds"""

    text: str
    kinds: bytes
    chunk: Chunk

    def execute(self, line: TaskConnection) -> FinishedChunk:
        return compute_chunk(_load_machine(self.text, self.kinds), self.chunk)


def _make_process_error(reason: str) -> SimulationError:
    return SimulationError(
        f"No process of the study could be started: {reason}.",
        where="study",
        remedy="Fix the cause, or compute with one core.",
    )


def split_chunk_in_halves(chunk: Chunk) -> list[Chunk]:
    """Split a chunk that crashed a process in two halves, to be computed again."""
    n = len(chunk.places)
    if n == 1:
        return [chunk._replace(lost=chunk.lost + 1)]
    parts = (slice(0, n // 2), slice(n // 2, n))
    return [Chunk(chunk.places[part], chunk.values[part], chunk.lost if n > 2 else 1) for part in parts]


def failure_rows(chunk: Chunk) -> Rows:
    """Return the result that marks a row as failed because it crashes processes."""
    said = {0: ("The process computing this row crashed three times.", "")}
    return Rows(np.full((1, 0), np.nan), np.array([LOST], dtype=np.int8), said)


# ------------------------------------------------------------------------------------------------ Dask


def _load_machine(declaration_text: str, packed_kinds: bytes) -> StudyMachine:
    """Return the machine of a declaration; it is rebuilt if its files have changed."""
    return _cached_machine(
        declaration_text, packed_kinds, content_fingerprints(_load_model(declaration_text, packed_kinds))
    )


@lru_cache(maxsize=2)
def _cached_machine(declaration_text: str, packed_kinds: bytes, _contents: tuple[str, ...]) -> StudyMachine:
    return StudyMachine(read_declaration(declaration_text))


@lru_cache(maxsize=2)
def _load_model(declaration_text: str, packed_kinds: bytes) -> Model:
    register_packed_kinds(packed_kinds)
    declared = read_declaration(declaration_text)
    return reload_model(declared.model, declared.origin)


def compute_on_worker(declaration_text: str, packed_kinds: bytes, row_indices: Array, values: Array) -> Any:
    """Compute a chunk on a worker of a cluster; errors are returned as objects."""
    try:
        found = compute_chunk(
            _load_machine(declaration_text, packed_kinds), Chunk(np.asarray(row_indices), np.asarray(values))
        )
        return found.rows, found.seconds
    except KinetostatError as error:
        return error, 0.0


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that influence numerical results."""
    import casadi
    import llvmlite
    import scipy

    python = ".".join(map(str, sys.version_info[:2]))
    found = {"Python": python, "CasADi": casadi.__version__, "llvmlite": llvmlite.__version__}
    return {**found, "NumPy": np.__version__, "SciPy": scipy.__version__}


class DaskBackend:
    """Backend of a `distributed` cluster, given by the address of its scheduler. kinds : as in `ProcessBackend`"""

    least = 0.15
    WAIT = 10.0
    """Timeout of the connection to a scheduler, s."""

    def __init__(self, declaration: Declaration, address: str, kinds: bytes = NO_KINDS) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise SimulationError(
                "Clusters need the package 'distributed'.", where="cluster", remedy="Install kinetostat[cluster]."
            ) from None
        self._text, self._kinds = declaration.text, kinds
        try:
            make: Any = Client
            self._client: Any = make(address, timeout=self.WAIT, set_as_default=False)
            there = self._client.run(package_versions)
        except (OSError, TimeoutError, ValueError, ImportError) as error:
            raise SimulationError(
                f"The scheduler at {address} cannot be used: {error}.",
                where="cluster",
                remedy="Start it with 'dask scheduler' and workers with 'dask worker ADDRESS', or compute here.",
            ) from None
        here = package_versions()
        for worker, found in there.items():
            if found != here:
                said = ", ".join(
                    f"{name} {found.get(name)} (here {here[name]})" for name in here if found.get(name) != here[name]
                )
                raise SimulationError(
                    f"The worker {worker} has different package versions: {said}.",
                    where="cluster",
                    remedy="Install the same versions there.",
                )
        if not there:
            raise SimulationError(
                f"The cluster at {address} has no workers.",
                where="cluster",
                remedy=f"Start some with 'dask worker {address}', or compute here.",
            )
        self.workers = sum(each["nthreads"] for each in self._client.scheduler_info(n_workers=-1)["workers"].values())
        self._finished: queue.SimpleQueue[FinishedChunk] = queue.SimpleQueue()
        self._futures: dict[Any, Chunk] = {}

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        what = (self._text, self._kinds, chunk.places, chunk.values)
        future: Any = self._client.submit(compute_on_worker, *what, pure=False)
        self._futures[future] = chunk
        future.add_done_callback(self._on_finished)

    def _on_finished(self, future: Any) -> None:
        chunk = self._futures.pop(future, None)
        if chunk is None:
            return
        try:
            rows, seconds = future.result()
        except BaseException as error:
            from distributed.scheduler import KilledWorker

            if isinstance(error, KilledWorker):
                for half in split_chunk_in_halves(chunk):
                    if len(half.places) == 1 and half.lost > 2:
                        self._finished.put(FinishedChunk(half, failure_rows(half), 0.0))
                    else:
                        self.submit(half)
                return
            self._finished.put(FinishedChunk(chunk, None, 0.0, _make_cluster_error(error)))
            return
        wrong = rows if isinstance(rows, Exception) else None
        self._finished.put(FinishedChunk(chunk, None if wrong else rows, seconds, wrong))

    def next_finished_chunk(self, timeout: float) -> FinishedChunk | None:
        """Return the next finished chunk."""
        try:
            return self._finished.get(timeout=timeout)
        except queue.Empty:
            if self._client.status not in ("running", "connecting"):
                nothing = Chunk(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
                return FinishedChunk(nothing, None, 0.0, _make_cluster_error(self._client.status))
            return None

    def close(self) -> None:
        """Drop chunks that have not started, and disconnect from the cluster."""
        futures, self._futures = list(self._futures), {}
        if self._client.status == "running":
            self._client.cancel(futures, force=True)
        self._client.close(timeout=2.0)


def _make_cluster_error(reason: object) -> SimulationError:
    return SimulationError(
        f"The cluster can no longer be reached ({reason}).",
        where="cluster",
        remedy="Resume there, or on this computer.",
    )

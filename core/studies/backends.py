"""Where chunks of a study are computed: here, in processes of this computer, or on a Dask cluster.

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

from core.apart.talk import Line, Task
from core.apart.work_process import Left, Lost, WorkProcess
from core.errors import KinetostatError, SimulationError
from core.files.contents import contents_of
from core.files.formats import loaded_again
from core.files.sent_model import NO_KINDS, absolute, register_packed
from core.later import dataclass
from core.model import Model
from core.studies.declaration import Declaration, read_declaration
from core.studies.sample_rows import LOST, Machine, Rows

Array = NDArray[np.float64]
REPLY_SLACK = 30.0
"""s more than its rows may take until a process that says nothing is ended."""
MOST_UNREADY = 3
"""Processes, one after another, that may end before they are ready: then none can work here."""


class Chunk(NamedTuple):
    """Rows to compute: their places, their values; how often a process was lost over it."""

    places: NDArray[np.int64]
    values: Array
    lost: int = 0


class Finished(NamedTuple):
    """A chunk that is done, and the seconds it took; or what went wrong with all of the backend."""

    chunk: Chunk
    rows: Rows | None
    seconds: float
    error: Exception | None = None


class Backend(Protocol):
    """Takes chunks, gives them back.

    least : s of work in a chunk, beside which giving it out and taking it back is little
    """

    workers: int
    least: float

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        ...

    def next(self, timeout: float) -> Finished | None:
        """The next that is done; None: none within the time, s."""
        ...

    def close(self) -> None:
        """End; chunks not begun are dropped."""
        ...


def compute(machine: Machine, chunk: Chunk) -> Finished:
    """A chunk, here."""
    import time

    began = time.perf_counter()
    return Finished(chunk, machine.rows(chunk.values), time.perf_counter() - began)


class Serial:
    """In this thread."""

    workers, least = 1, 0.0

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._waiting: list[Chunk] = []

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        self._waiting.append(chunk)

    def next(self, timeout: float) -> Finished | None:
        """Compute the next."""
        return compute(self._machine, self._waiting.pop(0)) if self._waiting else None

    def close(self) -> None:
        """Nothing is left."""
        self._waiting.clear()


class Processes:
    """Processes of this computer, of low priority, with one thread of linear algebra each. kinds : packed, those that
    people have added and the machine names"""

    least = 0.0

    def __init__(self, declaration: Declaration, workers: int, kinds: bytes = NO_KINDS) -> None:
        self.workers = workers
        self._declaration, self._kinds = declaration, kinds
        self._chunks: queue.SimpleQueue[Chunk | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._ends = self._lost = False
        self._unready = 0
        self._processes = [WorkProcess() for _ in range(workers)]
        self._threads = [threading.Thread(target=self._serve, args=(each,), daemon=True) for each in self._processes]
        for thread in self._threads:
            thread.start()

    @property
    def process_ids(self) -> list[int]:
        """Of the processes that live."""
        return [each.id for each in self._processes if each.id is not None]

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        self._chunks.put(chunk)

    def next(self, timeout: float) -> Finished | None:
        """The next that is done."""
        try:
            return self._finished.get(timeout=timeout)
        except queue.Empty:
            return None

    def take_back(self) -> Chunk | None:
        """A chunk that no process has begun; None: all are, or some row has ended a process."""
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

    def _serve(self, process: WorkProcess) -> None:
        """One process, begun again where it is lost; where none gets ready, that ends the study."""
        text = replace(self._declaration, origin=absolute(self._declaration.origin)).text
        while not self._ends and (chunk := self._chunks.get()) is not None:
            process.silence = self._declaration.limit * (len(chunk.places) + 1) + REPLY_SLACK
            try:
                answer = process.ask(ChunkTask(text, self._kinds, chunk), lambda: self._ends)
            except OSError as error:
                self._finished.put(Finished(chunk, None, 0.0, _no_process(str(error.strerror or error))))
                return
            except Exception as error:
                self._finished.put(Finished(chunk, None, 0.0, error))
                continue
            if isinstance(answer, Left):
                return
            if not isinstance(answer, Lost):
                self._finished.put(answer)
                continue
            self._unready = 0 if answer.ready else self._unready + 1
            if self._unready >= MOST_UNREADY:
                self._finished.put(Finished(chunk, None, 0.0, _no_process(f"a process {answer.how}")))
                return
            if answer.ready:
                self._again(chunk)
            else:  # no row has to do with it
                self._chunks.put(chunk)

    def _again(self, chunk: Chunk) -> None:
        """Give the rows of a lost process to others, by halves; a row lost twice alone is a row that failed."""
        self._lost = True
        for half in halves(chunk):
            if len(half.places) == 1 and half.lost > 2:
                self._finished.put(Finished(half, lost_rows(half), 0.0))
            else:
                self._chunks.put(half)


@dataclass(frozen=True)
class ChunkTask(Task):
    """A chunk for a process. text, kinds : of the declaration, with an absolute origin, and packed"""

    text: str
    kinds: bytes
    chunk: Chunk

    def done(self, line: Line) -> Finished:
        return compute(_machine(self.text, self.kinds), self.chunk)


def _no_process(why: str) -> SimulationError:
    return SimulationError(
        f"No process of the study gets ready to work: {why}.",
        where="study",
        remedy="Mend what it names, or compute with one core.",
    )


def halves(chunk: Chunk) -> list[Chunk]:
    """A chunk that was lost, to be tried again by halves."""
    n = len(chunk.places)
    if n == 1:
        return [chunk._replace(lost=chunk.lost + 1)]
    parts = (slice(0, n // 2), slice(n // 2, n))
    return [Chunk(chunk.places[part], chunk.values[part], chunk.lost if n > 2 else 1) for part in parts]


def lost_rows(chunk: Chunk) -> Rows:
    """What is left of a row over which processes end."""
    said = {0: ("The process that computed it ended, three times.", "")}
    return Rows(np.full((1, 0), np.nan), np.array([LOST], dtype=np.int8), said)


# ------------------------------------------------------------------------------------------------ Dask


def _machine(text: str, kinds: bytes) -> Machine:
    """The machine of a declaration, whose files may have changed since it was made."""
    return _made(text, kinds, contents_of(_model(text, kinds)))


@lru_cache(maxsize=2)
def _made(text: str, kinds: bytes, _contents: tuple[str, ...]) -> Machine:
    return Machine(read_declaration(text))


@lru_cache(maxsize=2)
def _model(text: str, kinds: bytes) -> Model:
    register_packed(kinds)
    declared = read_declaration(text)
    return loaded_again(declared.model, declared.origin)


def compute_there(text: str, kinds: bytes, places: Array, values: Array) -> Any:
    """A chunk, on a worker of a cluster; what goes wrong comes back as an object."""
    try:
        found = compute(_machine(text, kinds), Chunk(np.asarray(places), np.asarray(values)))
        return found.rows, found.seconds
    except KinetostatError as error:
        return error, 0.0


def versions() -> dict[str, str]:
    """Of what numbers depend on."""
    import casadi
    import llvmlite
    import scipy

    python = ".".join(map(str, sys.version_info[:2]))
    found = {"Python": python, "CasADi": casadi.__version__, "llvmlite": llvmlite.__version__}
    return {**found, "NumPy": np.__version__, "SciPy": scipy.__version__}


class Dask:
    """A cluster of `distributed`, by the address of its scheduler. kinds : as of `Processes`"""

    least = 0.15
    WAIT = 10.0
    """s until a scheduler has answered."""

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
            there = self._client.run(versions)
        except (OSError, TimeoutError, ValueError, ImportError) as error:
            raise SimulationError(
                f"The scheduler at {address} cannot be used: {error}.",
                where="cluster",
                remedy="Start it with 'dask scheduler' and workers with 'dask worker ADDRESS', or compute here.",
            ) from None
        here = versions()
        for worker, found in there.items():
            if found != here:
                said = ", ".join(
                    f"{name} {found.get(name)} (here {here[name]})" for name in here if found.get(name) != here[name]
                )
                raise SimulationError(
                    f"The worker {worker} has other versions: {said}.",
                    where="cluster",
                    remedy="Install the same there.",
                )
        if not there:
            raise SimulationError(
                f"The cluster at {address} has no workers.",
                where="cluster",
                remedy=f"Start some with 'dask worker {address}', or compute here.",
            )
        self.workers = sum(each["nthreads"] for each in self._client.scheduler_info(n_workers=-1)["workers"].values())
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._futures: dict[Any, Chunk] = {}

    def submit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        what = (self._text, self._kinds, chunk.places, chunk.values)
        future: Any = self._client.submit(compute_there, *what, pure=False)
        self._futures[future] = chunk
        future.add_done_callback(self._done)

    def _done(self, future: Any) -> None:
        chunk = self._futures.pop(future, None)
        if chunk is None:
            return
        try:
            rows, seconds = future.result()
        except BaseException as error:
            from distributed.scheduler import KilledWorker

            if isinstance(error, KilledWorker):
                for half in halves(chunk):
                    if len(half.places) == 1 and half.lost > 2:
                        self._finished.put(Finished(half, lost_rows(half), 0.0))
                    else:
                        self.submit(half)
                return
            self._finished.put(Finished(chunk, None, 0.0, _unreachable(error)))
            return
        wrong = rows if isinstance(rows, Exception) else None
        self._finished.put(Finished(chunk, None if wrong else rows, seconds, wrong))

    def next(self, timeout: float) -> Finished | None:
        """The next that is done."""
        try:
            return self._finished.get(timeout=timeout)
        except queue.Empty:
            if self._client.status not in ("running", "connecting"):
                nothing = Chunk(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
                return Finished(nothing, None, 0.0, _unreachable(self._client.status))
            return None

    def close(self) -> None:
        """Drop what was not begun, and leave the cluster."""
        futures, self._futures = list(self._futures), {}
        if self._client.status == "running":
            self._client.cancel(futures, force=True)
        self._client.close(timeout=2.0)


def _unreachable(why: object) -> SimulationError:
    return SimulationError(
        f"The cluster cannot be reached any more ({why}).", where="cluster", remedy="Resume there, or on this computer."
    )

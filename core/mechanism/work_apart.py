"""Running work on a machine in a worker process, for tasks that block other threads or might crash.

What comes of it may hold the machine: it travels without, and is here that of whoever asked.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from core.apart.talk import LocalConnection, TaskConnection, WorkerTask
from core.apart.work_process import AbandonedTask, LostTask, WorkProcess
from core.errors import KinetostatError, SimulationError
from core.files.sent_model import PackedModel
from core.kinds import KindError
from core.later import dataclass
from core.mechanism.mechanism import Mechanism

Work = Callable[[Mechanism, TaskConnection], Any]
"""A module-level function, or `functools.partial` of one; its arguments may contain the machine."""
MACHINE, MODEL = "machine", "model"


class WorkStoppedError(Exception):
    """Error for work that was terminated because it did not stop in time."""


@dataclass(frozen=True)
class MachineTask(WorkerTask):
    """Task that works on the machine of a model; work : pickled"""

    model: PackedModel
    work: bytes
    patience: float = WorkerTask.patience

    def execute(self, line: TaskConnection) -> bytes:
        mech = _cached_machine(self.model)
        work: Work = _unpickle_with_machine(self.work, mech)
        try:
            return _pickle_without_machine((work(mech, _PicklingConnection(line, mech)), None), mech)
        except KinetostatError as error:  # which may hold a run of the machine
            return _pickle_without_machine((None, error), mech)


def run_in_worker(
    process: WorkProcess,
    mech: Mechanism,
    work: Work,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    hear: Callable[[Any], object] = lambda _: None,
    patience: float = WorkerTask.patience,
) -> Any:
    """Return the result of work(mech, line), computed in a worker process; in this process if the machine has a kind
    defined in the console.

    cancelled : polled; hear : receives reports of the work; patience : s after which work that
    should stop is terminated. Raises errors of the work, WorkStoppedError if terminated, SimulationError if the process
    ends unexpectedly or cannot be started.
    """
    try:
        task = MachineTask(PackedModel.of(mech.model), _pickle_without_machine(work, mech), patience)
    except KindError:
        return work(mech, LocalConnection(hear, cancelled))
    try:
        found = process.run_task(task, cancelled, lambda what: hear(_unpickle_with_machine(what, mech)))
    except OSError as error:
        raise _worker_error(f"The worker process could not be started: {error.strerror or error}.") from None
    if isinstance(found, AbandonedTask):
        raise WorkStoppedError
    if isinstance(found, LostTask):
        raise _worker_error(f"The worker process {found.how}.")
    result, raised = _unpickle_with_machine(found, mech)
    if raised is not None:
        raise raised
    return result


def prepare_worker(process: WorkProcess, mech: Mechanism) -> None:
    """Start a process and build the machine in it, in a thread, before it is needed; failures are reported by the work
    that follows."""

    def start_worker() -> None:
        with contextlib.suppress(KinetostatError, OSError):
            process.run_task(
                MachineTask(PackedModel.of(mech.model), _pickle_without_machine(_do_nothing, mech)), lambda: False
            )

    if not process.is_busy:
        threading.Thread(target=start_worker, daemon=True).start()


def _do_nothing(mech: Mechanism, connection: TaskConnection) -> None:
    pass


def _worker_error(reason: str) -> SimulationError:
    return SimulationError(
        reason, where="calculation", remedy="Try again, or run it from a script, in its own process."
    )


@lru_cache(maxsize=1)
def _cached_machine(sent_model: PackedModel) -> Mechanism:
    """The machine of a model; the most recent one is cached."""
    return Mechanism(sent_model.read())


class _PicklingConnection(TaskConnection):
    """Connection that pickles reports without the machine."""

    def __init__(self, connection: TaskConnection, mech: Mechanism) -> None:
        self._line, self._mech = connection, mech

    def should_stop(self) -> bool:
        return self._line.should_stop()

    def report_prepared(self, details: Any) -> None:
        self._line.report_prepared(_pickle_without_machine(details, self._mech))

    def report(self, content: Any) -> None:
        self._line.report(_pickle_without_machine(content, self._mech))


def _pickle_without_machine(content: Any, mech: Mechanism) -> bytes:
    """Pickle an object with references in place of the machine and its model."""
    named = {id(mech): MACHINE, id(mech.model): MODEL}

    class MachinePickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> str | None:
            return named.get(id(obj))

    out = io.BytesIO()
    MachinePickler(out, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return out.getvalue()


def _unpickle_with_machine(content: bytes, mech: Mechanism) -> Any:
    """Unpickle an object, with references resolved to the given machine."""
    named = {MACHINE: mech, MODEL: mech.model}

    class MachineUnpickler(pickle.Unpickler):
        def persistent_load(self, name: str) -> Any:
            return named[name]

    return MachineUnpickler(io.BytesIO(content)).load()

"""Work on a machine in a worker process, for tasks that block other threads or might crash.

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

from core.apart.talk import Here, Line, Task
from core.apart.work_process import Left, Lost, WorkProcess
from core.errors import KinetostatError, SimulationError
from core.files.sent_model import SentModel
from core.kinds import KindError
from core.later import dataclass
from core.mechanism.mechanism import Mechanism

Work = Callable[[Mechanism, Line], Any]
"""A module-level function, or `functools.partial` of one; its arguments may contain the machine."""
MACHINE, MODEL = "machine", "model"


class Stopped(Exception):
    """Work that was ended because it did not stop in time."""


@dataclass(frozen=True)
class MachineTask(Task):
    """Task that works on the machine of a model; work : pickled"""

    model: SentModel
    work: bytes
    patience: float = Task.patience

    def done(self, line: Line) -> bytes:
        mech = _latest_machine(self.model)
        work: Work = _unpickled(self.work, mech)
        try:
            return _pickled((work(mech, _PicklingLine(line, mech)), None), mech)
        except KinetostatError as error:  # which may hold a run of the machine
            return _pickled((None, error), mech)


def work_apart(
    process: WorkProcess,
    mech: Mechanism,
    work: Work,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    hear: Callable[[Any], object] = lambda _: None,
    patience: float = Task.patience,
) -> Any:
    """Result of work(mech, line), computed in a worker process; in this process if the machine has a kind defined in
    the console.

    cancelled : asked again and again; hear : hears what the work tells meanwhile; patience : s after which work that
    shall stop is ended. Raises what the work raises, Stopped where it was ended, and SimulationError where the process
    ends unexpectedly or none can begin.
    """
    try:
        task = MachineTask(SentModel.of(mech.model), _pickled(work, mech), patience)
    except KindError:
        return work(mech, Here(hear, cancelled))
    try:
        found = process.ask(task, cancelled, lambda what: hear(_unpickled(what, mech)))
    except OSError as error:
        raise _worker_error(f"The worker process could not be started: {error.strerror or error}.") from None
    if isinstance(found, Left):
        raise Stopped
    if isinstance(found, Lost):
        raise _worker_error(f"The worker process {found.how}.")
    result, raised = _unpickled(found, mech)
    if raised is not None:
        raise raised
    return result


def prepare_worker(process: WorkProcess, mech: Mechanism) -> None:
    """Start a process and build the machine in it, in a thread, ahead of likely work; failures are reported by that
    work."""

    def work() -> None:
        with contextlib.suppress(KinetostatError, OSError):
            process.ask(MachineTask(SentModel.of(mech.model), _pickled(_no_work, mech)), lambda: False)

    if not process.busy:
        threading.Thread(target=work, daemon=True).start()


def _no_work(mech: Mechanism, line: Line) -> None:
    pass


def _worker_error(why: str) -> SimulationError:
    return SimulationError(why, where="calculation", remedy="Try again, or run it from a script, in its own process.")


@lru_cache(maxsize=1)
def _latest_machine(sent: SentModel) -> Mechanism:
    """The machine of a model; the last one is cached."""
    return Mechanism(sent.read())


class _PicklingLine(Line):
    """Connection that pickles reports without the machine."""

    def __init__(self, line: Line, mech: Mechanism) -> None:
        self._line, self._mech = line, mech

    def asked(self) -> bool:
        return self._line.asked()

    def begun(self, what: Any) -> None:
        self._line.begun(_pickled(what, self._mech))

    def tell(self, what: Any) -> None:
        self._line.tell(_pickled(what, self._mech))


def _pickled(what: Any, mech: Mechanism) -> bytes:
    """The object pickled with references in place of the machine and its model."""
    named = {id(mech): MACHINE, id(mech.model): MODEL}

    class Packer(pickle.Pickler):
        def persistent_id(self, obj: Any) -> str | None:
            return named.get(id(obj))

    out = io.BytesIO()
    Packer(out, protocol=pickle.HIGHEST_PROTOCOL).dump(what)
    return out.getvalue()


def _unpickled(content: bytes, mech: Mechanism) -> Any:
    """The unpickled object, with references resolved to the machine given."""
    named = {MACHINE: mech, MODEL: mech.model}

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, name: str) -> Any:
            return named[name]

    return Unpacker(io.BytesIO(content)).load()

"""Messages between the program and its worker processes: pickled objects on standard input and output.

Both sides are this program, so that objects go as pickles; what files hold goes as text, which carries no code. Such a
process has a low priority and one thread of linear algebra, and ends when its input does.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import signal
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum, auto
from typing import IO, Any, ClassVar, NamedTuple


class MessageKind(Enum):
    """Kinds of messages. To the worker: task, stop, pause, continue. From it: ready, heartbeat, task prepared,
    intermediate report, result, error."""

    TASK = auto()
    STOP = auto()
    PAUSE = auto()
    GO_ON = auto()
    READY = auto()
    LIVES = auto()
    BEGUN = auto()
    TOLD = auto()
    FOUND = auto()
    ERROR = auto()


class Progress(NamedTuple):
    """Progress of a task: fraction 0 … 1 and text."""

    fraction: float
    text: str = ""


class TaskConnection(ABC):
    """Connection of a running task to its caller."""

    @abstractmethod
    def should_stop(self) -> bool:
        """Return True if the task should stop; blocks while the task is paused, and sends a heartbeat."""

    @abstractmethod
    def report_prepared(self, details: Any) -> None:
        """Report that the preparation is complete, with details."""

    @abstractmethod
    def report(self, content: Any) -> None:
        """Send an intermediate report."""


class LocalConnection(TaskConnection):
    """Connection of a task that runs in the caller's own process. on_report : receives reports; cancelled : returns
    True to stop"""

    def __init__(self, on_report: Callable[[Any], object], cancelled: Callable[[], bool]) -> None:
        self._hear, self._cancelled = on_report, cancelled

    def should_stop(self) -> bool:
        return self._cancelled()

    def report_prepared(self, details: Any) -> None:
        self._hear(details)

    def report(self, content: Any) -> None:
        self._hear(content)


class WorkerTask(ABC):
    """Work for a worker process: plain, picklable data.

    silence, preparing : s without a heartbeat after which the process is killed, once the task is prepared and before
    patience : s after a stop request after which the process is killed
    """

    silence: ClassVar[float] = math.inf
    preparing: ClassVar[float] = math.inf
    patience: float = 0.2

    @abstractmethod
    def execute(self, connection: TaskConnection) -> Any:
        """Perform the work and return its result. Raises its exceptions."""


LENGTH = struct.Struct("<Q")
BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""Errors that `send` and `receive_object` raise if the other side has ended."""


def open_worker_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the input and output streams of a worker process, for use inside it."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # words of libraries are no answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it says when it ends
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    return sys.stdin.buffer, answers


def send_object(stream: IO[bytes], message: Any) -> None:
    """Write an object. Raises OSError if the other side has ended."""
    content = pickle.dumps(message)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive_object(stream: IO[bytes]) -> Any:
    """Read an object. Raises EOFError if the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)

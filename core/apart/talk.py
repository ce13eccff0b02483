"""Messages between the program and its worker processes: pickled objects on standard input, answers on standard output.

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


class Say(Enum):
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


class Line(ABC):
    """Connection of a running task to its caller."""

    @abstractmethod
    def asked(self) -> bool:
        """Return True if the task should stop; waits while paused, and sends a heartbeat."""

    @abstractmethod
    def begun(self, what: Any) -> None:
        """Report that preparation is complete, with details."""

    @abstractmethod
    def tell(self, what: Any) -> None:
        """Send an intermediate report."""


class Here(Line):
    """Connection of a task that runs in the caller's own process. hear : receives reports; cancelled : returns True to
    stop"""

    def __init__(self, hear: Callable[[Any], object], cancelled: Callable[[], bool]) -> None:
        self._hear, self._cancelled = hear, cancelled

    def asked(self) -> bool:
        return self._cancelled()

    def begun(self, what: Any) -> None:
        self._hear(what)

    def tell(self, what: Any) -> None:
        self._hear(what)


class Task(ABC):
    """Work for a worker process: plain, picklable data.

    silence, preparing : s without a sign of life, once all is prepared and before, after which the process is ended
    patience : s after Stop, after which it is
    """

    silence: ClassVar[float] = math.inf
    preparing: ClassVar[float] = math.inf
    patience: float = 0.2

    @abstractmethod
    def done(self, line: Line) -> Any:
        """Result of the work. Raises its exceptions."""


LENGTH = struct.Struct("<Q")
BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""Errors that `send` and `receive` raise if the other side has ended."""


def serve() -> tuple[IO[bytes], IO[bytes]]:
    """Input and output streams of a worker process, for use inside it."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # words of libraries are no answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it says when it ends
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    return sys.stdin.buffer, answers


def send(stream: IO[bytes], what: Any) -> None:
    """Write an object. Raises OSError if the other side has ended."""
    content = pickle.dumps(what)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read an object. Raises EOFError if the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)

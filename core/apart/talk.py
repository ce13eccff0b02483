"""What is said between the program and a process that works for it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, ClassVar, NamedTuple


class Say(Enum):
    """To the process: a task, stop it, wait, go on. From it: it is ready; it lives; the task is prepared; something
    meanwhile; what came of it; an error, which ends the task."""

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
    """How far a task is: fraction 0 … 1."""

    fraction: float
    text: str = ""


class Line(ABC):
    """What a task knows of whoever asked."""

    @abstractmethod
    def asked(self) -> bool:
        """Whether to stop; waits while paused, and gives a sign of life."""

    @abstractmethod
    def begun(self, what: Any) -> None:
        """Say that all is prepared, and how."""

    @abstractmethod
    def tell(self, what: Any) -> None:
        """Say something meanwhile."""


class Here(Line):
    """No line: what is asked is done here. hear : hears what it tells; cancelled : whether to stop"""

    def __init__(self, hear: Callable[[Any], object], cancelled: Callable[[], bool]) -> None:
        self._hear, self._cancelled = hear, cancelled

    def asked(self) -> bool:
        return self._cancelled()

    def begun(self, what: Any) -> None:
        self._hear(what)

    def tell(self, what: Any) -> None:
        self._hear(what)


class Task(ABC):
    """What a process is asked: plain data, pickled.

    silence, preparing : s without a sign of life, once all is prepared and before, after which the process is ended
    patience : s after Stop, after which it is
    """

    silence: ClassVar[float] = math.inf
    preparing: ClassVar[float] = math.inf
    patience: float = 0.2

    @abstractmethod
    def done(self, line: Line) -> Any:
        """What comes of it. Raises what the work raises."""

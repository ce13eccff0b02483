"""What a process is asked to search for, and what it tells meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from core.design.designed import Array, Row, Start
from core.design.target_curves import Target
from core.model import Aim


class Say(Enum):
    """To the process: a task, stop it, wait, go on. From it: it is ready; it lives; a search is prepared; a start
    begins; a point is better; a start is over; all is over; an error, which ends the task."""

    TASK = auto()
    STOP = auto()
    PAUSE = auto()
    GO_ON = auto()
    READY = auto()
    LIVES = auto()
    BEGUN = auto()
    START = auto()
    BETTER = auto()
    ROW = auto()
    FOUND = auto()
    ERROR = auto()


class Task(NamedTuple):
    """Parameters that a design asks for. model, origin : the text of the document and its path; kinds : pickled, those
    that people have added and the document names; before : rows of starts that are over."""

    model: str
    origin: str
    aim: Aim
    starts: int
    solver: str
    seed: int
    iterations: int
    kinds: bytes
    before: tuple[Row, ...] = ()


class CurveTask(NamedTuple):
    """Linkages for a curve, as of `synthesise`; most : solutions at most"""

    target: Target
    topology: str
    most: int


class Begun(NamedTuple):
    """How it is searched: as of `Designed`."""

    solver: str
    reason: str
    slopes: str


class Better(NamedTuple):
    """A better point of a start. x (n,), 0 … 1; rows : what the machine does where a function or poses are wanted, SI;
    None: not looked at"""

    start: int
    x: Array
    parameters: Mapping[str, float]
    value: float
    rows: Array | None


class Begins(NamedTuple):
    """A start begins at x (n,), 0 … 1."""

    number: int
    x: Array
    parameters: Mapping[str, float]


class Summary(NamedTuple):
    """What all came to, as `Designed` without its model; rows : what machines of the table do, by their number, SI."""

    table: tuple[Start, ...]
    how: Begun
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...]
    rows: Mapping[int, Array]

"""What a process is asked to search for, and what it tells meanwhile: `Begun`, then `Begins`, `Better` and a `Row` for
each start; of a curve a `Progress` for each better linkage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from core import later
from core.apart.talk import Line, Task
from core.design.designed import Array, Row, Start
from core.design.target_curves import Target
from core.files.sent_model import SentModel
from core.later import dataclass
from core.model import Aim

if TYPE_CHECKING:
    from core.design.path_synthesis import Linkage


_searched = later.function(__package__, "searched_task.searched")
_linkages = later.function(__package__, "searched_task.linkages")


class _Search(Task):
    """Machine code is made before a search begins; of its iterations none takes long."""

    silence: ClassVar[float] = 60.0
    preparing: ClassVar[float] = 300.0


@dataclass(frozen=True)
class ParameterTask(_Search):
    """Parameters that a design asks for. before : rows of starts that are over"""

    model: SentModel
    aim: Aim
    starts: int
    solver: str
    seed: int
    iterations: int
    before: tuple[Row, ...] = ()

    def done(self, line: Line) -> Summary:
        summary: Summary = _searched(self, line)
        return summary


@dataclass(frozen=True)
class CurveTask(_Search):
    """Linkages for a curve, as of `synthesise`; most : solutions at most"""

    target: Target
    topology: str
    most: int

    def done(self, line: Line) -> tuple[Linkage, ...]:
        found: tuple[Linkage, ...] = _linkages(self, line)
        return found


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

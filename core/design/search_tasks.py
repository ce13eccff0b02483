"""Tasks and messages of search subprocesses: `Begun`, then `Begins`, `Better` and a `Row` for each start; for a curve a
`Progress` for each better linkage."""

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
    """Search task: machine code is compiled before the search begins, and each iteration is short."""

    silence: ClassVar[float] = 60.0
    preparing: ClassVar[float] = 300.0


@dataclass(frozen=True)
class ParameterTask(_Search):
    """Parameter search for a design. before : rows of finished starts"""

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
    """Linkage search for a curve, as in `synthesise`; most : largest number of solutions"""

    target: Target
    topology: str
    most: int

    def done(self, line: Line) -> tuple[Linkage, ...]:
        found: tuple[Linkage, ...] = _linkages(self, line)
        return found


class Begun(NamedTuple):
    """Message on how the search is done, with the fields of `Designed`."""

    solver: str
    reason: str
    slopes: str


class Better(NamedTuple):
    """Message on a better point of a start. x (n,), 0 … 1; rows : attained values for prescribed functions or poses,
    SI; None: not computed"""

    start: int
    x: Array
    parameters: Mapping[str, float]
    value: float
    rows: Array | None


class Begins(NamedTuple):
    """Message that a start begins at x (n,), 0 … 1."""

    number: int
    x: Array
    parameters: Mapping[str, float]


class Summary(NamedTuple):
    """Result of a search, as `Designed` without its model; rows : attained values of the machines in the table, by row
    number, SI."""

    table: tuple[Start, ...]
    how: Begun
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...]
    rows: Mapping[int, Array]

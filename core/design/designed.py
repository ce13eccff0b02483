"""What a search for parameters came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.model import Model


class Stopped(Exception):
    """The person stopped the search."""


class Start(NamedTuple):
    """A row of the table. number : from 0, the present values; parameters; value : what is to be least (of a fit the
    root of the mean squared distance); state : "found", "requirements missed", "failed" or "stopped"; message : why"""

    number: int
    parameters: Mapping[str, float]
    value: float
    state: str
    message: str
    at_bounds: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    lacking: float = 0.0
    """By how much requirements are missed: root of the sum of squares of what each lacks, in its unit."""

    @property
    def conflict(self) -> str:
        """Which requirements are missed, in a sentence; empty where none is."""
        if len(self.missed) < 2:
            return "".join(f"Missed: {each}." for each in self.missed)
        return f"No point was found that fulfils all; these conflict: {'; '.join(self.missed)}."


@dataclass(frozen=True, eq=False)
class Designed:
    """What a search came to. table : a row each start, the best first; model : the machine with the best values;
    solver, reason : what was used and why; slopes : "exact" or "by differences"; alike : variables that cannot be told
    apart at the best point, by name; sensitivities : change of the value by a step of each variable over its bounds;
    neither of a search that was stopped"""

    table: tuple[Start, ...]
    model: Model
    solver: str
    reason: str
    slopes: str
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...] = ()

    @property
    def best(self) -> Start:
        """The first row."""
        return self.table[0]

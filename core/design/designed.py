"""What a search for parameters came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.model import Model
from core.model.edits import edits

Array = NDArray[np.float64]
ORDER = {"found": 0, "stopped": 0, "requirements missed": 1, "failed": 2}
"""Of states in the table."""


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


Row = tuple[Array, Start]
"""x (n,), 0 … 1 within the bounds, and what came of the start."""


def ranked(rows: Sequence[Row]) -> list[Row]:
    """The best first. Raises ModelError where no start came to a value."""
    found = sorted(rows, key=lambda row: (ORDER[row[1].state], row[1].lacking, row[1].value))
    if not found or found[0][1].state == "failed":
        why = f" The first: {found[0][1].message.rstrip('.')}." if found else ""
        raise ModelError(f"No start came to a value.{why}", where="design", remedy="Change bounds or start values.")
    return found


def applied(model: Model, row: Start) -> Model:
    """The model with the values of a row."""
    for parameter, value in row.parameters.items():
        model = edits.change(model, "parameters", parameter, value=value)
    return model


def at_edge(names: Sequence[str], x: Array) -> tuple[str, ...]:
    """Variables that are at a bound at x (n,), 0 … 1."""
    return tuple(name for name, t in zip(names, x, strict=True) if t < 1e-6 or t > 1.0 - 1e-6)

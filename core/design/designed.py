"""Result of a parameter optimisation."""

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
"""Order in which the states are sorted in the table of starts."""


class SearchStopped(Exception):
    """Raised when the user stops the search."""


class StartResult(NamedTuple):
    """Row of the table of starts. number : from 0, which starts from the present values; parameters; value : objective
    (for a path fit the root mean square distance); state : "found", "requirements missed", "failed" or "stopped";
    message : reason of that state"""

    number: int
    parameters: Mapping[str, float]
    value: float
    state: str
    message: str
    at_bounds: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    lacking: float = 0.0
    """Violation of the requirements: root of the sum of squares of their violations, each in its unit."""

    @property
    def violated_requirements_text(self) -> str:
        """Sentence naming the violated requirements; empty if all are fulfilled."""
        if len(self.missed) < 2:
            return "".join(f"Missed: {each}." for each in self.missed)
        return f"No point was found that fulfils all requirements; the best one misses: {'; '.join(self.missed)}."


@dataclass(frozen=True, eq=False)
class OptimisationResult:
    """Result of an optimisation. table : one row per start, the best first; model : the machine with the best values;
    solver, reason : solver used and why; slopes : "exact" or "by differences"; alike : names of the variables that
    cannot be distinguished at the best point; sensitivities : change of the value over the range of each variable,
    linearised; the last two are empty for a stopped search"""

    table: tuple[StartResult, ...]
    model: Model
    solver: str
    reason: str
    slopes: str
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...] = ()

    @property
    def best(self) -> StartResult:
        """Best row: the first of the table."""
        return self.table[0]


Row = tuple[Array, StartResult]
"""Variables x (n,), scaled to 0 … 1, with the result of the start."""


def rank_rows(rows: Sequence[Row]) -> list[Row]:
    """Sort the rows, the best first. Raises ModelError if no starting point gave a result."""
    found = sorted(rows, key=lambda row: (ORDER[row[1].state], row[1].lacking, row[1].value))
    if not found or found[0][1].state == "failed":
        why = f" First failure: {found[0][1].message.rstrip('.')}." if found else ""
        remedy = "Change the bounds, or the present values of the parameters."
        raise ModelError(f"No starting point gave a result.{why}", where="design", remedy=remedy)
    return found


def model_with_row_values(model: Model, row: StartResult) -> Model:
    """Return the model with the parameter values of a row."""
    for parameter, value in row.parameters.items():
        model = edits.change(model, "parameters", parameter, value=value)
    return model


def variables_at_bounds(names: Sequence[str], x: Array) -> tuple[str, ...]:
    """Return the names of variables that lie at a bound, for x (n,), scaled to 0 … 1."""
    return tuple(name for name, t in zip(names, x, strict=True) if t < 1e-6 or t > 1.0 - 1e-6)

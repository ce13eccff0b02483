"""Measures that depend only on the final state of a run, such as `at(tool.position.x, end)`, evaluated for many rows at
once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism
from core.model.formula.expression import Call, Name
from core.simulation.measures.reductions import END
from core.simulation.measures.run_measures import Measure

Array = NDArray[np.float64]

QUANTITIES = ("position", "velocity", "omega")
"""Quantities of frames that follow from position and speeds."""


class _FinalQuantity(NamedTuple):
    """Requested quantity. column : of the results; frame, quantity, component : what is requested."""

    column: int
    frame: str
    quantity: str
    component: int


class FinalStateMeasures:
    """Measures that depend only on the final state, in their order."""

    def __init__(self, mech: Mechanism, measures: Mapping[str, Measure]) -> None:
        self._mech = mech
        found = [_final_quantity(mech, k, each) for k, each in enumerate(measures.values())]
        self._final_quantity = [each for each in found if each is not None]
        self.others = {name: each for (name, each), asked in zip(measures.items(), found, strict=True) if asked is None}
        """The measures that are left."""
        self._columns = [k for k, asked in enumerate(found) if asked is None]
        self._count = len(found)
        self._ends: list[tuple[int, Array, Array, Array]] = []

    def begin(self) -> None:
        """Start a new set of rows."""
        self._ends.clear()

    def put(self, row: int, q: Array, v: Array, p: Array, others: Mapping[str, float]) -> list[float]:
        """Return the numbers of a row that ended at q, v with parameters p; deferred ones are 0 until `fill`."""
        if self._final_quantity:
            self._ends.append((row, q.copy(), v.copy(), p))
        found = [0.0] * self._count
        for column, value in zip(self._columns, others.values(), strict=True):
            found[column] = value
        return found

    def fill(self, results: Array) -> None:
        """Write the deferred numbers into the results (n, columns)."""
        if not self._ends:
            return
        rows = np.array([end[0] for end in self._ends])
        q, v, p = (np.array([end[k] for end in self._ends]) for k in (1, 2, 3))
        known: dict[tuple[str, bool], Array] = {}
        for asked in self._final_quantity:
            key = asked.frame, asked.quantity == "position"
            if key not in known:
                known[key] = (
                    self._mech.frame(q, asked.frame, p=p)[:, :3, 3]
                    if key[1]
                    else self._mech.frame_velocity(q, v, asked.frame, p=p)
                )
            first = 3 if asked.quantity == "velocity" else 0
            results[rows, asked.column] = known[key][:, first + asked.component]


def _final_quantity(mech: Mechanism, column: int, measure: Measure) -> _FinalQuantity | None:
    match measure.node:
        case Call("at", (Name(name), Name("end"))) if END not in measure.parameters:
            owner, _, part = name.rpartition(".")
            frame, _, quantity = owner.rpartition(".")
            if quantity in QUANTITIES and part in tuple("xyz") and frame in mech.frame_names:
                return _FinalQuantity(column, frame, quantity, "xyz".index(part))
    return None

"""Requirements on the quantities of an operating point, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import ModelError


@dataclass
class Row:
    """Requirement on a quantity, set by its methods `fixed`, `free`, `target`, `steady`, which return the row.

    kind : "fixed", "free", "target" or "" (nothing said)
    """

    name: str
    of_input: bool
    kind: str = ""
    value: float | None = None
    low: float = -np.inf
    high: float = np.inf
    weight: float = 1.0

    def fixed(self, value: float | None = None) -> Row:
        """Fix the quantity at this value (SI), default its initial value."""
        self.kind, self.value = "fixed", None if value is None else number(value, self.name)
        return self

    def free(self, min: float = -np.inf, max: float = np.inf) -> Row:
        """Leave the quantity free, within bounds. Raises ModelError for empty bounds."""
        low, high = (number(each, self.name, endless=True) for each in (min, max))
        if not low <= high:
            raise ModelError(
                f"The lower bound {low:g} is above the upper bound {high:g}.",
                where=f"'{self.name}'",
                remedy="Swap the bounds.",
            )
        self.kind, self.low, self.high = "free", low, high
        return self

    def target(self, value: float, weight: float = 1.0) -> Row:
        """Bring the quantity as near to this value (SI) as the requirements allow; targets compete by their weights."""
        weight = number(weight, self.name)
        if not weight > 0.0:
            raise ModelError(
                "The weight is not positive.",
                where=f"'{self.name}'",
                remedy="Give a positive weight, or leave the row out.",
            )
        self.kind, self.value, self.weight = "target", number(value, self.name), weight
        return self

    def steady(self) -> Row:
        """Require a zero rate of the quantity; for a speed, zero acceleration."""
        self.kind = "steady"
        return self


def number(value: Any, name: str, endless: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) or (endless and np.isinf(number))):
        raise ModelError(f"{value!r} is not a number.", where=f"'{name}'", remedy="Give a number in SI units.")
    return number

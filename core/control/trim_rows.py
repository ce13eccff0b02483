"""What is asked of the quantities of an operating point, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import ModelError


@dataclass
class Row:
    """What is asked of a quantity. Its methods say it: `fixed`, `free`, `target`, `steady`; they give the row again.

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
        """It has this value (SI), default the one at the start."""
        self.kind, self.value = "fixed", None if value is None else number(value, self.name)
        return self

    def free(self, min: float = -np.inf, max: float = np.inf) -> Row:
        """It is found, within bounds. Raises ModelError for bounds that leave nothing."""
        low, high = (number(each, self.name, endless=True) for each in (min, max))
        if not low <= high:
            raise ModelError(
                f"Nothing lies between {low:g} and {high:g}.", where=f"'{self.name}'", remedy="Swap the bounds."
            )
        self.kind, self.low, self.high = "free", low, high
        return self

    def target(self, value: float, weight: float = 1.0) -> Row:
        """It comes as near to this value (SI) as what holds lets it; targets share by their weights."""
        weight = number(weight, self.name)
        if not weight > 0.0:
            raise ModelError("A weight is positive.", where=f"'{self.name}'", remedy="Give one, or leave the row out.")
        self.kind, self.value, self.weight = "target", number(value, self.name), weight
        return self

    def steady(self) -> Row:
        """Its rate is zero: of a speed, the acceleration."""
        self.kind = "steady"
        return self


def number(value: Any, name: str, endless: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) or (endless and np.isinf(number))):
        raise ModelError(f"{value!r} is no number.", where=f"'{name}'", remedy="Give one in SI units.")
    return number

"""How the run of a moving slider is computed so that it keeps up with the hand: as wished if that is quick enough, else
by what proved quicker. Knows no Qt."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.simulation import METHODS

BUDGET = 0.04
"""Processor seconds of a run that follows the hand."""
LOOSER = 100.0
"""By how much tolerances may be looser while the hand moves."""
LOOSEST = 1e-3
"""No relative tolerance is made looser than this."""
STIFF = "radau"
"""Method that takes long steps where stability, not accuracy, makes others take short ones (gears, friction)."""


class Way(NamedTuple):
    """method : one of `METHODS`; looser : factor of the tolerances."""

    method: str
    looser: float = 1.0

    def of(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Keywords of `simulate` for this way."""
        if self == Way(wanted["method"]):
            return wanted
        rtol = max(wanted["rtol"], min(self.looser * wanted["rtol"], LOOSEST))
        atol = wanted["atol"] * rtol / wanted["rtol"]
        step = wanted["step"] if METHODS[wanted["method"]].adaptive else None
        return {**wanted, "method": self.method, "rtol": rtol, "atol": atol, "step": step}


class Draft:
    """Remembers what each way of computing a run took, and says which is next.

    Ways stand in the order of preference; the first that keeps within the budget is taken, one that was not tried yet
    only if all before it do not, and the quickest if none does.
    """

    def __init__(self, wanted: dict[str, Any]) -> None:
        """wanted : keywords of `simulate`."""
        method = wanted["method"]
        ways = [Way(method), Way(STIFF), Way(STIFF, LOOSER)]
        if METHODS[method].adaptive:
            ways.append(Way(method, LOOSER))
        self.ways = tuple(dict.fromkeys(ways))
        self.took: dict[Way, float] = {}

    @property
    def untried(self) -> Way | None:
        """A way that may be quicker than all that were tried; None if one is quick enough."""
        if any(seconds <= BUDGET for seconds in self.took.values()):
            return None
        return next((way for way in self.ways if way not in self.took), None)

    @property
    def best(self) -> Way:
        """The way to take now."""
        good = next((way for way in self.ways if self.took.get(way, BUDGET + 1.0) <= BUDGET), None)
        return good or min(self.ways, key=lambda way: self.took.get(way, float("inf")))

    def note(self, way: Way, seconds: float) -> None:
        """What a run took, processor seconds; infinite if it failed."""
        self.took[way] = seconds

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


class Variant(NamedTuple):
    """method : one of `METHODS`; looser : factor of the tolerances."""

    method: str
    looser: float = 1.0

    def of(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Keywords of `simulate` for this variant."""
        if self == Variant(wanted["method"]):
            return wanted
        rtol = max(wanted["rtol"], min(self.looser * wanted["rtol"], LOOSEST))
        atol = wanted["atol"] * rtol / wanted["rtol"]
        step = wanted["step"] if METHODS[wanted["method"]].adaptive else None
        return {**wanted, "method": self.method, "rtol": rtol, "atol": atol, "step": step}


class Draft:
    """Remembers what each variant of computing a run took, and says which is next.

    Ways stand in the order of preference; the first that keeps within the budget is taken, one that was not tried yet
    only if all before it do not, and the quickest if none does.
    """

    def __init__(self, wanted: dict[str, Any]) -> None:
        """wanted : keywords of `simulate`."""
        method = wanted["method"]
        variants = [Variant(method), Variant(STIFF), Variant(STIFF, LOOSER)]
        if METHODS[method].adaptive:
            variants.append(Variant(method, LOOSER))
        self.variants = tuple(dict.fromkeys(variants))
        self.took: dict[Variant, float] = {}

    @property
    def untried(self) -> Variant | None:
        """A variant that may be quicker than all that were tried; None if one is quick enough."""
        if any(seconds <= BUDGET for seconds in self.took.values()):
            return None
        return next((variant for variant in self.variants if variant not in self.took), None)

    @property
    def best(self) -> Variant:
        """The variant to take now."""
        good = next((variant for variant in self.variants if self.took.get(variant, BUDGET + 1.0) <= BUDGET), None)
        return good or min(self.variants, key=lambda variant: self.took.get(variant, float("inf")))

    def note(self, variant: Variant, seconds: float) -> None:
        """What a run took, processor seconds; infinite if it failed."""
        self.took[variant] = seconds

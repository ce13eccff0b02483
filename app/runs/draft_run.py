"""Fast settings for runs that follow a moving slider: as chosen if quick enough, otherwise the quickest variant found.
Does not use Qt."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.simulation import METHODS

BUDGET = 0.04
"""Processor time of a run that follows a moving slider, s."""
LOOSER = 100.0
"""Largest factor by which tolerances are loosened while the slider moves."""
LOOSEST = 1e-3
"""Largest relative tolerance that loosening may lead to."""
STIFF = "radau"
"""Method for stiff systems (gears, friction), which takes long steps where others are limited by stability."""


class Variant(NamedTuple):
    """A way to compute a run. method : one of `METHODS`; looser : factor of the tolerances."""

    method: str
    looser: float = 1.0

    def of(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords of `simulate` for this variant."""
        if self == Variant(wanted["method"]):
            return wanted
        rtol = max(wanted["rtol"], min(self.looser * wanted["rtol"], LOOSEST))
        atol = wanted["atol"] * rtol / wanted["rtol"]
        step = wanted["step"] if METHODS[wanted["method"]].adaptive else None
        return {**wanted, "method": self.method, "rtol": rtol, "atol": atol, "step": step}


class Draft:
    """Records the computing time of each variant and chooses the next one.

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
    def untried_variant(self) -> Variant | None:
        """Return a variant that may be quicker than all those tried; None if one is quick enough."""
        if any(seconds <= BUDGET for seconds in self.took.values()):
            return None
        return next((variant for variant in self.variants if variant not in self.took), None)

    @property
    def best(self) -> Variant:
        """Return the quickest variant known."""
        good = next((variant for variant in self.variants if self.took.get(variant, BUDGET + 1.0) <= BUDGET), None)
        return good or min(self.variants, key=lambda variant: self.took.get(variant, float("inf")))

    def note(self, variant: Variant, seconds: float) -> None:
        """Record the processor time of a run, s; infinite if it failed."""
        self.took[variant] = seconds

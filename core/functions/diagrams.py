"""Results that are diagrams: curves over an axis, or points in a plane."""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

from core.functions.results import Result, Table
from core.functions.text import Column, TextStyle, number
from core.later import dataclass


class Series(NamedTuple):
    """A curve, or single points if `mark` is "x" or "o"."""

    name: str
    across: tuple[float, ...]
    up: tuple[float, ...]
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagram(Result):
    """Curves or points over an axis. across, up : labels of the axes, with units; square : same scale on both axes."""

    across: str
    up: str
    series: tuple[Series, ...]
    log_across: bool = False
    square: bool = False

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """List the curves with the ranges of their values."""
        lines = [f"{self.title}: {self.up} over {self.across}"]
        for each in self.series:
            finite = [value for value in each.up if math.isfinite(value)]
            if each.mark:
                points = ", ".join(f"({number(x)}, {number(y)})" for x, y in zip(each.across, each.up, strict=True))
                lines.append(f"  {each.name}: {points}")
            elif finite:
                lines.append(f"  {each.name}: {number(min(finite))} … {number(max(finite))}")
        return "\n".join(lines)

    def to_table(self) -> Table | None:
        """Return curves over a common axis as columns; None for points."""
        if not self.series or any(each.mark for each in self.series):
            return None
        columns = (Column(self.across), *(Column(each.name) for each in self.series))
        rows = zip(self.series[0].across, *(each.up for each in self.series), strict=True)
        return Table(title=self.title, columns=columns, rows=tuple(rows))

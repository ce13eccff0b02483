"""Results that are diagrams: curves over an axis, points in a plane, and maps of a frame's workspace with a value at
each position.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Unpack

from core.functions.results import UNWRITTEN, Result, Table
from core.functions.text import Amount, Cell, Column, TextStyle, cell_text, number, units_of
from core.later import dataclass

SPANS = ("x", "y", "z")


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


@dataclass(frozen=True, kw_only=True)
class SpaceMap(Result):
    """Map of a workspace (`core.studies.workspace.workspace_map.WorkspaceMap`) with its statistics.

    size : area or volume with its error, as text; least, largest : finite values (None: there is none);
    low, high : m, ends of what is reached along x, y, z; count : poses; notes : what a reader must know
    """

    map: Any = dataclasses.field(metadata=UNWRITTEN)
    frame: str
    about: str
    unit: str
    size: str
    area: float | None
    volume: float | None
    error: float | None
    least: float | None
    largest: float | None
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: int
    notes: tuple[str, ...] = ()
    file: str = ""

    @staticmethod
    def of(found: Any, file: str = "") -> SpaceMap:
        """Return the result for a computed map."""
        low, high = _clean_bounds(found.bounds)
        least, largest = found.range if found.kind != "reach" or found.unit else (math.nan, math.nan)
        return SpaceMap(
            title=f"{found.title} of {found.frame}",
            map=found,
            frame=found.frame,
            about=found.about,
            unit=found.unit,
            size=found.size_text,
            area=_finite(found.area),
            volume=_finite(found.volume),
            error=_finite(found.error),
            least=_finite(least),
            largest=_finite(largest),
            low=tuple(map(float, low)),
            high=tuple(map(float, high)),
            count=len(found.points),
            notes=found.notes,
            file=file,
        )

    def _size_lines(self) -> list[tuple[str, str]]:
        """Return the area or volume, and the range of values, as (label, text)."""
        found = [("Area" if self.volume is None else "Volume", self.size)] if self.size else []
        if self.least is not None and self.largest is not None:
            unit = f" {self.unit}" if self.unit else ""
            found.append(("Values", f"{number(self.least, 4)} … {number(self.largest, 4)}{unit}"))
        return found

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the statistics and notes of the map."""
        lines = [f"{self.title}: {self.about}"]
        lines += [f"  {name}: {value}" for name, value in self._size_lines()]
        lines.append(f"  {self._extents_text(style)}")
        lines.append(f"  {self.count} poses")
        lines += [f"  {note}" for note in self.notes]
        if self.file:
            lines.append(f"  The map stands in {self.file}.")
        return "\n".join(lines)

    def _value_text(self, value: Cell, style: TextStyle) -> str:
        return cell_text(value, Column(""), **units_of(style))

    def _extents_text(self, style: TextStyle) -> str:
        """Describe the extent along x, y and z."""
        return ", ".join(
            f"{axis} {self._interval_text(low, high, style)}"
            for axis, low, high in zip(SPANS, self.low, self.high, strict=True)
        )

    def _interval_text(self, low: float, high: float, style: TextStyle) -> str:
        ends = [self._value_text(Amount(each, "length"), style) for each in (low, high)]
        return " … ".join(dict.fromkeys(ends))


def _clean_bounds(bounds: Any) -> Any:
    """Return the bounds without errors left by the iteration that projects poses onto a slice."""
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    return without_rounding_errors(bounds, SOLVED_FRACTION, 0.0)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

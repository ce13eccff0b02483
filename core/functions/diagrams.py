"""Results that are diagrams: curves over an axis, points in a plane, and maps of a frame's workspace with a value at
each position.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Unpack

from core.functions.results import UNWRITTEN, Result, Table
from core.functions.text import Amount, Cell, Column, TextStyle, format_cell, format_number, units_of_style
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
        lines = [f"{self.title}: {self.up} versus {self.across}"]
        for each in self.series:
            finite = [value for value in each.up if math.isfinite(value)]
            if each.mark:
                points = ", ".join(
                    f"({format_number(x)}, {format_number(y)})" for x, y in zip(each.across, each.up, strict=True)
                )
                lines.append(f"  {each.name}: {points}")
            elif finite:
                lines.append(f"  {each.name}: {format_number(min(finite))} … {format_number(max(finite))}")
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
    def of(workspace_map: Any, file: str = "") -> SpaceMap:
        """Return the result that presents a computed map."""
        low, high = _remove_bounds_noise(workspace_map.bounds)
        least, largest = (
            workspace_map.range if workspace_map.kind != "reach" or workspace_map.unit else (math.nan, math.nan)
        )
        return SpaceMap(
            title=f"{workspace_map.title} of {workspace_map.frame}",
            map=workspace_map,
            frame=workspace_map.frame,
            about=workspace_map.about,
            unit=workspace_map.unit,
            size=workspace_map.size_text,
            area=_finite_or_none(workspace_map.area),
            volume=_finite_or_none(workspace_map.volume),
            error=_finite_or_none(workspace_map.error),
            least=_finite_or_none(least),
            largest=_finite_or_none(largest),
            low=tuple(map(float, low)),
            high=tuple(map(float, high)),
            count=len(workspace_map.points),
            notes=workspace_map.notes,
            file=file,
        )

    def _size_lines(self) -> list[tuple[str, str]]:
        """Return the area or volume, and the range of values, as (label, text)."""
        found = [("Area" if self.volume is None else "Volume", self.size)] if self.size else []
        if self.least is not None and self.largest is not None:
            unit = f" {self.unit}" if self.unit else ""
            found.append(("Values", f"{format_number(self.least, 4)} … {format_number(self.largest, 4)}{unit}"))
        return found

    def to_text(self, **style: Unpack[TextStyle]) -> str:
        """Write the statistics and notes of the map."""
        lines = [f"{self.title}: {self.about}"]
        lines += [f"  {name}: {value}" for name, value in self._size_lines()]
        lines.append(f"  {self._extents_text(style)}")
        lines.append(f"  {self.count} poses")
        lines += [f"  {note}" for note in self.notes]
        if self.file:
            lines.append(f"  The map has been written to {self.file}.")
        return "\n".join(lines)

    def _value_text(self, value: Cell, style: TextStyle) -> str:
        return format_cell(value, Column(""), **units_of_style(style))

    def _extents_text(self, style: TextStyle) -> str:
        """Describe the extent along x, y and z."""
        return ", ".join(
            f"{axis} {self._interval_text(low, high, style)}"
            for axis, low, high in zip(SPANS, self.low, self.high, strict=True)
        )

    def _interval_text(self, low: float, high: float, style: TextStyle) -> str:
        ends = [self._value_text(Amount(each, "length"), style) for each in (low, high)]
        return " … ".join(dict.fromkeys(ends))


def _remove_bounds_noise(bounds: Any) -> Any:
    """Return the bounds without the errors left by the iteration that projects poses onto a slice."""
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    return without_rounding_errors(bounds, SOLVED_FRACTION, 0.0)


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

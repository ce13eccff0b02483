"""Formatting of numbers, cells and columns as text, without rounding errors, for the command line, the console and the
clipboard."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from core.model.formula.numerals import format_readable, superscripts_to_digits
from core.model.units import SI, display_unit

DIGITS = 6
NARROW = 110
"""Largest width of formulas printed in two dimensions; wider ones are written one entry per line."""

_LATEX = {
    "\\": "\\textbackslash{}",
    "&": "\\&",
    "%": "\\%",
    "$": "\\$",
    "#": "\\#",
    "_": "\\_",
    "{": "\\{",
    "}": "\\}",
    "°": "\\textdegree{}",
    "−": "$-$",
    "∞": "$\\infty$",
    "²": "$^2$",
    "³": "$^3$",
    "·": "$\\cdot$",
    "√": "$\\surd$",
    "ᵀ": "$^T$",
    "α": "$\\alpha$",
    "θ": "$\\theta$",
}
_RAISED = re.compile(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
ROUNDING_FRACTION = 1e-14
"""Fraction of the largest entry (or of the scale, if that is larger) below which an entry is a rounding error and shown
as zero."""
SOLVED_FRACTION = 1e-9
"""Like ROUNDING_FRACTION, for values found by iteration."""
SOLVED_DECIMALS = 12
"""Significant decimals of a coordinate found by iteration, in rad or fractions of the machine's size."""


class Amount(NamedTuple):
    """A number with its own dimension, for columns that contain several dimensions."""

    value: float | None
    dimension: str = "none"

    def __float__(self) -> float:
        """Return the number in SI; NaN if there is none."""
        return math.nan if self.value is None else float(self.value)


Cell = float | int | str | bool | Amount | None


class Column(NamedTuple):
    """A column of a table: its title, and the dimension of its numbers."""

    title: str
    dimension: str = "none"


class ShortRepr:
    """Mixin that gives a class a short repr with only the title instead of all fields."""

    title: str

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__repr__ = ShortRepr.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r}, …)"


class Units(TypedDict, total=False):
    """Choice of degrees and millimetres for numbers in a text; SI by default."""

    degrees: bool
    millimetres: bool


class TextStyle(Units, total=False):
    """Style of a result as text. longest : number of operations of a formula above which only this number is shown"""

    longest: float


def units_of_style(style: TextStyle) -> Units:
    """Return only the units of a style."""
    return {"degrees": style.get("degrees", False), "millimetres": style.get("millimetres", False)}


def format_number(value: float, digits: int = DIGITS) -> str:
    """Format a number for reading with the given number of significant digits (`numerals.readable`), without trailing
    zeros."""
    if isinstance(value, float) and not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "undefined"
    return format_readable(f"{value + 0:.{digits}g}")


def format_numbers(values: Sequence[float]) -> str:
    """Format numbers separated by commas."""
    return ", ".join(map(format_number, values))


def entries_text(entries: Sequence[Sequence[Any]], most_operations: float) -> list[list[str]]:
    """Format every formula; a formula that exceeds the given number of operations is replaced by its number of
    operations."""
    from core.symbolic.export import format_entries
    from core.symbolic.forms import Symbol, count_operations

    if most_operations == math.inf:
        return format_entries(entries)
    kept: dict[int, int] = {}
    sizes = [[count_operations(form, kept) for form in row] for row in entries]
    shown = [
        [
            form if size <= most_operations else Symbol(f"… {size:,} operations, shown on the card in Output")
            for form, size in zip(row, counts, strict=True)
        ]
        for row, counts in zip(entries, sizes, strict=True)
    ]
    return format_entries(shown)


def column_heading(column: Column, **units: Unpack[Units]) -> str:
    """Return the title of a column with its unit."""
    unit = display_unit(column.dimension, **units).symbol
    return f"{column.title} [{unit}]" if unit else column.title


def format_cell(cell: Cell, column: Column, **units: Unpack[Units]) -> str:
    """Format a cell in the given units; an amount in a column without dimension states its own unit."""
    amount, unit = cell_number_and_dimension(cell, column)
    if amount is None or isinstance(cell, str | bool):
        return cell if isinstance(cell, str) else "" if cell is None or isinstance(cell, Amount) else str(cell)
    shown = display_unit(unit, **units)
    text = format_number(amount / shown.factor)
    if isinstance(cell, Amount) and column.dimension == "none" and shown.symbol:
        text += shown.symbol if shown.symbol == "°" else f" {shown.symbol}"
    return text


def cell_number_and_dimension(cell: Cell, column: Column) -> tuple[float | None, str]:
    """Return the SI number of a cell (None for text) and its dimension."""
    if isinstance(cell, Amount):
        return cell.value, cell.dimension
    if isinstance(cell, str | bool) or cell is None:
        return None, "none"
    return float(cell), column.dimension


def csv_column_heading(column: Column, cells: Sequence[Cell], **units: Unpack[Units]) -> str:
    """Return the title of a column with its unit, in the given units or SI; the dimension is that of the column's
    amounts if they agree."""
    dimension = _common_dimension(column, cells)
    unit = display_unit(dimension, **units).symbol if any(units.values()) else SI.get(dimension, "")
    return f"{column.title} [{unit}]" if unit else column.title


def csv_cells(column: Column, cells: Sequence[Cell], **units: Unpack[Units]) -> list[Any]:
    """Return the cells of a column for CSV, in full precision and in the units of `csv_column_heading`."""
    converted = any(units.values())
    several = converted and len({cell.dimension for cell in cells if isinstance(cell, Amount)}) > 1
    written: list[Any] = []
    for cell in cells:
        value, dimension = cell_number_and_dimension(cell, column)
        shown = display_unit(dimension, **units)
        if value is None or not converted:
            written.append("" if plain_cell_value(cell) is None else plain_cell_value(cell))
        elif several and shown.symbol:
            written.append(f"{value / shown.factor!r} {shown.symbol}")
        else:
            written.append(cell if isinstance(cell, int) and shown.factor == 1.0 else value / shown.factor)
    return written


def _common_dimension(column: Column, cells: Sequence[Cell]) -> str:
    """Return the dimension of a column, or the common dimension of its amounts."""
    dimensions = {cell.dimension for cell in cells if isinstance(cell, Amount)}
    return dimensions.pop() if len(dimensions) == 1 else column.dimension


def plain_cell_value(cell: Cell) -> Any:
    """Return the value of a cell without its dimension."""
    return cell.value if isinstance(cell, Amount) else cell


def format_latex_entry(entry: float | str) -> str:
    """Format an entry of a matrix as LaTeX."""
    if isinstance(entry, str):
        return entry
    if not math.isfinite(entry):
        return format_number(entry).replace("−", "-").replace("∞", "\\infty")
    digits, _, exponent = f"{entry + 0:.{DIGITS}g}".partition("e")
    return digits + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")


def escape_latex(text: str) -> str:
    """Escape a text for LaTeX."""
    whole = "".join(_LATEX.get(character, character) for character in text)
    return _RAISED.sub(lambda match: f"10$^{{{superscripts_to_digits(match[1])}}}$", whole)


def aligned(cells: Sequence[Sequence[str]], left_aligned: Sequence[bool] = ()) -> list[str]:
    """Align rows of cells in columns and return lines; cells are right-aligned, or left-aligned where `left_aligned` is
    true."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    return [
        "  ".join(
            cell.ljust(width) if i < len(left_aligned) and left_aligned[i] else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def without_rounding_errors(
    values: Any, fraction: float = ROUNDING_FRACTION, scale: float = 1.0
) -> NDArray[np.float64]:
    """Return a copy of an array with rounding errors set to zero and no negative zeros. scale : least size that counts
    as a large entry."""
    array = np.array(values, dtype=float)
    finite = np.abs(array[np.isfinite(array)])
    array[np.abs(array) < fraction * max(scale, float(finite.max(initial=0.0)))] = 0.0
    return array + 0.0


def without_solver_errors(mech: Any, values: Any, scale: float = 0.0) -> NDArray[np.float64]:
    """Return values of a machine without rounding errors, and without iteration errors if the machine has constraints.
    scale : least size that counts as a large entry then."""
    return (
        without_rounding_errors(values, SOLVED_FRACTION, scale) if mech.constrained else without_rounding_errors(values)
    )


def pose_without_solver_errors(mech: Any, q: Any, size: float) -> NDArray[np.float64]:
    """Round coordinates (nq,) found by iteration to the decimals that the iteration determines. size : of the machine,
    m."""
    scales = np.array([size if c.dimension == "length" else 1.0 for c in mech.coordinates])
    parts = np.round(np.divide(q, scales), SOLVED_DECIMALS)
    return np.where(np.abs(parts) < SOLVED_FRACTION, 0.0, parts * scales)

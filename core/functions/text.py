"""Results as text: for the command line, the console and the clipboard (plain, CSV, LaTeX, Python)."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence

from core.functions.results import (
    Amount,
    Arrows,
    Cell,
    Column,
    EllipsoidField,
    Formulas,
    Matrix,
    Message,
    Motion,
    Picture,
    PoseSequence,
    Report,
    Result,
    Table,
)
from core.model.formula.numerals import level, readable
from core.model.units.units import SI, display

DIGITS = 6


def number(value: float, digits: int = DIGITS) -> str:
    """A number with so many significant digits, written for reading (`numerals.readable`), without useless zeros."""
    if isinstance(value, float) and not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "undefined"
    return readable(f"{value + 0:.{digits}g}")


def text_of(result: Result, *, degrees: bool = False, millimetres: bool = False, longest: float = math.inf) -> str:
    """A result as text a person can read in a terminal.

    longest : operations of an entry of formulas from which on only their number is told
    """
    if isinstance(result, Report):
        parts = (text_of(part, degrees=degrees, millimetres=millimetres, longest=longest) for part in result.parts)
        return "\n\n".join(parts)
    if isinstance(result, Message | Motion):
        return result.text or result.title
    if isinstance(result, Matrix):
        return matrix_text(result)
    if isinstance(result, Formulas):
        return formulas_text(result, longest)
    if isinstance(result, Table):
        return table_text(result, degrees=degrees, millimetres=millimetres)
    if isinstance(result, EllipsoidField):
        count = len(result.ellipsoids)
        lines = [result.title if result.listed else f"{result.title}: {count} pose{'s' * (count != 1)}"]
        lines += [text_of(result.measures, degrees=degrees, millimetres=millimetres)] if result.listed else []
        return "\n".join([*lines, *([result.remark] if result.remark else [])])
    if isinstance(result, PoseSequence):
        count = len(result.q)
        return f"{result.title}: {count} poses, {_DISPLAYS[result.display]}" if count > 1 else result.title
    if isinstance(result, Arrows):
        return "\n".join(
            f"{result.title}: through ({_triple(a.origin)}) m along ({_triple(a.direction)})" for a in result.arrows
        )
    if isinstance(result, Picture):
        return f"{result.path}: {result.size[0]} × {result.size[1]} pixels"
    return result.title


_DISPLAYS = {"composite": "all at once", "animate": "pose by pose", "single": "the first"}
"""How poses are shown, in words."""


def _triple(values: Sequence[float]) -> str:
    return ", ".join(map(number, values))


NARROW = 110
"""Widest two-dimensional print of formulas; wider ones are written one entry per line."""


def formulas_text(formulas: Formulas, longest: float = math.inf) -> str:
    """A matrix of formulas, two-dimensional where it is narrow enough, with proof and conventions below.

    longest : as in `text_of`
    """
    from core.symbolic.export import arranged, listed

    cells = _cells(formulas, longest)
    body = arranged(cells, formulas.label)
    several = len(cells) * len(cells[0]) > 1
    if formulas.by_element or (several and max(map(len, body.splitlines())) > NARROW):
        body = listed(cells, formulas.label)
    notes = [*formulas.recognised, formulas.proof, *formulas.conventions]
    if formulas.plain:
        notes = [formulas.proof] if formulas.proved is False else []
    return body + "\n".join(f"  {note}" for note in notes if note)


def _cells(formulas: Formulas, longest: float) -> list[list[str]]:
    """The text of every entry; of long ones how long they are."""
    from core.symbolic.export import texts
    from core.symbolic.forms import Symbol, operations

    if longest == math.inf:
        return texts(formulas.entries)
    kept: dict[int, int] = {}
    sizes = [[operations(form, kept) for form in row] for row in formulas.entries]
    shown = [
        [
            form if size <= longest else Symbol(f"… {size:,} operations, on the card in Output")
            for form, size in zip(row, counts, strict=True)
        ]
        for row, counts in zip(formulas.entries, sizes, strict=True)
    ]
    return texts(shown)


def matrix_text(matrix: Matrix) -> str:
    """A matrix with its labels, columns aligned."""
    cells = [[e if isinstance(e, str) else number(e) for e in row] for row in matrix.entries]
    if matrix.rows:
        cells = [[label, *row] for label, row in zip(matrix.rows, cells, strict=True)]
    if matrix.columns:
        cells.insert(0, [""] * bool(matrix.rows) + list(matrix.columns))
    head = f"{matrix.title}  ({matrix.note})" if matrix.note else matrix.title
    return "\n".join([head, *_aligned(cells)])


def table_text(table: Table, *, degrees: bool = False, millimetres: bool = False) -> str:
    """A table with its titles, columns aligned; numbers in the units asked for."""
    units = {"degrees": degrees, "millimetres": millimetres}
    heads = [heading(column, **units) for column in table.columns]
    cells = [
        [cell_text(c, column, **units) for c, column in zip(row, table.columns, strict=True)] for row in table.rows
    ]
    left = [all(isinstance(row[i], str) for row in table.rows) for i in range(len(heads))]
    lines = _aligned([heads, *cells], left)
    lines.insert(1, "─" * max(map(len, lines)))
    return "\n".join([table.title, *lines, *([f"({table.note})"] if table.note else [])])


def heading(column: Column, *, degrees: bool = False, millimetres: bool = False) -> str:
    """A column's title with its unit."""
    unit = display(column.dimension, degrees=degrees, millimetres=millimetres).symbol
    return f"{column.title} [{unit}]" if unit else column.title


def cell_text(cell: Cell, column: Column, *, degrees: bool = False, millimetres: bool = False) -> str:
    """A cell as text in the units asked for; an amount in a column without dimension brings its own unit."""
    amount, unit = amount_of(cell, column)
    if amount is None or isinstance(cell, str | bool):
        return cell if isinstance(cell, str) else "" if cell is None or isinstance(cell, Amount) else str(cell)
    shown = display(unit, degrees=degrees, millimetres=millimetres)
    text = number(amount / shown.factor)
    if isinstance(cell, Amount) and column.dimension == "none" and shown.symbol:
        text += shown.symbol if shown.symbol == "°" else f" {shown.symbol}"
    return text


def amount_of(cell: Cell, column: Column) -> tuple[float | None, str]:
    """The SI number of a cell (None for text) and its dimension."""
    if isinstance(cell, Amount):
        return cell.value, cell.dimension
    if isinstance(cell, str | bool) or cell is None:
        return None, "none"
    return float(cell), column.dimension


def csv_of(table: Table) -> str:
    """A table as CSV: one heading line with SI units, full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_heading(column, table, i) for i, column in enumerate(table.columns)])
    for row in table.rows:
        writer.writerow(["" if c is None else c.value if isinstance(c, Amount) else c for c in row])
    return out.getvalue()


def _csv_heading(column: Column, table: Table, index: int) -> str:
    dimensions = {c.dimension for row in table.rows if isinstance(c := row[index], Amount)}
    unit = SI.get(dimensions.pop() if len(dimensions) == 1 else column.dimension, "")
    return f"{column.title} [{unit}]" if unit else column.title


def latex_of(result: Result) -> str:
    """A matrix or table as LaTeX; a report's parts one below the other."""
    if isinstance(result, Report):
        return "\n\n".join(filter(None, map(latex_of, result.parts)))
    if isinstance(result, EllipsoidField):
        return latex_of(result.measures)
    if isinstance(result, Matrix):
        body = " \\\\\n".join(" & ".join(_latex_entry(e) for e in row) for row in result.entries)
        name = f"{result.symbol} = " if result.symbol else ""
        return f"{name}\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"
    if isinstance(result, Formulas):
        from core.symbolic.export import latex

        return latex(result.entries, result.label)
    if isinstance(result, Table):
        columns = "l" * len(result.columns)
        lines = [" & ".join(_escape(heading(c)) for c in result.columns) + " \\\\ \\hline"]
        for row in result.rows:
            lines.append(
                " & ".join(_escape(cell_text(c, k)) for c, k in zip(row, result.columns, strict=True)) + " \\\\"
            )
        return f"\\begin{{tabular}}{{{columns}}}\n" + "\n".join(lines) + "\n\\end{tabular}"
    return _escape(text_of(result))


def python_of(result: Result) -> str:
    """A matrix as a numpy array, a table as a list of tuples, full precision, SI."""
    if isinstance(result, Report):
        return "\n\n".join(filter(None, map(python_of, result.parts)))
    if isinstance(result, EllipsoidField):
        return python_of(result.measures)
    if isinstance(result, Matrix):
        body = ",\n    ".join("[" + ", ".join(map(repr, row)) + "]" for row in result.entries)
        return f"# {result.title}\nnp.array([\n    {body},\n])"
    if isinstance(result, Formulas):
        from core.symbolic.export import python

        return python(result.entries, result.label)
    if isinstance(result, Table):
        rows = ",\n    ".join(repr(tuple(c.value if isinstance(c, Amount) else c for c in row)) for row in result.rows)
        return f"# {', '.join(heading(c) for c in result.columns)}\n[\n    {rows},\n]"
    return f"# {text_of(result)}"


def _latex_entry(entry: float | str) -> str:
    if isinstance(entry, str):
        return entry
    if not math.isfinite(entry):
        return number(entry).replace("−", "-").replace("∞", "\\infty")
    digits, _, exponent = f"{entry + 0:.{DIGITS}g}".partition("e")
    return digits + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")


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


def _escape(text: str) -> str:
    whole = "".join(_LATEX.get(character, character) for character in text)
    return _RAISED.sub(lambda match: f"10$^{{{level(match[1])}}}$", whole)


def _aligned(cells: Sequence[Sequence[str]], left: Sequence[bool] = ()) -> list[str]:
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    return [
        "  ".join(
            cell.ljust(width) if i < len(left) and left[i] else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]

"""Export of symbolic results as text or code: Robotica's print formats, LaTeX, Mathematica, Python, C, SymPy.

export(robot, "M", language="python")     # a function that NumPy programs can call
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from core.errors import ModelError
from core.symbolic.conventions import convention_sentences, to_ascii
from core.symbolic.factoring import extract_common_subexpressions
from core.symbolic.forms import Form, names_in_form
from core.symbolic.notation import Kept, format_form, mathematica_name, to_identifier
from core.symbolic.robot import Forms

if TYPE_CHECKING:
    from core.symbolic.robot import Robot


def format_entries(forms: Sequence[Sequence[Form]]) -> list[list[str]]:
    """Write the entries as readable text; subexpressions shared by entries are converted only once."""
    kept: Kept = {}
    return [[format_form(form, cache=kept) for form in row] for row in forms]


def format_by_element(forms: Forms, label: str) -> str:
    """Write one entry per line, column by column, as Robotica's EPrint does (its manual's figures 3.6 and 5.6):
    label[[2,1]] = …, label[[1,2]] = …"""
    return format_cells_by_line(format_entries(forms), label)


def format_cells_by_line(cells: Sequence[Sequence[str]], label: str) -> str:
    """Join the strings of all entries, one per line, column by column."""
    single = len(cells[0]) == 1
    lines = []
    for j, column in enumerate(zip(*cells, strict=True), 1):
        for i, cell in enumerate(column, 1):
            lines.append(f"{label}[[{i}]] = {cell}" if single else f"{label}[[{i},{j}]] = {cell}")
    return "\n".join(lines) + "\n"


def format_grid(forms: Forms, label: str) -> str:
    """Write the matrix in two dimensions, as Robotica's MPrint does."""
    return align_columns(format_entries(forms), label)


def align_columns(cells: Sequence[Sequence[str]], label: str) -> str:
    """Arrange the strings of all entries in aligned columns."""
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    head = f"{label} = "
    lines = []
    for i, row in enumerate(cells):
        front = head if i == len(cells) // 2 else " " * len(head)
        lines.append((front + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip())
    return "\n".join(lines) + "\n"


def format_latex(forms: Forms, label: str) -> str:
    """Write a LaTeX display equation."""
    rows = " \\\\\n  ".join(" & ".join(format_form(form, "latex") for form in row) for row in forms)
    if len(forms) == 1 and len(forms[0]) == 1:
        return f"{label} = {rows}\n"
    return f"{label} = \\begin{{bmatrix}}\n  {rows}\n\\end{{bmatrix}}\n"


def format_mathematica(forms: Forms, label: str) -> str:
    """Write a Mathematica assignment of a list of lists."""
    rows = ",\n  ".join("{" + ", ".join(format_form(form, "mathematica") for form in row) + "}" for row in forms)
    return f"{mathematica_name(label)} = {{{rows}}}\n"


def format_sympy_source(forms: Forms, label: str) -> str:
    """Write Python source that builds the matrix with SymPy."""
    used = sorted(set().union(*(names_in_form(form) for row in forms for form in row)) - {"sqrt(2)", "sqrt(3)"})
    rows = ",\n    ".join("[" + ", ".join(format_form(form, "sympy") for form in row) + "]" for row in forms)
    lines = ["from sympy import Matrix, Rational, cos, sin, sqrt, symbols", ""]
    if used:
        plain = [to_identifier(name) for name in used]
        lines.append(f"{', '.join(plain)} = symbols({' '.join(plain)!r}, real=True)")
    return "\n".join([*lines, f"{to_identifier(label)} = Matrix([\n    {rows},\n])", ""])


def format_python(forms: Forms, label: str) -> str:
    """Write a Python function of numbers or NumPy arrays that computes common subexpressions once."""
    definitions, rows, used = _split_common_subexpressions(forms, "python")
    body = [f"    {name} = {value}" for name, value in definitions]
    shown = ",\n        ".join("[" + ", ".join(row) + "]" for row in rows)
    return "\n".join(
        [
            "from numpy import array, cos, sin, sqrt",
            "",
            "",
            f"def {to_identifier(label)}({', '.join(used)}):",
            *body,
            f"    return array([\n        {shown},\n    ])",
            "",
        ]
    )


def format_c_source(forms: Forms, label: str) -> str:
    """Write a C function that fills a matrix row by row."""
    definitions, rows, used = _split_common_subexpressions(forms, "c")
    arguments = ", ".join(f"double {name}" for name in used)
    body = [f"    const double {name} = {value};" for name, value in definitions]
    columns = len(rows[0])
    body += [f"    out[{i * columns + j}] = {value};" for i, row in enumerate(rows) for j, value in enumerate(row)]
    front = f"void {to_identifier(label)}({arguments + ', ' if arguments else ''}double out[{len(rows) * columns}])"
    return "\n".join(["#include <math.h>", "", front, "{", *body, "}", ""])


def _split_common_subexpressions(
    forms: Forms, language: str
) -> tuple[list[tuple[str, str]], list[list[str]], list[str]]:
    """Return definitions of common subexpressions, the entries in terms of them, and the names of the function's
    arguments."""
    flat = [form for row in forms for form in row]
    used = sorted(
        {to_identifier(n) for form in flat for n in names_in_form(form) if not n.startswith("sqrt(")},
        key=_natural_sort_key,
    )
    definitions, short = extract_common_subexpressions(flat, _unused_prefix(used))
    columns = len(forms[0])
    entries = [format_form(form, language) for form in short]
    rows = [entries[i : i + columns] for i in range(0, len(entries), columns)]
    return [(name, format_form(form, language)) for name, form in definitions], rows, used


def _unused_prefix(used: Iterable[str]) -> str:
    """Return a prefix for the names of common subexpressions with which no other name begins."""
    taken = {name.rstrip("0123456789") for name in used}
    return next(stem for stem in chain(("x", "t", "w"), (f"x{'_' * k}" for k in count(1))) if stem not in taken)


def _natural_sort_key(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that puts q2 before q10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


EXPORTS: dict[str, tuple[str, str, Callable[[Forms, str], str]]] = {
    "elements": ("One entry per line (EPrint)", "#", format_by_element),
    "text": ("Two-dimensional text (MPrint)", "#", format_grid),
    "latex": ("LaTeX", "%", format_latex),
    "mathematica": ("Mathematica", "(*", format_mathematica),
    "python": ("Python function (NumPy)", "#", format_python),
    "c": ("C function", "//", format_c_source),
    "sympy": ("SymPy source", "#", format_sympy_source),
}
"""Language → (title, comment sign, writer)."""
READ = ("elements", "text", "latex")
"""Human-readable languages, in which cos(q1) may be written C1."""


def export(
    robot: Robot, result: str, *indices: int, language: str = "text", label: str = "", notes: bool = True
) -> str:
    """Write a result of `Robot.form` as text, with its conventions as comments.

    Raises ModelError for an unknown language.
    """
    if language not in EXPORTS:
        raise ModelError(
            f"Unknown export language '{language}'.", where="language", remedy=f"Use one of {', '.join(EXPORTS)}."
        )
    _, sign, write = EXPORTS[language]
    name = label or (
        f"{result}{''.join(map(str, indices))}"
        if language in ("python", "c", "sympy", "mathematica")
        else result + (f"[{','.join(map(str, indices))}]" if indices else "")
    )
    end = " *)" if sign == "(*" else ""
    stated = [robot.model.name, *map(to_ascii, convention_sentences(robot, code=language not in READ))]
    head = [f"{sign} {line}{end}" for line in stated] if notes else []
    return "\n".join([*head, write(robot.form(result, *indices), name)])


class OperationCount:
    """Number of operations needed to evaluate forms: additions, multiplications, sines and cosines."""

    def __init__(self, forms: Iterable[Form]) -> None:
        from core.symbolic.forms import count_operations

        flat = list(forms)
        kept: dict[int, int] = {}
        self.written = sum(count_operations(form, kept) for form in flat)
        """As they are written."""
        definitions, short = extract_common_subexpressions(flat)
        self.shared = sum(count_operations(form) for form in [*(form for _, form in definitions), *short])
        """With common subexpressions computed once."""

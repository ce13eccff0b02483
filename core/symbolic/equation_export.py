"""Export of a sequence of equations name = form, each of which may use earlier names, as text or code.

written(names, forms, "python", "four_bar")     # a function that gives all names
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.symbolic.export import EXPORTS, format_entries
from core.symbolic.forms import Form, Function, walk_subexpressions
from core.symbolic.forms import names_in_form as names_in
from core.symbolic.notation import format_form, format_latex_symbol, mathematica_name, to_identifier

Names = Sequence[str]
Forms = Sequence[Form]


def undefined_names(names: Names, forms: Forms) -> list[str]:
    """Return the names that the equations use but do not define, which have to be given as arguments."""
    used = set().union(*map(names_in, forms)) if forms else set()
    return sorted(name for name in used - {*names} if not name.startswith("sqrt("))


def format_lines(names: Names, forms: Forms, label: str) -> str:
    """Write one equation per line."""
    cells = format_entries([[form] for form in forms])
    return "".join(f"{_format_name(name)} = {row[0]}\n" for name, row in zip(names, cells, strict=True))


def _format_name(name: str) -> str:
    from core.symbolic.forms import Symbol

    return format_form(Symbol(name))


def format_latex(names: Names, forms: Forms, label: str) -> str:
    """Write LaTeX equations aligned at the equals signs."""
    rows = (f"{format_latex_symbol(n)} &= {format_form(form, 'latex')}" for n, form in zip(names, forms, strict=True))
    return "\\begin{align*}\n  " + " \\\\\n  ".join(rows) + "\n\\end{align*}\n"


def format_mathematica(names: Names, forms: Forms, label: str) -> str:
    """Write Mathematica assignments in order."""
    pairs = zip(names, forms, strict=True)
    return "".join(f"{mathematica_name(name)} = {format_form(form, 'mathematica')};\n" for name, form in pairs)


def format_sympy_source(names: Names, forms: Forms, label: str) -> str:
    """Write assignments of SymPy expressions in terms of the symbols that have to be given."""
    given = [to_identifier(name) for name in undefined_names(names, forms)]
    head = ["from sympy import Rational, atan2, cos, sin, sqrt, symbols", ""]
    if given:
        head.append(
            f"{', '.join(given)}{',' if len(given) == 1 else ''} = symbols({' '.join(given) + ' '!r}, real=True)"
        )
    pairs = zip(names, forms, strict=True)
    return "\n".join([*head, *(f"{to_identifier(name)} = {format_form(form, 'sympy')}" for name, form in pairs), ""])


def format_python(names: Names, forms: Forms, label: str) -> str:
    """Write a function of numbers or NumPy arrays that returns all names in a dictionary."""
    given = [to_identifier(name) for name in undefined_names(names, forms)]
    pairs = [(to_identifier(name), format_form(form, "python")) for name, form in zip(names, forms, strict=True)]
    used = ["cos", "sin", "sqrt"]
    if any(isinstance(part, Function) and part.name == "atan2" for form in forms for part in walk_subexpressions(form)):
        used.insert(0, "arctan2")
    return "\n".join(
        [
            f"from numpy import {', '.join(used)}",
            "",
            "",
            f"def {to_identifier(label)}({', '.join(given)}):",
            *(f"    {name} = {value}" for name, value in pairs),
            "    return {" + ", ".join(f'"{name}": {name}' for name, _ in pairs) + "}",
            "",
        ]
    )


def format_c_source(names: Names, forms: Forms, label: str) -> str:
    """Write a C function that fills an array in the order of the names."""
    given = [f"double {to_identifier(name)}" for name in undefined_names(names, forms)]
    pairs = [(to_identifier(name), format_form(form, "c")) for name, form in zip(names, forms, strict=True)]
    return "\n".join(
        [
            "#include <math.h>",
            "",
            f"/* out: {', '.join(name for name, _ in pairs)} */",
            f"void {to_identifier(label)}({', '.join([*given, f'double out[{len(pairs)}]'])})",
            "{",
            *(f"    const double {name} = {value};" for name, value in pairs),
            *(f"    out[{k}] = {name};" for k, (name, _) in enumerate(pairs)),
            "}",
            "",
        ]
    )


WRITERS: dict[str, Callable[[Names, Forms, str], str]] = {
    "text": format_lines,
    "latex": format_latex,
    "mathematica": format_mathematica,
    "python": format_python,
    "c": format_c_source,
    "sympy": format_sympy_source,
}
"""Writer for each language of `export.EXPORTS`."""


def format_equations(
    names: Names, forms: Forms, language: str, label: str = "equations", notes: Sequence[str] = ()
) -> str:
    """Write equations in a language, with notes as comments. Raises KeyError for an unknown language."""
    _, sign, _ = EXPORTS[language]
    end = " *)" if sign == "(*" else ""
    return "\n".join([*(f"{sign} {note}{end}" for note in notes), WRITERS[language](names, forms, label)])

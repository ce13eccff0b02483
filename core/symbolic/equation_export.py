"""Export of a sequence of equations name = form, in which each may use earlier names, as text or code.

written(names, forms, "python", "four_bar")     # a function that gives all names
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.symbolic.export import EXPORTS, texts
from core.symbolic.forms import Form, Function, walk
from core.symbolic.forms import names as names_in
from core.symbolic.notation import identifier, latex_symbol, mathematica_name, text

Names = Sequence[str]
Forms = Sequence[Form]


def arguments_of(names: Names, forms: Forms) -> list[str]:
    """Return the names used but not defined in the equations, which must be given."""
    used = set().union(*map(names_in, forms)) if forms else set()
    return sorted(name for name in used - {*names} if not name.startswith("sqrt("))


def lines(names: Names, forms: Forms, label: str) -> str:
    """Write one equation per line."""
    cells = texts([[form] for form in forms])
    return "".join(f"{_name_text(name)} = {row[0]}\n" for name, row in zip(names, cells, strict=True))


def _name_text(name: str) -> str:
    from core.symbolic.forms import Symbol

    return text(Symbol(name))


def latex(names: Names, forms: Forms, label: str) -> str:
    """Write LaTeX equations aligned at the equals signs."""
    rows = (f"{latex_symbol(n)} &= {text(form, 'latex')}" for n, form in zip(names, forms, strict=True))
    return "\\begin{align*}\n  " + " \\\\\n  ".join(rows) + "\n\\end{align*}\n"


def mathematica(names: Names, forms: Forms, label: str) -> str:
    """Write Mathematica assignments in order."""
    pairs = zip(names, forms, strict=True)
    return "".join(f"{mathematica_name(name)} = {text(form, 'mathematica')};\n" for name, form in pairs)


def sympy_source(names: Names, forms: Forms, label: str) -> str:
    """Write assignments of SymPy expressions in the symbols that must be given."""
    given = [identifier(name) for name in arguments_of(names, forms)]
    head = ["from sympy import Rational, atan2, cos, sin, sqrt, symbols", ""]
    if given:
        head.append(
            f"{', '.join(given)}{',' if len(given) == 1 else ''} = symbols({' '.join(given) + ' '!r}, real=True)"
        )
    pairs = zip(names, forms, strict=True)
    return "\n".join([*head, *(f"{identifier(name)} = {text(form, 'sympy')}" for name, form in pairs), ""])


def python(names: Names, forms: Forms, label: str) -> str:
    """Write a function of numbers or NumPy arrays that returns all names in a dictionary."""
    given = [identifier(name) for name in arguments_of(names, forms)]
    pairs = [(identifier(name), text(form, "python")) for name, form in zip(names, forms, strict=True)]
    used = ["cos", "sin", "sqrt"]
    if any(isinstance(part, Function) and part.name == "atan2" for form in forms for part in walk(form)):
        used.insert(0, "arctan2")
    return "\n".join(
        [
            f"from numpy import {', '.join(used)}",
            "",
            "",
            f"def {identifier(label)}({', '.join(given)}):",
            *(f"    {name} = {value}" for name, value in pairs),
            "    return {" + ", ".join(f'"{name}": {name}' for name, _ in pairs) + "}",
            "",
        ]
    )


def c_source(names: Names, forms: Forms, label: str) -> str:
    """Write a C function that fills an array in the order of the names."""
    given = [f"double {identifier(name)}" for name in arguments_of(names, forms)]
    pairs = [(identifier(name), text(form, "c")) for name, form in zip(names, forms, strict=True)]
    return "\n".join(
        [
            "#include <math.h>",
            "",
            f"/* out: {', '.join(name for name, _ in pairs)} */",
            f"void {identifier(label)}({', '.join([*given, f'double out[{len(pairs)}]'])})",
            "{",
            *(f"    const double {name} = {value};" for name, value in pairs),
            *(f"    out[{k}] = {name};" for k, (name, _) in enumerate(pairs)),
            "}",
            "",
        ]
    )


WRITERS: dict[str, Callable[[Names, Forms, str], str]] = {
    "text": lines,
    "latex": latex,
    "mathematica": mathematica,
    "python": python,
    "c": c_source,
    "sympy": sympy_source,
}
"""Writer for each language of `export.EXPORTS`."""


def written(names: Names, forms: Forms, language: str, label: str = "equations", notes: Sequence[str] = ()) -> str:
    """Write equations in a language, with notes as comments. Raises KeyError for an unknown language."""
    _, sign, _ = EXPORTS[language]
    end = " *)" if sign == "(*" else ""
    return "\n".join([*(f"{sign} {note}{end}" for note in notes), WRITERS[language](names, forms, label)])

"""Functions shared by the readers of DH tables: telling the joint variable of a row from parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from core.errors import ExpressionError
from core.model import DHRow, Parameter
from core.model.chains import split_offset
from core.model.fields import Value
from core.model.formula.expression import Binary, Name, Node, Number, names, parse, text_of

_KINDS = {
    "r": "revolute",
    "revolute": "revolute",
    "rotational": "revolute",
    "rotary": "revolute",
    "p": "prismatic",
    "prismatic": "prismatic",
    "translational": "prismatic",
    "t": "prismatic",
}
_VARIABLE = re.compile(r"(?:q|theta|th|d|s)_?\d*|.*\d")
GRAVITY = 9.81
"""m/s², assumed for a symbol g without a value."""


def joint_kind(word: str) -> str | None:
    """Return the native joint kind for a joint type as written in tables; None if it is unknown."""
    return _KINDS.get(word.strip().strip("\"'").lower())


class RowText(NamedTuple):
    """Row of a DH table as read from a file: joint kind, and the formulas of its four entries as text in the native
    notation."""

    kind: str
    a: str
    alpha: str
    d: str
    theta: str

    @property
    def own(self) -> str:
        """Return the entry that holds the joint variable."""
        return self.theta if self.kind == "revolute" else self.d

    @property
    def others(self) -> tuple[str, ...]:
        """Return the entries that do not hold the joint variable."""
        return (self.a, self.alpha, self.d if self.kind == "revolute" else self.theta)


def symbols(texts: Iterable[str]) -> list[str]:
    """Return the names used in some formulas, in order of appearance."""
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(sorted(names(parse(text)), key=text.find)))
    return list(found)


def joint_variables(rows: Sequence[RowText], more: Iterable[str] = ()) -> list[str]:
    """Return the joint variable of each row, "" for a row whose variable entry has none.

    It is a symbol of the row's own entry that stands in no other entry (`more`: formulas besides the rows); of
    several, one named like a variable (q1, theta1, d3), else the first. Raises ExpressionError if the entry is not
    "variable + constant".
    """
    found = []
    for index, row in enumerate(rows):
        elsewhere = {name for other in more for name in names(parse(other))}
        for number, other_row in enumerate(rows):
            for text in other_row.others if number == index else (*other_row.others, other_row.own):
                elsewhere |= names(parse(text))
        mine = [name for name in symbols([row.own]) if name not in elsewhere]
        fitting = [name for name in mine if split_offset(row.own, name) is not None]
        if mine and not fitting and any(_VARIABLE.fullmatch(name) for name in mine):
            raise ExpressionError(
                f"'{row.own}' is not of the form variable + constant.",
                remedy="Write the joint variable alone, or plus or minus a constant.",
            )
        fitting.sort(key=lambda name: _VARIABLE.fullmatch(name) is None)
        found.append(fitting[0] if fitting else "")
    return found


def row_fields(row: RowText, variable: str, number: int) -> dict[str, Any]:
    """Return the fields of a `DHRow` for a row with a known joint variable."""
    own: Value = split_offset(row.own, variable) if variable else row.own  # type: ignore[assignment]
    entries: dict[str, Value] = {"a": row.a, "alpha": row.alpha, "d": row.d, "theta": row.theta}
    entries["theta" if row.kind == "revolute" else "d"] = own
    return {"kind": row.kind, "variable": "" if variable == f"q{number}" else variable, **entries}


def assumed_parameters(texts: Iterable[str], known: Iterable[str] = ()) -> tuple[Parameter, ...]:
    """Return parameters for the symbols of formulas that have no value: 9.81 for g, 1 for the others."""
    known = set(known)
    return tuple(
        Parameter(name=name, value=GRAVITY if name == "g" else 1.0, assumed=True)
        for name in symbols(texts)
        if name not in known
    )


def is_assumed_value(parameter: Parameter) -> bool:
    """Return True if the parameter has the value that a reader would assume anyway, so that a file need not state
    it."""
    return parameter == assumed_parameters([parameter.name])[0]


def variable_entry(row: DHRow, variable: str, dialect: Any = "native") -> str:
    """Return the text "variable + constant" of the entry that holds the joint variable."""
    constant = row.theta if row.kind == "revolute" else row.d
    offset: Node = parse(constant) if isinstance(constant, str) else Number(abs(constant))
    if constant == 0.0:
        return text_of(Name(variable), dialect)
    operator = "-" if isinstance(constant, float) and constant < 0.0 else "+"
    return text_of(Binary(operator, Name(variable), offset), dialect)

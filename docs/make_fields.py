"""Writes docs/fields.md from the declarations of the document: python -m docs.make_fields."""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any

from core.model import SHAPE_TYPES, Shape
from core.model.element_kinds import ElementKinds
from core.model.fields import (
    ChoiceKind,
    Element,
    Field,
    FlagKind,
    FormulaKind,
    FormulaVectorKind,
    NestedElementKind,
    NestedElementsKind,
    ReferenceKind,
    ScalarKind,
    VectorKind,
    declared_fields,
)
from core.model.model import Model
from core.model.units import SI

FOLDER = Path(__file__).parent

HEAD = """# Fields

Made from the declarations by `make docs`: what the elements of a model are called, in [files](native_file.md) and in
Python (`ks.Body(name="arm", mass=2.0)`), where lists of the file are tuples. Numbers are SI; each may be a formula in
parameters, with units behind its numbers; *formula* may use time and, with *states*, coordinates, speeds and sensors.
What has no default may be left out unless it is needed. Short forms, in files and Python: an axis by its letter (`x`,
`-z`), a rotation as a 3×3 matrix, an inertia as three moments or a symmetric 3×3 matrix, a pose as its position
`[x, y, z]`, as position and three angles, or as a matrix, a limit as `[lower, upper]`, gravity as its acceleration.
"""


def page() -> str:
    """The whole reference, the model first, then what its fields hold."""
    lines, waiting, done = [HEAD], [Model], set[type]()
    while waiting:
        element = waiting.pop(0)
        if element in done:
            continue
        done.add(element)
        lines += section(element)
        waiting += [each for field in declared_fields(element) for each in held(field)]
    return "\n".join(lines).rstrip() + "\n"


def held(field: Field) -> list[type]:
    """Classes of elements that a field holds."""
    if not isinstance(field.kind, NestedElementKind | NestedElementsKind):
        return []
    inner = field.kind.element
    members = typing.get_args(inner) if isinstance(inner, types.UnionType) else (inner,)
    elements = [each for each in members if isinstance(each, type) and issubclass(each, Element)]
    return [kind for each in elements for kind in (SHAPE_TYPES.values() if each is Shape else [each])]


def section(element: type) -> list[str]:
    """One element with a table of its fields."""
    words = " ".join((element.__doc__ or "").split("\n\n")[0].split())
    lines = [f"## {element.__name__}", "", words, "", "| field | default | meaning |", "| --- | --- | --- |"]
    lines += [f"| `{field.name}` | {default(field)} | {meaning(field)} |" for field in declared_fields(element)]
    return [*lines, "", *kinds(element)]


def kinds(element: type) -> list[str]:
    """A table of the kinds of forces or constraints, with the fields that each uses."""
    lines = []
    for family in (getattr(field.kind, "among", ()) for field in declared_fields(element)):
        if isinstance(family, ElementKinds):
            lines += ["| kind | fields | meaning |", "| --- | --- | --- |"]
            for kind in family.values():
                fields = ", ".join(f"`{field}`" for field in kind.uses)
                lines.append(f"| `{kind.name}` | {fields} | {kind.title}. {kind.help} |")
            lines.append("")
    return lines


def default(field: Field) -> str:
    """The default as one would write it."""
    given = field.default
    if field.required:
        return "needed"
    if given in (None, "", ()) or isinstance(given, Element):
        return ""
    if isinstance(given, bool):
        return f"`{str(given).lower()}`"
    return f"`[{', '.join(map(number, given))}]`" if isinstance(given, tuple) else f"`{number(given)}`"


def number(value: Any) -> str:
    """A number without a point where it is whole."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def meaning(field: Field) -> str:
    """What the field is, in one cell of a table."""
    more = detail(field.kind)
    words = field.help.replace("\n", " ").replace("|", "\\|")
    return f"{words} ({more})" if more and words else words or more


def detail(kind: Any) -> str:
    """What may stand in a field."""
    if isinstance(kind, ChoiceKind):
        return ", ".join(kind.options)
    if isinstance(kind, ReferenceKind):
        return f"name of a {kind.target}"
    if isinstance(kind, NestedElementKind | NestedElementsKind):
        names = [f"[{each.__name__}](#{each.__name__.lower()})" for each in held(Field("", kind, "", None, False))]
        return ("list of " if isinstance(kind, NestedElementsKind) else "") + ", ".join(names)
    if isinstance(kind, FlagKind):
        return "true or false"
    if isinstance(kind, ScalarKind | VectorKind):
        unit = SI.get(kind.dimension, "") if kind.dimension != "none" else ""
        formula = isinstance(kind, FormulaKind | FormulaVectorKind)
        states = "formula, states" if getattr(kind, "states", True) else "formula"
        return "; ".join(word for word in (unit, states if formula else "") if word)
    return ""


if __name__ == "__main__":
    (FOLDER / "fields.md").write_text(page(), encoding="utf-8")

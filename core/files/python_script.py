"""Writer of Python scripts that build a model through the public interface, giving only values that differ from the
defaults."""

from __future__ import annotations

import json
from typing import Any

from core.files.source import WriteResult
from core.model import Model, SubAssembly
from core.model.fields import Element, declared_fields

WIDTH = 110
"""Maximum columns of a value on one line."""
HEAD = """# Builds this machine: run it, import `model` from it, or change it and run it again.
# The console of the program, and scripts anywhere, know the same names.

import kinetostat as ks

"""
TAIL = """
if __name__ == "__main__":
    mech = ks.Mechanism(model)
    print(f"{model.name}: {mech.nq} coordinates, {mech.mobility().dof} degrees of freedom")
"""


def write_python(model: Model) -> WriteResult:
    """Return the script that builds a model; nothing is lost, so there are no findings."""
    text = _format_expression(model, 0, 0)
    if model.origin:  # files of meshes, tables and sub-assemblies lie beside the script then
        text = f"{text.removesuffix(')')}    origin=__file__,\n)"
    head = HEAD.replace("import kin", "from pathlib import Path\n\nimport kin") if model.assemblies else HEAD
    return WriteResult(f"{head}model = {text}\n{TAIL}")


class _VerbatimCode(str):
    """Expression written verbatim."""

    __slots__ = ()


def _format_expression(value: Any, indent: int, start_column: int) -> str:
    """Return a value as a Python expression; `start_column` is the number of columns in front of it on its line."""
    short = _format_on_one_line(value)
    if indent + start_column + len(short) <= WIDTH and not (isinstance(value, Model)):
        return short
    pad = " " * (indent + 4)
    if isinstance(value, Element):
        lines = [
            f"{pad}{name}={_format_expression(each, indent + 4, len(name) + 1)},"
            for name, each in _non_default_fields(value)
        ]
        return "\n".join([f"{_class_name(value)}(", *lines, " " * indent + ")"])
    if isinstance(value, tuple) and value:
        return "\n".join(
            ["(", *(f"{pad}{_format_expression(each, indent + 4, 0)}," for each in value), " " * indent + ")"]
        )
    return short


def _format_on_one_line(value: Any) -> str:
    if isinstance(value, Element):
        arguments = ", ".join(f"{name}={_format_on_one_line(each)}" for name, each in _non_default_fields(value))
        return f"{_class_name(value)}({arguments})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_on_one_line, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, _VerbatimCode):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _class_name(element: Element) -> str:
    return f"ks.{type(element).__name__}"


def _non_default_fields(element: Element) -> list[tuple[str, Any]]:
    """Return the fields that differ from their defaults, and those without a default."""
    pairs = [(field, getattr(element, field.name)) for field in declared_fields(type(element))]
    given = [(field.name, value) for field, value in pairs if field.required or value != field.default]
    if isinstance(element, SubAssembly) and element.content is not None:
        given.append(("content", _VerbatimCode(f"ks.load(Path(__file__).parent / {json.dumps(element.file)})")))
    return given

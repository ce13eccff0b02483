"""DH tables as TOML:

    convention = "standard"
    name = "PUMA 560"
    gravity = [0, 0, -9.81]
    [parameters]
    l1 = 0.5
    [[joint]]
    type = "revolute"
    a = 0.4318
    alpha = "90 deg"
    mass = 17.4
    center_of_mass = [-0.3638, 0.006, 0.2275]
    inertia = { ixx = 0.13, iyy = 0.524, izz = 0.539 }
    limits = [-2.79, 2.79]

The convention is mandatory. `base` and `tool` are poses: { position = [x, y, z], rotation = [rx, ry, rz] }.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from core.errors import ExpressionError, FileError, ModelError
from core.files.dh.table import (
    COLUMNS,
    TENSOR,
    VECTORS,
    DHTable,
    column_name,
    convert_table,
    find_losses,
    is_assumed_value,
    non_default_columns,
    read_convention,
    single_chain,
    suggest_similar_columns,
)
from core.files.source import ReadOptions, ReadResult, Source, WriteResult
from core.model import Model, Parameter, Pose
from core.model.fields import Value
from core.model.formula.expression import format_number, parse

_WHERE = "a line 'convention = \"standard\"' at the top"
_KEYS = ("convention", "name", "description", "gravity", "base", "tool", "parameters", "joint")
_HEADING = re.compile(r"^\s*\[\[\s*(?:joint|joints|row|rows)\s*\]\]")
_LISTS = ("joint", "joints", "row", "rows")
_DEEP_KEY = re.compile(r"[\w\"'-](?:\s*\.\s*[\w\"'-]+){16}")
"""Pattern of a dotted key with many parts; the parser's time grows with the square of their number."""
MAX_SIZE = 2_000_000
_AT = re.compile(r"\(at line (\d+),")


def read_toml(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of a TOML table. Raises FileError naming line and key."""
    text = source.text
    _check_parsing_time(text, source)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1  # "at end of document"
        what = str(error).partition(" (at ")[0]
        raise FileError(
            f"The text is not valid TOML: {what}.",
            file=source.file,
            line=line,
            remedy="Put strings in quotes and check the brackets.",
        ) from None
    except (RecursionError, ValueError) as error:
        raise FileError(f"The text is not valid TOML: {error}.", file=source.file, remedy="Simplify it.") from None
    return convert_table(_TomlConverter(data, text, source).build_table(), source)


def _check_parsing_time(text: str, source: Source) -> None:
    """Raise FileError for text that the parser would need a very long time for."""
    if len(text) > MAX_SIZE:
        raise FileError(
            "The file is too large for a DH table.", file=source.file, remedy="Choose a table that describes one robot."
        )
    if (deep := _DEEP_KEY.search(text)) is not None:
        raise FileError(
            "A key has too many parts.",
            file=source.file,
            line=text.count("\n", 0, deep.start()) + 1,
            remedy="Use only the keys of DH tables.",
        )


class _TomlConverter:
    """Converter from the parsed TOML data to a DH table."""

    def __init__(self, data: dict[str, Any], text: str, source: Source) -> None:
        self.data = data
        self.source = source
        self.text_lines = text.splitlines()

    def error(self, message: str, where: str, remedy: str, line: int | None = None) -> FileError:
        return FileError(message, where=where, remedy=remedy, file=self.source.file, line=line)

    def line_of(self, key: str) -> int | None:
        pattern = re.compile(rf"^\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=\]]")
        return next((n for n, line in enumerate(self.text_lines, 1) if pattern.match(line)), None)

    def build_table(self) -> DHTable:
        for key in self.data:
            if key not in _KEYS and key not in _LISTS:
                raise self.error(
                    f"'{key[:40]}' is not a known key.", "", f"Keys: {', '.join(_KEYS)}.", self.line_of(key)
                )
        convention = read_convention(
            str(self.data.get("convention", "")), self.source, _WHERE, self.line_of("convention")
        )
        table = DHTable(convention, self.read_string("name"), self.read_string("description"))
        table.parameters = self.read_parameters()
        if "gravity" in self.data:
            x, y, z = self.read_vector(self.data["gravity"], "gravity", self.line_of("gravity"), 3)
            table.gravity = (x, y, z)
        table.base, table.tool = self.read_pose("base"), self.read_pose("tool")
        self.add_rows(table)
        return table

    def read_string(self, key: str) -> str:
        value = self.data.get(key, "")
        if not isinstance(value, str):
            raise self.error("A string is required here.", key, "Put it in quotes.", self.line_of(key))
        return value

    def read_formula(self, value: Any, where: str, line: int | None) -> str:
        """Return a number or formula as text that can be parsed."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self.error(
                "A number, or a formula in quotes, is required here.", where, 'Write e.g. 0.5 or "90 deg".', line
            )
        text = (
            format_number(value) if isinstance(value, float) and value == value and abs(value) < 1e308 else str(value)
        )
        try:
            parse(text)
        except ExpressionError as error:
            raise self.error(error.what, where, error.remedy, line) from None
        return text

    def read_vector(self, value: Any, where: str, line: int | None, *allowed_lengths: int) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) not in allowed_lengths:
            wanted = " or ".join(map(str, allowed_lengths))
            raise self.error(f"A list of {wanted} numbers is needed.", where, "Write e.g. [0, 0, 1].", line)
        return tuple(self.read_formula(item, where, line) for item in value)

    def read_pose(self, key: str) -> Pose:
        data = self.data.get(key, {})
        line = self.line_of(key)
        if not isinstance(data, dict) or not data.keys() <= {"position", "rotation"}:
            raise self.error(
                "A pose is a table with position and rotation.", key, "Write { position = [0, 0, 0] }.", line
            )
        counts = {"position": (3,), "rotation": (3, 4)}
        fields: dict[str, Any] = {
            name: self.read_vector(data[name], f"{key}, {name}", line, *counts[name]) for name in data
        }
        return Pose(**fields)

    def read_parameters(self) -> list[Parameter]:
        found = []
        data = self.data.get("parameters", {})
        if not isinstance(data, dict):
            raise self.error(
                "Parameters must be written as name = value.",
                "parameters",
                "Use a section [parameters].",
                self.line_of("parameters"),
            )
        for name, given in data.items():
            fields = dict(given) if isinstance(given, dict) else {"value": given}
            line, where = self.line_of(name), f"parameter '{name[:60]}'"
            for key in ("value", "minimum", "maximum"):
                if key in fields:
                    fields[key] = self.read_formula(fields[key], f"{where}, {key}", line)
            try:
                found.append(Parameter(name=name, **fields))
            except ModelError as error:
                raise self.error(error.what, where, error.remedy or "Correct it.", line) from None
            except TypeError:
                raise self.error(
                    "Parameters have no field of this name.", where, "Fields: value, dimension, minimum, maximum.", line
                ) from None
        return found

    def add_rows(self, table: DHTable) -> None:
        lines = [n for n, line in enumerate(self.text_lines, 1) if _HEADING.match(line)]
        key = next((name for name in _LISTS if name in self.data), "joint")
        rows = self.data.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(
                "Joints must be written as sections [[joint]].",
                key,
                "Add [[joint]] before each joint.",
                self.line_of(key),
            )
        for number, row in enumerate(rows, 1):
            line = lines[number - 1] if number <= len(lines) else self.line_of(key) or 1
            table.rows.append(self.read_row(row, f"joint {number}", line))
            table.lines.append(line)

    def read_row(self, data: dict[str, Any], where: str, line: int) -> dict[str, str]:
        row: dict[str, str] = {}
        for key, value in data.items():
            place = f"{where}, {key[:40]}"
            if key in ("com", "center_of_mass", "centre_of_mass"):
                row |= zip(VECTORS["center_of_mass"], self.read_vector(value, place, line, 3), strict=True)
            elif key == "inertia":
                row |= self.read_inertia(value, place, line)
            elif key in ("limits", "limit"):
                row |= zip(("lower", "upper"), self.read_vector(value, place, line, 2), strict=True)
            elif (name := column_name(key)) is None:
                raise self.error(
                    f"'{key[:40]}' is not a known key of a joint.", where, suggest_similar_columns(key), line
                )
            elif name in ("joint", "type"):
                row[name] = str(value)
            else:
                row[name] = self.read_formula(value, place, line)
        return row

    def read_inertia(self, value: Any, where: str, line: int) -> dict[str, str]:
        """Return an inertia tensor from named entries, from six numbers ixx iyy izz ixy ixz iyz, or from three diagonal
        ones."""
        if isinstance(value, list):
            numbers = self.read_vector(value, where, line, 3, 6)
            return dict(zip(TENSOR, numbers, strict=False))
        if isinstance(value, dict) and value.keys() <= set(TENSOR):
            return {key: self.read_formula(item, where, line) for key, item in value.items()}
        raise self.error("An inertia has the entries ixx, iyy, izz, ixy, ixz, iyz.", where, "Name its entries.", line)


def write_toml(model: Model) -> WriteResult:
    """Return the TOML table of a model that is a single DH chain."""
    chain = single_chain(model, "DH table")
    lines = [f"convention = {_toml_value(chain.convention)}", f"name = {_toml_value(model.name)}"]
    if model.description:
        lines.append(f"description = {_toml_value(model.description)}")
    gravity = model.world.gravity
    if gravity.kind != "point" and model.world != type(model.world)():
        lines.append(f"gravity = {_toml_value(gravity.acceleration if gravity.kind == 'uniform' else (0.0, 0.0, 0.0))}")
    for key, pose in (("base", chain.base), ("tool", chain.tool)):
        if pose != Pose():
            lines.append(
                f"{key} = {{ position = {_toml_value(pose.position)}, rotation = {_toml_value(pose.rotation)} }}"
            )
    known = [parameter for parameter in model.parameters if not is_assumed_value(parameter)]
    if known:
        lines += ["", "[parameters]", *map(_parameter_line, known)]
    variables = chain.variables()
    for number, row in enumerate(chain.rows, 1):
        values = non_default_columns(row, variables[number - 1])
        lines += ["", "[[joint]]"]
        lines += [f"{name} = {_toml_value(values[name])}" for name in COLUMNS if name in values]
    return WriteResult("\n".join(lines) + "\n", find_losses(model, chain, "TOML table", []))


def _parameter_line(parameter: Parameter) -> str:
    fields: dict[str, Any] = {"value": parameter.value, "minimum": parameter.minimum, "maximum": parameter.maximum}
    fields = {key: value for key, value in fields.items() if value is not None}
    texts = {"dimension": parameter.dimension, "description": parameter.description}
    fields |= {key: value for key, value in texts.items() if value not in ("", "none")}
    if fields.keys() == {"value"}:
        return f"{_toml_key(parameter.name)} = {_toml_value(parameter.value)}"
    entries = ", ".join(f"{key} = {_toml_value(value)}" for key, value in fields.items())
    return f"{_toml_key(parameter.name)} = {{ {entries} }}"


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_value(name)


def _toml_value(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, float):
        return format_number(value)
    short = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(short.get(c, c if c.isprintable() else f"\\U{ord(c):08X}") for c in value) + '"'

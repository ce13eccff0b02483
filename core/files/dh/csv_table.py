"""DH tables as CSV:

    # convention: modified
    # name: Panda
    # parameter l1: 0.5
    joint, type,     a,      alpha [deg], d,     theta, lower, upper
    q1,    revolute, 0,      0,           0.333, 0,     -2.9,  2.9

Comma, semicolon or tab between the cells; a header cell may name a unit in brackets, so may each value ("90 deg").
The convention is mandatory: in a comment as above, or in a column `convention`.
"""

from __future__ import annotations

import csv
import io
import re

from core.errors import ExpressionError, FileError, ModelError
from core.files.dh.table import (
    COLUMNS,
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
from core.model.units import UNITS

_META = re.compile(
    r"^\s*#\s*(?P<key>convention|name|description|gravity|parameter\s+(?P<name>\S+))\s*[:=]\s*(?P<value>.*)$",
    re.IGNORECASE,
)
_HEADER_UNIT = re.compile(r"(?P<word>[^\[(]*+)[\[(](?P<unit>[^\])]*+)[\])]\s*+$")
_WHERE = "a line '# convention: standard' at the top"
MAX_ROWS = 1000


def read_csv(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of a CSV table. Raises FileError naming line and column."""
    table = DHTable()
    lines = source.text.splitlines()
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if (meta := _META.match(line)) is not None:
            _read_metadata(table, meta, source, number)
        elif line.strip() and not line.lstrip().startswith("#"):
            rows.append((number, line))
    if not rows:
        raise FileError("The table is empty.", file=source.file, remedy="Add a header and one line per joint.")
    if len(rows) > MAX_ROWS:
        raise FileError(
            f"The table has {len(rows)} rows; {MAX_ROWS} is the limit.",
            file=source.file,
            remedy="Choose a table that describes one robot.",
        )
    _fill_table(table, rows, source)
    return convert_table(table, source)


def _read_metadata(table: DHTable, match: re.Match[str], source: Source, line: int) -> None:
    key, value = match["key"].split()[0].lower(), match["value"].strip().rstrip(",;").strip()
    try:
        if key == "convention":
            table.convention = read_convention(value, source, _WHERE, line)
        elif key == "gravity":
            parts = [part.strip() for part in value.strip("[](){}").replace(";", ",").split(",")]
            if len(parts) != 3:
                raise ModelError("The gravity vector needs 3 numbers.", remedy="Write '# gravity: 0, 0, -9.81'.")
            for part in parts:
                parse(part)
            table.gravity = (parts[0], parts[1], parts[2])
        elif key == "parameter":
            table.parameters.append(Parameter(name=match["name"].rstrip(":="), value=value))
        elif key == "name":
            table.name = value
        else:
            table.description = value
    except (ModelError, ExpressionError) as error:
        raise FileError(error.what, where=key, remedy=error.remedy, file=source.file, line=line) from None


def _split_cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]


def _fill_table(table: DHTable, rows: list[tuple[int, str]], source: Source) -> None:
    """Fill the table with the header and rows of the file."""
    at, head = rows[0]
    separator = max(";\t,", key=lambda mark: (head.count(mark), mark == ","))
    try:
        header = [parse_header_cell(word, source, at) for word in _split_cells(head, separator)]
        found = [(line, _split_cells(text, separator)) for line, text in rows[1:]]
    except csv.Error as error:
        raise FileError(
            f"The table cannot be read: {error}.", file=source.file, line=at, remedy="Check the quotes."
        ) from None
    names = [name for name, _ in header]
    _check_header(names, source, at)
    for line, cells in found:
        if len(cells) > len(header) and any(cells[len(header) :]):
            raise FileError(
                f"The row has {len(cells)} cells, the header {len(header)}.",
                file=source.file,
                line=line,
                remedy="Use a decimal point, or separate the cells by semicolons.",
            )
        row = {
            name: _append_unit_to_cell(cell, unit) for (name, unit), cell in zip(header, cells, strict=False) if name
        }
        stated = row.pop("convention", "")
        if stated:
            this = read_convention(stated, source, _WHERE, line)
            if table.convention and this != table.convention:
                raise FileError(
                    "The rows use different DH conventions.",
                    where="convention",
                    file=source.file,
                    line=line,
                    remedy="Use the same convention in all rows.",
                )
            table.convention = this
        table.rows.append(row)
        table.lines.append(line)
    if not table.convention:
        read_convention("", source, _WHERE)


def parse_header_cell(cell: str, source: Source, line: int) -> tuple[str, str]:
    """Return the column name and unit of a header cell."""
    match = _HEADER_UNIT.match(cell)
    word, unit = (match["word"].strip(), match["unit"].strip()) if match else (cell, "")
    unit = {"°": "deg", "degrees": "deg", "degree": "deg", "radians": "rad", "-": ""}.get(unit, unit)
    if word.strip().lower() == "convention":
        return "convention", ""
    if not word.strip():
        return "", ""
    name = column_name(word)
    if name is None:
        raise FileError(
            f"'{word[:40]}' is not a column.",
            file=source.file,
            line=line,
            where="header",
            remedy=suggest_similar_columns(word),
        )
    if unit and unit not in UNITS:
        if name in ("a", "alpha", "d", "theta", "offset", "lower", "upper"):
            raise FileError(
                f"'{unit[:20]}' is not a unit.",
                file=source.file,
                line=line,
                where=f"header, {name}",
                remedy="Use m, mm, rad or deg.",
            )
        unit = ""  # such as [kg·m²]: SI anyway
    return name, unit


def _check_header(names: list[str], source: Source, line: int) -> None:
    present = [name for name in names if name]
    for name in present:
        if present.count(name) > 1:
            raise FileError(
                f"The column '{name}' is given twice.",
                where="header",
                file=source.file,
                line=line,
                remedy="Remove one.",
            )
    missing = [name for name in ("type", "a", "alpha", "d", "theta") if name not in present]
    if missing:
        raise FileError(
            f"The table has no column {', '.join(missing)}.",
            where="header",
            file=source.file,
            line=line,
            remedy="Name the columns in the first line: joint,type,a,alpha,d,theta.",
        )


def _append_unit_to_cell(cell: str, unit: str) -> str:
    """Return the cell's value with the unit of its column; formulas and values with their own unit are unchanged."""
    if not unit or not cell:
        return cell
    try:
        float(cell)
    except ValueError:
        return cell
    return f"{cell} {unit}"


def write_csv(model: Model) -> WriteResult:
    """Return the CSV table of a model that is a single DH chain."""
    chain = single_chain(model, "DH table")
    lines = [f"# convention: {chain.convention}", f"# name: {' '.join(model.name.split())}"]
    if model.description:
        lines.append(f"# description: {' '.join(model.description.split())}")
    gravity = model.world.gravity
    if gravity.kind != "point" and model.world != type(model.world)():
        vector = gravity.acceleration if gravity.kind == "uniform" else (0.0, 0.0, 0.0)
        lines.append(f"# gravity: {', '.join(map(_format_value, vector))}")
    lines += [f"# parameter {p.name}: {_format_value(p.value)}" for p in model.parameters if not is_assumed_value(p)]
    variables = chain.variables()
    rows = [non_default_columns(row, variable) for row, variable in zip(chain.rows, variables, strict=True)]
    used = [name for name in COLUMNS if any(name in row for row in rows)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(used)
    for row in rows:
        writer.writerow([_format_value(row[name]) if name in row else "" for name in used])
    more = [word for word, pose in (("base pose", chain.base), ("tool pose", chain.tool)) if pose != Pose()]
    return WriteResult("\n".join(lines) + "\n" + stream.getvalue(), find_losses(model, chain, "CSV table", more))


def _format_value(value: Value) -> str:
    return format_number(value) if isinstance(value, float) else str(value)

"""Recorded signals: columns of CSV and SIMNON files over time."""

from __future__ import annotations

import codecs
import csv
import math
import re
from array import array
from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError, suggest_names
from core.files.followed_files import resolve_document_path
from core.files.regular_file import SIGNAL, fingerprint, read_content, read_status
from core.model import Driver
from core.model.units import SI, CompoundUnit, parse_compound_unit

Array = NDArray[np.float64]
SIGNAL_SUFFIXES = (".csv", ".txt", ".dat", ".t", ".sim")
"""Usual suffixes of files of recorded signals; any text file with columns is read."""
NUMBERS = "Write one number per column, columns apart by semicolons, commas, tabs or blanks."
LONGEST_LINE = 100_000
"""Maximum number of characters per line; a longer one means that the file is not a table."""
_TIME = ("time", "t")
_WITH_UNIT = re.compile(r"(.+?)\s*[\[(]([^\])]*)[\])]$")
_UNIT_AFTER_NAME = re.compile(r"(\w+)(?:\s*/\s*|\s+in\s+)([^\W\d_]+|°)$")
"""A name followed by a unit without brackets: "q/deg", "q in deg"."""
_UNIT_WORDS = re.compile(
    r"(?<![^\W_])(?:deg|degrees?|rpm|mm|cm|ms|msec|millisec(?:ond)?s?|milli?met(?:er|re)s?|inch(?:es)?)(?![^\W_])|°",
    re.I,
)
"""Words in a heading that can only mean a unit."""
_TIME_WITH_UNIT = re.compile(r"(t|time)_(s|ms|us|min)$", re.I)
_ENDED_BY_UNIT = re.compile(r".+_(rad|deg|m|cm|mm|rpm)$")
TIMES, LENGTHS, ANGLES = ((0, 0, 1, 0),), ((0, 1, 0, 0),), ((0, 0, 0, 1),)
"""Dimensions of times and joint coordinates, as powers of (kg, m, s, rad)."""
_NO_UNIT = ("", "-", "1")
_UNITS = {
    **dict.fromkeys(("sec", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("degree", "degrees"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    "minutes": "min",
    "us": "ms·m/km",
    "µs": "ms·m/km",
    "revolutions": "rev",
}
"""Alternative spellings of units."""


def read_driver_columns(driver: Driver, origin: str, dimension: str = "") -> tuple[Array, Array]:
    """Return (times, values) of a driver's column. dimension : of its function, "" if it is unknown

    Raises FileError naming file, line and column.
    """
    path, names, numbers = _read_file(driver, origin)
    time, others = _time_and_signal_columns(names)
    place = _find_driver_column(driver, names, others)
    if place is None:
        raise FileError(
            f"The file has no column '{_wanted_column_name(driver)}'.",
            file=path,
            where=f"driver '{driver.name}', column",
            remedy=suggest_names(_wanted_column_name(driver), [names[k] for k in others]),
        )
    known = _compound_unit(SI[dimension]) if SI.get(dimension) else None
    measured = (*LENGTHS, *ANGLES) if driver.joint and known is None else () if known is None else (known.powers,)
    times = numbers[:, time] * column_scale(names[time], TIMES, path)
    return times, numbers[:, place] * column_scale(names[place], measured, path, dimension)


def read_signal_names(driver: Driver, origin: str) -> tuple[tuple[str, ...], str | None]:
    """Return (names of the signals in a driver's file, the one that the driver follows or None). Raises FileError."""
    _, names, _ = _read_file(driver, origin)
    others = _time_and_signal_columns(names)[1]
    place = _find_driver_column(driver, names, others)
    return tuple(names[k] for k in others), None if place is None else names[place]


def _read_file(driver: Driver, origin: str) -> tuple[str, tuple[str, ...], Array]:
    """Return path, column names and numbers of a driver's file."""
    path = resolve_document_path(driver.file, origin)
    try:
        return path, *read_table(path)
    except FileError as error:
        raise error.at(where=f"driver '{driver.name}', file") from None


def _time_and_signal_columns(names: Sequence[str]) -> tuple[int, list[int]]:
    """Return the index of the time column, and those of the signals."""
    time = next((k for k, name in enumerate(names) if _is_time(name)), 0)
    return time, [k for k in range(len(names)) if k != time]


def _wanted_column_name(driver: Driver) -> str:
    return driver.column or driver.joint or driver.sensor


def _find_driver_column(driver: Driver, names: Sequence[str], signal_columns: Sequence[int]) -> int | None:
    """Return the column of a driver: the named one, or the only one; None if it is missing."""
    wanted = _wanted_column_name(driver)
    called = {k: (names[k], split_name_and_unit(names[k])[0]) for k in signal_columns}
    place = next((k for k in signal_columns if {wanted, f"{wanted}.q"} & set(called[k])), None)
    return signal_columns[0] if place is None and not driver.column and len(signal_columns) == 1 else place


def read_table(path: str) -> tuple[tuple[str, ...], Array]:
    """Return (column names, (n, columns)) of a CSV or SIMNON file. Raises FileError naming the line."""
    read_status(path, SIGNAL)  # raises the message about what is no file
    return _parse_table(path, fingerprint(path, SIGNAL))


@lru_cache(maxsize=16)
def _parse_table(path: str, _content: str) -> tuple[tuple[str, ...], Array]:
    """Parse a file into (column names, (n, columns)). Comments begin with %, # or, as in SIMNON, one quotation mark; a
    comment may contain the column names: " t q1 q2. If several lines precede the numbers, the one with the name of the
    time is used, otherwise the first."""
    heads: list[tuple[str, ...]] = []
    simnon = False
    rows: array[float] = array("d")
    width = 0
    problem: FileError | None = None
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        if len(line) > LONGEST_LINE:
            raise FileError(
                f"This line has more than {LONGEST_LINE} characters.", file=path, line=number, remedy=NUMBERS
            )
        comment = line.lstrip().startswith(("%", "#")) or (line.lstrip().startswith('"') and line.count('"') == 1)
        cells = _split_cells(line.lstrip().lstrip('%#"').strip() if comment else line.strip())
        if not cells or (comment and rows):
            continue
        row, wrong = _parse_row(cells)
        if comment or wrong:
            if (
                not comment and row and (rows or not _names_unit(cells[wrong - 1]))
            ):  # a row that begins as one of numbers
                problem = problem or _number_error(cells, wrong, path, number)
            if (rows or simnon) and not comment:
                raise problem or _number_error(cells, 1, path, number)
            if not rows and len(cells) > 1:
                heads.append(tuple(cells))
                simnon |= line.lstrip().startswith('"') and comment
            continue
        if problem is not None and len(heads[-1]) == len(row):
            raise problem
        if rows and len(row) != width:
            raise FileError(
                f"This line has {len(row)} numbers, but the lines before it have {width}.",
                file=path,
                line=number,
                remedy=NUMBERS,
            )
        width = len(row)
        rows.extend(row)
    if width < 2:
        raise problem or FileError(
            "The file has no columns of numbers over time.",
            file=path,
            remedy="Put the time in the first column and the signals in the others.",
        )
    _check_commas(heads, width, path)
    return _column_names(heads, width), np.array(rows).reshape(-1, width)


def _number_error(cells: Sequence[str], column: int, path: str, line: int) -> FileError:
    """Return the error for a cell of a row that is not a number; column counts from 1."""
    text = f"'{cells[column - 1][:40]}' is not a number."
    return FileError(text, file=path, line=line, where=f"column {column}", remedy=NUMBERS)


def _check_commas(header_lines: Sequence[tuple[str, ...]], width: int, path: str) -> None:
    """Raise FileError for rows with twice as many numbers as names, in which decimal commas were read as separators."""
    counts = {len(head) for head in header_lines}
    if counts and width not in counts and any(width == 2 * count for count in counts):
        raise FileError(
            f"Rows have {width} numbers separated by commas, but only {width // 2} columns are named; "
            "the file probably uses decimal commas.",
            file=path,
            remedy="Separate columns by semicolons, or use decimal points.",
        )


def _column_names(header_lines: Sequence[tuple[str, ...]], count: int) -> tuple[str, ...]:
    """Return the names of a number of columns from the lines before the numbers."""
    fitting = [head for head in header_lines if len(head) == count]
    timed = [head for head in fitting if any(map(_is_time, head))]
    if not fitting:
        return ("time", *(f"column{k}" for k in range(2, count + 1)))
    names = (timed or fitting)[0]
    units = next((head for head in fitting if head is not names and all(map(_is_unit, head))), ("",) * count)
    return tuple(
        f"{name} [{unit.strip('[]() ')}]" if _is_other_unit(unit) else name
        for name, unit in zip(names, units, strict=True)
    )


def _is_time(name: str) -> bool:
    return split_name_and_unit(name)[0].lower() in _TIME


def _is_unit(text: str) -> bool:
    """Return True if a cell contains a unit."""
    unit = text.strip("[]() ")
    return unit in _NO_UNIT or _compound_unit(unit) is not None


def _names_unit(text: str) -> bool:
    return bool(text) and _is_unit(text)


def _is_other_unit(text: str) -> bool:
    """Return True for a known unit that is not SI."""
    found = _compound_unit(text.strip("[]() "))
    return found is not None and found.factor != 1.0


def split_name_and_unit(name: str) -> tuple[str, str]:
    """Split a column name "angle [deg]", "angle (deg)", "angle/deg" or "t_ms" into (name, unit)."""
    found = _WITH_UNIT.match(name.strip()) or _TIME_WITH_UNIT.match(name.strip())
    named = _UNIT_AFTER_NAME.match(name.strip())
    if found is None and named is not None and _compound_unit(named[2]) is not None:
        found = named
    return (found[1], found[2].strip()) if found else (name.strip(), "")


def strip_unit(name: str, known_names: Collection[str]) -> str:
    """Return the name of a column "angle [deg]" or "angle_deg" without its unit; a known name stays as it is."""
    if name in known_names:
        return name
    plain, unit = split_name_and_unit(name)
    ended = _ENDED_BY_UNIT.match(plain)
    return plain[: ended.start(1) - 1] if ended and not unit else plain


def unit_factor(unit: str, file: str, column: str) -> float:
    """Return the SI value of a unit. Raises FileError for an unknown unit."""
    found = _compound_unit("rad" if unit in _NO_UNIT else unit)
    if found is None:
        raise FileError(
            f"'{unit}' is not a known unit.",
            file=file,
            where=f"column '{column}'",
            remedy="Use a unit such as deg, rad/s, N·m or mm.",
        )
    return found.factor


def _compound_unit(unit: str) -> CompoundUnit | None:
    return parse_compound_unit(_UNITS.get(unit.lower(), unit).replace("²", "^2"))


def column_scale(name: str, dimensions: Collection[tuple[int, int, int, int]], file: str, quantity: str = "") -> float:
    """Return the factor from a column to SI. Raises FileError for a unit of another dimension.

    dimensions : what it may measure, as powers of (kg, m, s, rad); anything if there are none; quantity : the same in
    words, such as "angle"
    """
    unit = split_name_and_unit(name)[1]
    ended = _ENDED_BY_UNIT.match(name)
    if not unit and ended and dimensions != TIMES:
        unit = ended[1]
    meant = None if unit else _UNIT_WORDS.search(name)
    if meant is not None:
        raise FileError(
            f"The heading seems to name a unit, '{meant[0]}', which is not read there.",
            file=file,
            where=f"column '{name}'",
            remedy="Write the unit in brackets at the end, such as 'angle [deg]', or rename the column.",
        )
    factor, found = unit_factor(unit, file, name), _compound_unit(unit)
    if found is not None and dimensions and found.powers not in dimensions:
        words = ((TIMES, "a time"), (LENGTHS, "a length"), (ANGLES, "an angle"))
        named = f"{'an' if quantity[:1] in 'aeiou' else 'a'} {quantity.replace('_', ' ')}" if quantity else ""
        what = named or next((word for powers, word in words if dimensions == powers), "an angle or a length")
        raise FileError(
            f"'{unit}' is not a unit of {what}.",
            file=file,
            where=f"column '{name}'",
            remedy="Correct the unit, or choose another column.",
        )
    return factor


def _read_text(path: str) -> str:
    """Read a file as text in any Unicode encoding. Raises FileError."""
    data = read_content(path, SIGNAL)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def _parse_row(cells: Sequence[str]) -> tuple[list[float], int]:
    """Return the numbers of a row, and the first column (from 1) that is not a number; 0 if all are."""
    row: list[float] = []
    for k, cell in enumerate(cells, 1):
        try:
            number = float(cell.replace(",", ".", 1))
        except ValueError:
            return row, k
        if not (math.isfinite(number) and cell.isascii()) or "_" in cell:
            return row, k
        row.append(number)
    return row, 0


def _split_cells(line: str) -> list[str]:
    """Split a line into cells separated by semicolons, tabs (numbers may then have a decimal comma), commas or
    blanks."""
    for mark in (";", "\t", ","):
        if mark in line:
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])]
            return cells if cells[-1:] != [""] or len(cells) < 3 else cells[:-1]
    return line.split()

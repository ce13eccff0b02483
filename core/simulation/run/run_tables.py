"""Writes runs as tables of numbers, CSV and SIMNON, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from core.errors import FileError
from core.simulation.run.growing_rows import BLOCK, Array

if TYPE_CHECKING:
    from core.simulation.run.run import Run

CSV = ".csv"
SUFFIXES = (CSV, ".sim", ".t")
"""File suffixes of tables."""


def write_table(
    stream: BinaryIO, run: Run, suffix: str, channels: Sequence[str], progress: Callable[[float], object]
) -> None:
    """Write time and channels into an open file; the suffix selects the format."""
    rows = 0
    for text in (csv if suffix == CSV else _simnon_lines)(run, channels):
        stream.write(text.encode())
        progress(min(rows / len(run), 1.0))
        rows += BLOCK


def csv(run: Run, channels: Sequence[str]) -> Iterator[str]:
    """Yield time and channels as CSV text in SI units, with a header line, piece by piece."""
    columns = [("time", run.time), *run.table(channels)]
    yield ",".join(f'"{name}"' if any(c in name for c in ',"') else name for name, _ in columns) + "\n"
    yield from _text_rows([values for _, values in columns], ",")


def _simnon_lines(run: Run, channels: Sequence[str]) -> Iterator[str]:
    columns = [("t", run.time), *run.table(channels or [f"{name}.q" for name in run.mech.q_names])]
    words = [name for name, values in columns if values.dtype.kind == "U"]
    if words:
        raise FileError(
            "A SIMNON file can hold only numbers, but this channel consists of words.",
            where=f"channel '{words[0]}'",
            remedy="Save it as .csv, or leave the channel out.",
        )
    names = [name.removesuffix(".q") if not channels else name for name, _ in columns]
    yield '" ' + " ".join(name.replace(" ", "") for name in names) + "\n"
    yield from _text_rows([values for _, values in columns], " ")


def _text_rows(columns: Sequence[Array], separator: str) -> Iterator[str]:
    """Yield lines of numbers, with digits enough for exact reading, and of words."""
    for first in range(0, len(columns[0]), BLOCK):
        lists = (values[first : first + BLOCK].tolist() for values in columns)
        yield "\n".join(separator.join(map(_as_text, row)) for row in zip(*lists, strict=True)) + "\n"


def _as_text(value: float | str) -> str:
    return value if isinstance(value, str) else repr(value)

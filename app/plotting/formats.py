"""File formats for plots, one row each, used by dialogs, the command line and its help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from core.errors import FileError
from core.files.source import write_whole

if TYPE_CHECKING:
    from app.plotting.chart import Chart


class Format(NamedTuple):
    """A file format: its suffix with the dot, its title, and a function that returns the file's content, or a function
    writing it."""

    suffix: str
    title: str
    write: Callable[[Sequence[Chart]], bytes | Callable[[BinaryIO], object]]


def _png(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import png

    return png(charts)


def _svg(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import svg

    return svg(charts)


def _pdf(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import pdf

    return pdf(charts)


def _csv(charts: Sequence[Chart]) -> Callable[[BinaryIO], object]:
    from app.plotting.export import table

    pieces = table(charts)
    return lambda stream: stream.writelines(text.encode() for text in pieces)


FORMATS = [
    Format(".png", "Picture", _png),
    Format(".svg", "Drawing", _svg),
    Format(".pdf", "Drawing", _pdf),
    Format(".csv", "Numbers", _csv),
]
"""Formats in the order of dialogs; the first is the default. (They load Qt only when they write.)"""


def suffixes() -> str:
    """Return all suffixes as a phrase."""
    return ", ".join(each.suffix for each in FORMATS)


def filters() -> str:
    """Return the formats as a filter for file dialogs."""
    return ";;".join(f"{each.title} (*{each.suffix})" for each in FORMATS)


def format_of(path: str | Path) -> Format | None:
    """Return the format for a file's suffix; None if it is unknown."""
    suffix = Path(path).suffix.lower()
    return next((each for each in FORMATS if each.suffix == suffix), None)


def save(charts: Sequence[Chart], path: str | Path) -> None:
    """Write the plots to a file, completely or not at all; the suffix determines the format. Raises FileError."""
    write_whole(str(path), content(charts, path))


def content(charts: Sequence[Chart], path: str | Path) -> bytes | Callable[[BinaryIO], object]:
    """Return the content of a file of this name: pictures are drawn now, numbers are generated while writing, possibly
    in a thread. Raises FileError."""
    found = format_of(path)
    if found is None:
        raise FileError("The file's suffix is not a plot format.", file=str(path), remedy=f"Use {suffixes()}.")
    return found.write(charts)

"""File formats for plots, one row each, for dialogs, the command line and its help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from core.errors import FileError
from core.files.source import write_atomically

if TYPE_CHECKING:
    from app.plotting.chart import Chart


class PlotFormat(NamedTuple):
    """File format: suffix with its dot, title, and a function that returns the content of the file, or a function that
    writes it."""

    suffix: str
    title: str
    write: Callable[[Sequence[Chart]], bytes | Callable[[BinaryIO], object]]


def _png_content(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import png_data

    return png_data(charts)


def _svg_content(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import svg_data

    return svg_data(charts)


def _pdf_content(charts: Sequence[Chart]) -> bytes:
    from app.plotting.export import pdf_data

    return pdf_data(charts)


def _csv_content(charts: Sequence[Chart]) -> Callable[[BinaryIO], object]:
    from app.plotting.export import table_text

    pieces = table_text(charts)
    return lambda stream: stream.writelines(text.encode() for text in pieces)


FORMATS = [
    PlotFormat(".png", "Picture", _png_content),
    PlotFormat(".svg", "Drawing", _svg_content),
    PlotFormat(".pdf", "Drawing", _pdf_content),
    PlotFormat(".csv", "Numbers", _csv_content),
]
"""Formats in the order in which dialogs list them; the first is the default. (Qt is loaded only when a file is
written.)"""


def list_suffixes() -> str:
    """Return all suffixes as a phrase for messages."""
    return ", ".join(each.suffix for each in FORMATS)


def file_dialog_filter() -> str:
    """Return the filter string of a file dialog."""
    return ";;".join(f"{each.title} (*{each.suffix})" for each in FORMATS)


def format_for_path(path: str | Path) -> PlotFormat | None:
    """Return the format that corresponds to the suffix of a path; None if the suffix is unknown."""
    suffix = Path(path).suffix.lower()
    return next((each for each in FORMATS if each.suffix == suffix), None)


def save(charts: Sequence[Chart], path: str | Path) -> None:
    """Write plots to a file, atomically, in the format given by the suffix. Raises FileError."""
    write_atomically(str(path), file_content(charts, path))


def file_content(charts: Sequence[Chart], path: str | Path) -> bytes | Callable[[BinaryIO], object]:
    """Return the content of a plot file with this path: pictures are drawn now; numbers are generated while writing,
    which may happen in a thread. Raises FileError."""
    found = format_for_path(path)
    if found is None:
        raise FileError("The file's suffix is not a plot format.", file=str(path), remedy=f"Use {list_suffixes()}.")
    return found.write(charts)

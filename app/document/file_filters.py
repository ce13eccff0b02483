"""File dialog filters, made from the table of formats."""

from __future__ import annotations

from collections.abc import Iterable

from core.files.formats import FORMATS

DH_TABLES = ("kst", "csv", "toml", "robotica")
"""Formats that hold a Denavit–Hartenberg table."""


def titled(title: str, suffixes: Iterable[str]) -> str:
    """Return the part of a filter for files with these suffixes."""
    return f"{title} ({' '.join(f'*{suffix}' for suffix in suffixes)})"


def _patterns(writing: bool) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for each in FORMATS.values():
        if (each.write if writing else each.read) is not None:
            table[each.title] = [f"*{suffix}" for suffix in each.suffixes]
    return table


def open_filter() -> str:
    """Return the file dialog filter of all formats that can be read."""
    table = _patterns(writing=False)
    single = [f"{title} ({' '.join(patterns)})" for title, patterns in table.items()]
    return ";;".join([f"All models ({every_pattern()})", *single, "All files (*)"])


def every_pattern() -> str:
    """Return the patterns of all formats that can be read: "*.csv *.kst …"."""
    return " ".join(sorted({pattern for patterns in _patterns(writing=False).values() for pattern in patterns}))


def save_filter(suffix: str = "") -> str:
    """Return the file dialog filter of all formats that can be written, the native format first; or of one format
    alone."""
    table = _patterns(writing=True)
    table = {title: patterns for title, patterns in table.items() if not suffix or f"*{suffix}" in patterns}
    return ";;".join(f"{title} ({' '.join(patterns)})" for title, patterns in table.items())


def table_filter() -> str:
    """Return the file dialog filter of the formats in which a Denavit–Hartenberg table can be written."""
    return ";;".join(titled(FORMATS[name].title, FORMATS[name].suffixes) for name in DH_TABLES)


def mesh_filter() -> str:
    """Return the filter of the files that are read as meshes."""
    from core.files.meshes.lookup import MESH_SUFFIXES

    return titled("Meshes", MESH_SUFFIXES)


def signal_filter() -> str:
    """Return the filter of the files that are read as recorded signals."""
    from core.mechanics.elements.recorded_signals import SIGNAL_SUFFIXES

    return titled("Recorded signals", SIGNAL_SUFFIXES)

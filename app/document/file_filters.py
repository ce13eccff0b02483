"""File dialog filters, made from the table of formats."""

from __future__ import annotations

from core.files.formats import FORMATS


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

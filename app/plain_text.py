"""Escape user text for tool tips (which Qt may take for HTML), titles and menu entries (which have special characters
of their own). Labels are `app.widgets.label.Label`. `tests/project/test_text_as_it_is.py` enforces their use."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt

from core.errors import visible


def as_tip(text: str) -> str:
    """Return the text of a tool tip (of a widget, an item, an action) escaped so that it is shown literally."""
    text = visible(text)
    if not Qt.mightBeRichText(text):
        return text
    return Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal)


def headed_tip(head: str, key: str, words: str) -> str:
    """Return a tool tip with a bold heading, a shortcut key after it (or none) and text below."""
    keys = f" ({escape(key)})" if key else ""
    return f"<b>{escape(visible(head))}</b>{keys}<br>{escape(visible(words))}"


def as_title(text: str) -> str:
    """Return a window title: one line, in which `[*]` does not mark unsaved work."""
    return _one_line(text).replace("[*]", "[*][*]")


def as_entry(text: str) -> str:
    """Return the text of a menu entry, button or tab: one line, in which `&` does not mark a key."""
    return _one_line(text).replace("&", "&&")


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())

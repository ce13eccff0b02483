"""Text of files where Qt would read more than letters in it: tips guess HTML, titles and entries have marks of their
own. Labels are `app.widgets.label.Label`. `tests/project/test_text_as_it_is.py` keeps it so."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt

from core.visible_text import visible


def as_tip(text: str) -> str:
    """A tool tip (of a widget, an item, an action) that shows the text as it is."""
    text = visible(text)
    if not Qt.mightBeRichText(text):
        return text
    return Qt.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal)


def headed_tip(head: str, key: str, words: str) -> str:
    """A tool tip with a head in bold letters, a key behind it (or none) and words below."""
    keys = f" ({escape(key)})" if key else ""
    return f"<b>{escape(visible(head))}</b>{keys}<br>{escape(visible(words))}"


def as_title(text: str) -> str:
    """A title of a window: one line, in which `[*]` is no mark of unsaved work."""
    return _one_line(text).replace("[*]", "[*][*]")


def as_entry(text: str) -> str:
    """The words of a menu entry, button or tab: one line, in which `&` marks no key."""
    return _one_line(text).replace("&", "&&")


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())

"""Texts in the scene as VTK takes them: `$…$` in them is no formula to be typeset, and nothing in them is unseen."""

from __future__ import annotations

from core.visible_text import visible


def as_letters(text: str) -> str:
    """The input of a text actor that shows the text as it is."""
    return visible(text).replace("$", "\\$")

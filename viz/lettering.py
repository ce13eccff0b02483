"""Texts of the scene without VTK's interpretation: `$…$` is not typeset as a formula, and all characters are shown."""

from __future__ import annotations

from core.errors import visible


def as_letters(text: str) -> str:
    """Escape a text for a text actor so that it is shown verbatim."""
    return visible(text).replace("$", "\\$")

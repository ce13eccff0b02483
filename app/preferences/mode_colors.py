"""Colours of modes, in which joints stick, slide and meet their limits: the same in plots and over the timeline."""

from __future__ import annotations

from app.preferences.theme import Colors

OF_MODES = {
    "stick": "#5b8db8",
    "saturated": "#8a74b8",
    "slide+": "#d98a2b",
    "slide-": "#b9673a",
    "closed": "#cf5247",
    "leaving": "#d99a94",
    "at limit": "#cf5247",
    "overrun": "#8f2f63",
    "saturated+": "#cf5247",
    "saturated-": "#a8457a",
}
"""Readable on light and dark; what is not named (open, free) is as nothing."""


def mode_color(word: str, colors: Colors) -> str:
    """The colour of a mode, "#rrggbb"."""
    return OF_MODES.get(word, colors.line)

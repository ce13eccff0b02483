"""Colours of contact and friction states of joints (sticking, sliding, at a limit), shared by plots and timeline."""

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
"""Colours readable on light and dark backgrounds; other states (open, free) are transparent."""


def mode_color(word: str, colors: Colors) -> str:
    """Return the colour of a contact or friction state, "#rrggbb"."""
    return OF_MODES.get(word, colors.line)

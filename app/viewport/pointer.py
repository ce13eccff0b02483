"""Position, button and modifier keys of the pointer, as passed to tools."""

from __future__ import annotations

from math import hypot

from core.later import dataclass

CLICK = 4.0
"""Pixels (of the screen at 100 %) within which a press and a release are a click."""


@dataclass(frozen=True)
class Pointer:
    """State of the pointer. x, y: device pixels from the upper left corner of the viewport; scale: device pixels per
    pixel at 100 %."""

    x: float
    y: float
    scale: float = 1.0
    button: str = "left"
    shift: bool = False
    ctrl: bool = False
    alt: bool = False
    double: bool = False

    def is_click_after(self, press: Pointer) -> bool:
        """Return True if the pointer has stayed where the button was pressed."""
        return hypot(self.x - press.x, self.y - press.y) <= CLICK * self.scale

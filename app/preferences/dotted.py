"""Dotted letters such as q̇: some fonts place the dot so high that labels cut it off."""

from __future__ import annotations

from PySide6.QtGui import QFont, QTextLayout

MARK = QFont.Tag("mark")
"""The OpenType feature by which a font anchors marks to letters."""


def rise(font: QFont) -> float:
    """Return how far a font raises the dot of q̇ above its normal position, in pixels."""
    layout = QTextLayout("q\u0307", font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    heights = [position.y() for run in layout.glyphRuns() for position in run.positions()]
    return max(heights, default=0.0) - min(heights, default=0.0)


def dotted(font: QFont) -> QFont:
    """Return the font with dots in a visible position: mark anchors are switched off where they raise dots out of the
    line (DejaVu Sans)."""
    made = QFont(font)
    if rise(font) > 0.0:
        made.setFeature(MARK, 0)
    return made

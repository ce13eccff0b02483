"""Letters with dots, as in q̇: in some fonts their dots stand far above the line, where a label cuts them off."""

from __future__ import annotations

from PySide6.QtGui import QFont, QTextLayout

MARK = QFont.Tag("mark")
"""The OpenType feature by which a font anchors marks to letters."""


def rise(font: QFont) -> float:
    """How far the dot of q̇ is moved above the baseline it is drawn for, in pixels."""
    layout = QTextLayout("q\u0307", font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    heights = [position.y() for run in layout.glyphRuns() for position in run.positions()]
    return max(heights, default=0.0) - min(heights, default=0.0)


def dotted(font: QFont) -> QFont:
    """The font with dots where they are seen: without its anchors if these take them out of the line (DejaVu Sans)."""
    made = QFont(font)
    if rise(font) > 0.0:
        made.setFeature(MARK, 0)
    return made

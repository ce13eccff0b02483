"""Small buttons with an icon."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QToolButton

from app.plain_text import as_tip
from app.preferences.icons import icon


def tool_button(
    drawing: str, tip: str, pressed: Callable[[], object] | None = None, *, flat: bool = False
) -> QToolButton:
    """Return a button with an icon; the tip's text before ":" or " (" is its name for screen readers.

    flat : without a frame until the pointer is on it
    """
    button = QToolButton(icon=icon(drawing), toolTip=as_tip(tip), autoRaise=flat)
    button.setAccessibleName(tip.split(":")[0].split(" (")[0])
    if pressed is not None:
        button.clicked.connect(lambda: pressed())
    return button

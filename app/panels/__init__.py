"""Declaration of the panels: each panel's folder declares a `PANEL` and has a `panel.py` that is imported when the
panel is created."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.workbench import Workbench

LEFT, RIGHT, BOTTOM = "left", "right", "bottom"
"""Positions of docks, left, right or below the 3-D view. Commands that write a card read these declarations without Qt.
"""


class Panel(NamedTuple):
    """Declaration of a panel: its title, initial position, help, and the function that creates it.

    make   : makes it, for a window
    order  : its place among the others, in tabs and in the menu
    help   : what it is for, as F1 says it
    tab_with  : tabbed with that one
    also   : what others call it
    typing : whether it is a command line: who brings it to the front wants to type
    seldom : whether it is made only for who looks at it, or asks for it
    """

    id: str
    title: str
    area: str
    make: Callable[[Workbench], QWidget]
    order: int
    help: str
    tab_with: str = ""
    typing: bool = False
    also: tuple[str, ...] = ()
    seldom: bool = False

    def load(self) -> None:
        """Import the panel's module."""
        import_module(f"{__package__}.{self.id}.panel")


def declared_panels() -> list[Panel]:
    """Return the `PANEL` of every panel folder, sorted by their order."""
    folders = (found.name for found in iter_modules([str(Path(__file__).parent)]) if found.ispkg)
    modules = (import_module(f"{__package__}.{name}") for name in folders)
    return sorted((module.PANEL for module in modules), key=lambda panel: panel.order)

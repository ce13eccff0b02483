"""Context menu of a plot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.plain_text import as_entry
from app.plotting.sheets import TIME, Plot
from app.preferences.icons import icon


class PlotActions(NamedTuple):
    """Actions of a panel on one of its plots."""

    show_all: Callable[[], None]
    put: Callable[[Plot], None]
    """Function that replaces the plot by another one."""
    remove: Callable[[], None]
    fill_exports: Callable[[QMenu], None]


def plot_menu(parent: QWidget, plot: Plot, drawn: Iterable[Plot], actions: PlotActions) -> QMenu:
    """Return the context menu of one of the drawn plots; it is deleted when closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    put = actions.put
    menu.addAction(icon("fit"), "Show all", actions.show_all)
    _fill_across(menu.addMenu(icon("right"), "Horizontal axis"), plot, drawn, put)
    _fill_aspects(menu.addMenu("Height over width"), plot, put)
    menu.addSeparator()
    actions.fill_exports(menu)
    menu.addSeparator()
    menu.addAction(icon("clear"), "Clear this plot", lambda: put(replace(plot, channels=())))
    menu.addAction(icon("remove"), "Remove this plot", actions.remove)
    return menu


def _fill_across(menu: QMenu, plot: Plot, drawn: Iterable[Plot], put: Callable[[Plot], None]) -> None:
    def entry(title: str, x: str) -> None:
        kept = tuple(c for c in plot.channels if c != x)
        action = menu.addAction(as_entry(title), lambda: put(replace(plot, channels=kept, x=x)))
        action.setCheckable(True)
        action.setChecked(plot.x == x or (plot.over_time and x == TIME))

    entry("time", TIME)
    for name in dict.fromkeys(name for each in drawn for name in (each.x, *each.channels)):
        if name != TIME:
            entry(name, name)


def _fill_aspects(menu: QMenu, plot: Plot, put: Callable[[Plot], None]) -> None:
    for aspect in sorted({0.0, 0.5, 1.0, plot.aspect}):
        action = menu.addAction(
            f"{aspect:g}" if aspect else "Use all space",
            lambda aspect=aspect: put(replace(plot, aspect=aspect)),
        )
        action.setCheckable(True)
        action.setChecked(plot.aspect == aspect)

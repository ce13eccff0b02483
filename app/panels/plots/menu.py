"""What can be done with one plot: the menu of its context."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from app.panels.plots.export_menu import fill_exports
from app.plain_text import as_entry
from app.plotting.sheets import TIME, Plot
from app.preferences.icons import icon

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel


def plot_menu(panel: PlotsPanel, index: int) -> QMenu:
    """The menu of the plot of this number; it goes when it is closed."""
    menu = QMenu(panel)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    chart, plot = panel.charts[index], panel.sheet.plots[index]
    menu.addAction(icon("fit"), "Show all", chart.auto)
    _fill_across(menu.addMenu(icon("right"), "Horizontal axis"), panel, index, plot)
    _fill_aspects(menu.addMenu("Height over width"), panel, index, plot)
    menu.addSeparator()
    fill_exports(panel, menu, [index])
    menu.addSeparator()
    menu.addAction(icon("clear"), "Empty this plot", lambda: panel.put(index, replace(plot, channels=())))
    menu.addAction(icon("remove"), "Remove this plot", lambda: panel.remove_plot(index))
    return menu


def _fill_across(menu: QMenu, panel: PlotsPanel, index: int, plot: Plot) -> None:
    def entry(title: str, x: str) -> None:
        kept = tuple(c for c in plot.channels if c != x)
        action = menu.addAction(as_entry(title), lambda: panel.put(index, replace(plot, channels=kept, x=x)))
        action.setCheckable(True)
        action.setChecked(plot.x == x or (plot.over_time and x == TIME))

    entry("time", TIME)
    drawn = dict.fromkeys(name for each in panel.sheet.plots for name in (each.x, *each.channels))
    for name in drawn:
        if name != TIME:
            entry(name, name)


def _fill_aspects(menu: QMenu, panel: PlotsPanel, index: int, plot: Plot) -> None:
    for aspect in sorted({0.0, 0.5, 1.0, plot.aspect}):
        action = menu.addAction(
            f"{aspect:g}" if aspect else "As there is room",
            lambda aspect=aspect: panel.put(index, replace(plot, aspect=aspect)),
        )
        action.setCheckable(True)
        action.setChecked(plot.aspect == aspect)

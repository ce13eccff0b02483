"""Controls of the Plots panel: toolbar, context menu of a plot, and export with its file dialog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QFrame, QMenu, QToolButton, QVBoxLayout, QWidget

from app.background.jobs import Jobs
from app.document.session import Session
from app.plain_text import escape_entry, escape_tip
from app.plotting import formats
from app.plotting.curves import TIME, Plot
from app.preferences.icons import icon
from app.preferences.settings import Settings
from core.errors import KinetostatError
from core.files.source import write_atomically

if TYPE_CHECKING:
    from app.plotting.chart import Chart


class PlotActions(NamedTuple):
    """Actions that the plot menu can apply to one of the panel's plots."""

    show_all: Callable[[], None]
    put: Callable[[Plot], None]
    """Function that replaces the plot by another one."""
    remove: Callable[[], None]
    fill_exports: Callable[[QMenu], None]


def create_plot_menu(parent: QWidget, plot: Plot, all_plots: Iterable[Plot], actions: PlotActions) -> QMenu:
    """Create the context menu of a plot; it is deleted when closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    put = actions.put
    menu.addAction(icon("fit"), "Show all", actions.show_all)
    _add_axis_entries(menu.addMenu(icon("right"), "Horizontal axis"), plot, all_plots, put)
    _add_aspect_entries(menu.addMenu("Aspect ratio (height : width)"), plot, put)
    menu.addSeparator()
    actions.fill_exports(menu)
    menu.addSeparator()
    menu.addAction(icon("clear"), "Clear this plot", lambda: put(replace(plot, channels=())))
    menu.addAction(icon("remove"), "Remove this plot", actions.remove)
    return menu


def _add_axis_entries(menu: QMenu, plot: Plot, all_plots: Iterable[Plot], put: Callable[[Plot], None]) -> None:
    def add_entry(title: str, x: str) -> None:
        kept = tuple(c for c in plot.channels if c != x)
        action = menu.addAction(escape_entry(title), lambda: put(replace(plot, channels=kept, x=x)))
        action.setCheckable(True)
        action.setChecked(plot.x == x or (plot.is_over_time and x == TIME))

    add_entry("time", TIME)
    for name in dict.fromkeys(name for each in all_plots for name in (each.x, *each.channels)):
        if name != TIME:
            add_entry(name, name)


def _add_aspect_entries(menu: QMenu, plot: Plot, put: Callable[[Plot], None]) -> None:
    for aspect in sorted({0.0, 0.5, 1.0, plot.aspect}):
        action = menu.addAction(
            f"{aspect:g}" if aspect else "Fill the available space",
            lambda aspect=aspect: put(replace(plot, aspect=aspect)),
        )
        action.setCheckable(True)
        action.setChecked(plot.aspect == aspect)


def add_export_entries(menu: QMenu, charts: Callable[[], list[Chart]], ask: Callable[[list[Chart]], None]) -> None:
    """Add menu entries that copy charts, or ask for a file to write them to."""

    def copy() -> None:
        from app.plotting import export

        export.copy_to_clipboard(charts())

    menu.addAction(icon("copy"), "Copy", copy)
    menu.addAction(icon("export"), "Export…", lambda: ask(charts()))


def ask_export(
    parent: QWidget, folder: Path | None, settings: Settings, title: str, write: Callable[[str], object]
) -> None:
    """Ask for a file, starting in the document's folder, and write the plots."""
    proposed = formats.FORMATS[0].suffix
    start = str((folder or Path(settings.value("folders/plots", str(Path.home())))) / f"plot{proposed}")
    path, chosen = QFileDialog.getSaveFileName(parent, title, start, formats.file_dialog_filter())
    if path:
        if formats.format_for_path(path) is None:
            path += chosen[chosen.rfind("*") + 1 :].rstrip(")") or proposed
        settings.remember("folders/plots", str(Path(path).parent))
        write(path)


def write_plots(session: Session, jobs: Jobs, charts: Sequence[Chart], path: str | Path) -> None:
    """Write plots to a file: the pictures are drawn at once, the file is written in the background, and the outcome is
    reported."""
    try:
        content = formats.file_content(charts, path)
    except KinetostatError as error:
        session.message.emit("error", str(error))
        return
    job = jobs.start(f"Writing {Path(path).name}", lambda _progress, _cancelled: write_atomically(str(path), content))
    job.succeeded.connect(lambda _: session.message.emit("done", f"Wrote {path}"))
    job.failed.connect(lambda error: session.message.emit("error", str(error)))


class PlotsBar(QFrame):
    """Toolbar of the plots; buttons that act on plots are disabled while there are none.

    fill_exports : puts the entries into the menu of exports
    """

    def __init__(self, fill_exports: Callable[[QMenu], None]) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(3, 3, 0, 3)
        self._column.setSpacing(0)
        self.channels = self._create_button("tree", "Show the list of channels", checkable=True, on=True)
        self.add = self._create_button("add", "Add a plot")
        self.fit = self._create_button("fit", "Fit the axes to all curves (double-click in a plot)")
        self.zoom = self._create_button("zoom_box", "Drag to draw a zoom box instead of panning", checkable=True)
        self.link = self._create_button("link", "Link the time axes of all plots", checkable=True, on=True)
        self.measure = self._create_button(
            "measure", "Measure time and value differences between two lines", checkable=True
        )
        self.export = self._create_button("export", "Copy or export all plots")
        menu = QMenu(self.export)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: fill_exports(menu))
        self.export.setMenu(menu)
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._column.addStretch(1)

    def _create_button(self, icon_name: str, tip: str, checkable: bool = False, on: bool = False) -> QToolButton:
        button = QToolButton(icon=icon(icon_name), toolTip=escape_tip(tip), autoRaise=True, checkable=checkable)
        button.setChecked(on)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._column.addWidget(button)
        return button

    def refresh(self, plot_count: int) -> None:
        """Enable the buttons that apply to this number of plots."""
        for button in (self.fit, self.zoom, self.measure, self.export):
            button.setEnabled(plot_count > 0)
        self.link.setEnabled(plot_count > 1)

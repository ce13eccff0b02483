"""The dockable panels around the viewport and their layout, which is saved between sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QHBoxLayout, QMainWindow, QTabBar, QWidget

from app.panels import BOTTOM, LEFT, RIGHT, Panel, declared_panels
from app.plain_text import escape_title
from app.widgets.label import set_accessible_panel_names

if TYPE_CHECKING:
    from app.workbench import Workbench

VERSION = 9
"""Version of the layout, incremented when the set of panels changes, so that a layout saved by an older version is
ignored."""
AREAS = {
    LEFT: Qt.DockWidgetArea.LeftDockWidgetArea,
    RIGHT: Qt.DockWidgetArea.RightDockWidgetArea,
    BOTTOM: Qt.DockWidgetArea.BottomDockWidgetArea,
}
MIDDLE = 480
"""Width of the viewport, in pixels, below which the side columns are narrowed in its favour …"""
LEAST = {AREAS[LEFT]: 220, AREAS[RIGHT]: 290}
"""… down to these widths, in pixels."""
HIGHEST = 213
"""Minimum height, in pixels, of the tallest panel below the viewport (Design). Placeholders have this height, so that
nothing moves when the panel is created."""


P = TypeVar("P")


class CreatedPanels(dict[str, QWidget]):
    """Panels created so far, by id. Indexing creates a missing panel; `get` does not."""

    def __init__(self, make: Callable[[str], QWidget]) -> None:
        super().__init__()
        self._create_panel = make

    def __missing__(self, name: str) -> QWidget:
        return self._create_panel(name)


class PanelAttribute(Generic[P]):
    """Descriptor of a window attribute that is a panel, created on first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, window: Any, owner: type) -> P:
        return cast(P, window.docks.panels[self._name])


class Docks:
    """One dock per panel. A panel hidden behind another is created when it is first shown or requested, or in the
    background, since most panels are not used for a long time."""

    def __init__(self, window: QMainWindow, bench: Workbench) -> None:
        self._window, self._bench, self._settings = window, bench, bench.settings
        self.places = declared_panels()
        self.panels = CreatedPanels(self._create_panel)
        self.docks: dict[str, QDockWidget] = {}
        self._then: dict[str, list[Callable[[Any], object]]] = {}
        """Calls to be made with panels once these exist."""
        self._loaded: list[Panel] = []
        self._moved = self._forgotten = False
        """True if docks were moved, and tab bars left behind, in this turn of the event loop."""
        window.setDockOptions(
            window.DockOption.AnimatedDocks | window.DockOption.AllowTabbedDocks | window.DockOption.AllowNestedDocks
        )
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, window.tabPosition(AREAS[LEFT]).North)
        window.setCorner(Qt.Corner.BottomLeftCorner, AREAS[LEFT])
        window.setCorner(Qt.Corner.BottomRightCorner, AREAS[RIGHT])
        for place in self.places:
            self._add_dock(place)
        self._arrange_docks()
        for dock in self.docks.values():
            for moved in (dock.topLevelChanged, dock.dockLocationChanged):
                moved.connect(self._schedule_title_bar_update)
        self.focus = HiddenFocusCorrector(window, bench.stage.widget, list(self.docks.values()))
        for place in self.places:
            self.docks[place.id].visibilityChanged.connect(partial(self._on_panel_shown, place))
        self._first = window.saveState(VERSION)

    def _add_dock(self, panel: Panel) -> None:
        dock = QDockWidget(panel.title, self._window)
        dock.setObjectName(panel.id)
        self.docks[panel.id] = dock
        if panel.tab_with:
            dock.setWidget(self._create_placeholder(panel))
        else:
            self._create_panel(panel.id)
        self._window.addDockWidget(AREAS[panel.area], dock)
        if panel.tab_with:  # at once: side by side they would make the window wide
            self._window.tabifyDockWidget(self.docks[panel.tab_with], dock)

    # ----------------------------------------------------------------------------- making panels

    @staticmethod
    def _create_placeholder(panel: Panel) -> QWidget:
        """Return a placeholder for a panel that is not created yet."""
        stand_in = QWidget()
        stand_in.setMinimumHeight(HIGHEST if panel.area == BOTTOM else 0)
        return stand_in

    def _create_panel(self, name: str) -> QWidget:
        place = next((place for place in self.places if place.id == name), None)
        if place is None:
            raise KeyError(name)
        panel, dock = place.make(self._bench), self.docks[name]
        self.panels[name] = panel
        set_accessible_panel_names(panel, place.title)
        before = dock.widget()
        dock.setWidget(panel)
        if before is not None:
            before.deleteLater()
            panel.show()
        for do in self._then.pop(name, ()):
            do(panel)
        return panel

    def when_created(self, name: str, callback: Callable[[Any], object]) -> None:
        """Call `callback(panel)` once a panel has been created; immediately if it already exists."""
        if name in self.panels:
            callback(self.panels[name])
        else:
            self._then.setdefault(name, []).append(callback)

    @property
    def missing_panels(self) -> list[Panel]:
        """Return the panels that are not created yet."""
        return [place for place in self.places if place.id not in self.panels]

    def create_missing_panels(self) -> None:
        """Create all panels that do not exist yet."""
        for place in self.missing_panels:
            self._create_panel(place.id)

    def create_next_panel(self) -> bool:
        """Import or create the next missing panel, except for rarely used ones; return False if there was nothing left
        to do."""
        for place in self.missing_panels:
            if not place.seldom:
                self._create_panel(place.id) if place in self._loaded else self._import_panel(place)
                return True
        return False

    def _import_panel(self, panel: Panel) -> None:
        panel.load()
        self._loaded.append(panel)

    def close(self) -> None:
        """Close the panels."""
        for panel in self.panels.values():
            panel.close()

    # ----------------------------------------------------------------------------- places

    def _arrange_docks(self) -> None:
        for place in self.places:
            if place.tab_with:
                self._window.tabifyDockWidget(self.docks[place.tab_with], self.docks[place.id])
        for name in ("functions", "output", "properties"):
            self.docks[name].raise_()
        self._set_first_sizes()
        self._update_title_bars()

    def _set_first_sizes(self) -> None:
        width, height = self._window.width(), self._window.height()
        columns = [self.docks["functions"], self.docks["properties"]]
        widths = [min(290, width * 22 // 100), min(340, max(290, width * 28 // 100))]
        self._window.resizeDocks(columns, widths, Qt.Orientation.Horizontal)
        self._window.resizeDocks([self.docks["output"]], [min(210, height * 24 // 100)], Qt.Orientation.Vertical)
        self._window.resizeDocks([self.docks["properties"], self.docks["sliders"]], [540, 260], Qt.Orientation.Vertical)

    def narrow_side_columns(self) -> None:
        """In a narrow window, narrow the side columns in favour of the viewport."""
        lack = MIDDLE - self._window.centralWidget().width()
        if lack <= 0 or not self._window.isVisible():
            return
        columns = [dock for side in (AREAS[RIGHT], AREAS[LEFT]) if (dock := self._visible_dock(side)) is not None]
        widths = []
        for dock in columns:
            given = min(lack, max(0, dock.width() - LEAST[self._window.dockWidgetArea(dock)]))
            lack -= given
            widths.append(dock.width() - given)
        self._window.resizeDocks(columns, widths, Qt.Orientation.Horizontal)

    def _visible_dock(self, side: Qt.DockWidgetArea) -> QDockWidget | None:
        """Return a visible dock at a side; None if there is none."""
        docks = (dock for dock in self.docks.values() if self._window.dockWidgetArea(dock) == side)
        return next((dock for dock in docks if not (dock.isFloating() or dock.visibleRegion().isEmpty())), None)

    def _schedule_title_bar_update(self, *_: object) -> None:
        """Schedule a single update of the title bars, even if several docks have moved."""
        if not self._moved:
            self._moved = True
            QTimer.singleShot(0, self._window, self._update_title_bars)

    def _update_title_bars(self) -> None:
        """Show the title bar of a dock only if it is not tabbed; the tab of a tabbed dock shows its title."""
        self._moved = False
        for dock in self.docks.values():
            tabbed = bool(self._window.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(_create_empty_title_bar(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)
                bar.deleteLater()
        if not self._forgotten:
            self._forgotten = True
            QTimer.singleShot(0, self._window, self._hide_stale_tab_bars)

    def _hide_stale_tab_bars(self) -> None:
        """Hide unmanaged tab bars that Qt leaves behind when docks are tabbed or a layout is restored. Such a bar is
        recognised by a newer bar that has all of its tabs."""
        self._forgotten = False
        known: set[str] = set()
        for bar in reversed(self.tab_bars()):
            titles = {bar.tabText(i) for i in range(bar.count())}
            if titles and titles <= known:
                bar.hide()
            elif not bar.isHidden():
                known |= titles

    def _on_panel_shown(self, panel: Panel, visible: bool) -> None:
        """Create a panel that has come to the front, and focus its input line if it has one, so that typing does not
        trigger shortcuts. When the window appears, Qt also reports panels hidden behind others as visible."""
        if visible and panel.id not in self.panels:
            QTimer.singleShot(0, self._window, partial(self._create_if_visible, panel))
        elif visible:
            self._focus_input_line(panel)

    def _create_if_visible(self, panel: Panel) -> None:
        if not self.docks[panel.id].visibleRegion().isEmpty():
            _ = self.panels[panel.id]
            self._focus_input_line(panel)

    def _focus_input_line(self, panel: Panel) -> None:
        if panel.typing and self._window.isActiveWindow():
            self.panels[panel.id].setFocus(Qt.FocusReason.TabFocusReason)

    def show_panel(self, name: str) -> None:
        """Bring a panel to the front."""
        _ = self.panels[name]
        self.docks[name].show()
        self.docks[name].raise_()

    def set_panel_title(self, name: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        self.docks[name].setWindowTitle(escape_title(title))

    def restore_initial_layout(self) -> None:
        """Restore the initial layout."""
        self._window.restoreState(self._first, VERSION)
        self._arrange_docks()

    def save_layout(self) -> None:
        """Save the window's size and the layout of the panels."""
        self._settings.remember_bytes("window/geometry", self._window.saveGeometry())
        self._settings.remember_bytes("window/docks", self._window.saveState(VERSION))

    def apply_initial_sizes(self) -> None:
        """Apply the initial panel sizes once the window has its final size, unless a layout has been saved."""
        if self._settings.stored_bytes("window/docks") is None:
            self._set_first_sizes()

    def restore_saved_layout(self) -> None:
        """Restore the saved window size and layout."""
        geometry = self._settings.stored_bytes("window/geometry")
        if geometry is not None:
            self._window.restoreGeometry(geometry)
        docks = self._settings.stored_bytes("window/docks")
        if docks is not None:
            self._window.restoreState(docks, VERSION)
        self._update_title_bars()

    def tab_bars(self) -> list[QTabBar]:
        """Return the tab bars that Qt created for tabbed docks."""
        return [bar for bar in self._window.findChildren(QTabBar) if bar.parent() is self._window]


def _create_empty_title_bar(dock: QDockWidget) -> QWidget:
    """Return an empty title bar of zero height. It needs a layout: without one its height would be −1, and Qt would
    print a warning."""
    bar = QWidget(dock)
    QHBoxLayout(bar).setContentsMargins(0, 0, 0, 0)
    return bar


class HiddenFocusCorrector(QObject):
    """Moves the keyboard focus to the viewport if it is in a panel hidden behind another: Qt may pass the focus there
    when a button disappears, and leaves it there when another tab is selected."""

    def __init__(self, window: QMainWindow, scene: QWidget, docks: list[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._scene, self._docks = window, scene, docks
        self._due = False
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._schedule_focus_check)
        for dock in docks:
            dock.visibilityChanged.connect(self._schedule_focus_check)

    def _schedule_focus_check(self, *_: object) -> None:
        if not self._due:
            self._due = True
            QTimer.singleShot(0, self, self._correct_focus)  # a panel may be just coming to the front

    def _correct_focus(self) -> None:
        self._due = False
        focus = self._window.focusWidget()
        if focus is None or not self._window.isVisible():
            return
        if self.is_in_hidden_panel(focus):
            self._scene.setFocus(Qt.FocusReason.OtherFocusReason)

    def is_in_hidden_panel(self, widget: QWidget) -> bool:
        """Return True if a widget is in a panel hidden behind another one."""
        docks = (dock for dock in self._docks if dock.isAncestorOf(widget) and not dock.isFloating())
        return any(dock.visibleRegion().isEmpty() for dock in docks)

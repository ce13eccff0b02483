"""The panels around the viewport: their arrangement, saved between sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QHBoxLayout, QMainWindow, QTabBar, QWidget

from app.panels import BOTTOM, LEFT, RIGHT, Panel, panels
from app.plain_text import as_title
from app.widgets.label import name_panel

if TYPE_CHECKING:
    from app.workbench import Workbench

VERSION = 6
"""Incremented when the set of panels changes, so that an older arrangement is ignored."""
AREAS = {
    LEFT: Qt.DockWidgetArea.LeftDockWidgetArea,
    RIGHT: Qt.DockWidgetArea.RightDockWidgetArea,
    BOTTOM: Qt.DockWidgetArea.BottomDockWidgetArea,
}
MIDDLE = 480
"""Pixels of width below which the picture gets some of the columns beside it …"""
LEAST = {AREAS[LEFT]: 220, AREAS[RIGHT]: 290}
"""… as long as they keep these."""
HIGHEST = 213
"""Pixels of height that the highest of the panels below the picture wants (Design): so high they are before it is made,
so that nothing moves then."""


P = TypeVar("P")


class PanelsMade(dict[str, QWidget]):
    """The panels created so far, by their ids. Indexing creates a panel if needed; `get` does not."""

    def __init__(self, make: Callable[[str], QWidget]) -> None:
        super().__init__()
        self._create_panel = make

    def __missing__(self, name: str) -> QWidget:
        return self._create_panel(name)


class PanelOf(Generic[P]):
    """Descriptor that gives a panel as an attribute of its window, created on first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, window: Any, owner: type) -> P:
        return cast(P, window.docks.panels[self._name])


class Docks:
    """One dock per panel. Panels hidden behind others are created when first shown or requested, all of them by
    `complete`, or one by one by `make_next`, since most are not used for a long time."""

    def __init__(self, window: QMainWindow, bench: Workbench) -> None:
        self._window, self._bench, self._settings = window, bench, bench.settings
        self.places = panels()
        self.panels = PanelsMade(self._create_panel)
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
        self._arrange()
        for dock in self.docks.values():
            for moved in (dock.topLevelChanged, dock.dockLocationChanged):
                moved.connect(self._retitle_soon)
        self.focus = SeenFocus(window, bench.stage.widget, list(self.docks.values()))
        for place in self.places:
            self.docks[place.id].visibilityChanged.connect(partial(self._panel_shown, place))
        self._first = window.saveState(VERSION)

    def _add_dock(self, place: Panel) -> None:
        dock = QDockWidget(place.title, self._window)
        dock.setObjectName(place.id)
        self.docks[place.id] = dock
        if place.tab_with:
            dock.setWidget(self._placeholder(place))
        else:
            self._create_panel(place.id)
        self._window.addDockWidget(AREAS[place.area], dock)
        if place.tab_with:  # at once: side by side they would make the window wide
            self._window.tabifyDockWidget(self.docks[place.tab_with], dock)

    # ----------------------------------------------------------------------------- making panels

    @staticmethod
    def _placeholder(place: Panel) -> QWidget:
        """Return a placeholder for a panel that is not created yet."""
        stand_in = QWidget()
        stand_in.setMinimumHeight(HIGHEST if place.area == BOTTOM else 0)
        return stand_in

    def _create_panel(self, name: str) -> QWidget:
        place = next((place for place in self.places if place.id == name), None)
        if place is None:
            raise KeyError(name)
        panel, dock = place.make(self._bench), self.docks[name]
        self.panels[name] = panel
        name_panel(panel, place.title)
        before = dock.widget()
        dock.setWidget(panel)
        if before is not None:
            before.deleteLater()
            panel.show()
        for do in self._then.pop(name, ()):
            do(panel)
        return panel

    def when_made(self, name: str, do: Callable[[Any], object]) -> None:
        """Call `do(panel)` once a panel is created; at once if it is."""
        if name in self.panels:
            do(self.panels[name])
        else:
            self._then.setdefault(name, []).append(do)

    @property
    def missing(self) -> list[Panel]:
        """Return the panels that are not created yet."""
        return [place for place in self.places if place.id not in self.panels]

    def complete(self) -> None:
        """Create the panels that are missing."""
        for place in self.missing:
            self._create_panel(place.id)

    def make_next(self) -> bool:
        """Import or create the next missing panel, except rarely used ones; returns False if nothing was left to do."""
        for place in self.missing:
            if not place.seldom:
                self._create_panel(place.id) if place in self._loaded else self._import_panel(place)
                return True
        return False

    def _import_panel(self, place: Panel) -> None:
        place.load()
        self._loaded.append(place)

    def close(self) -> None:
        """Close the panels."""
        for panel in self.panels.values():
            panel.close()

    # ----------------------------------------------------------------------------- places

    def _arrange(self) -> None:
        for place in self.places:
            if place.tab_with:
                self._window.tabifyDockWidget(self.docks[place.tab_with], self.docks[place.id])
        for name in ("functions", "output"):
            self.docks[name].raise_()
        self._set_first_sizes()
        self._retitle()

    def _set_first_sizes(self) -> None:
        width, height = self._window.width(), self._window.height()
        columns = [self.docks["functions"], self.docks["properties"]]
        widths = [min(290, width * 22 // 100), min(340, max(290, width * 28 // 100))]
        self._window.resizeDocks(columns, widths, Qt.Orientation.Horizontal)
        self._window.resizeDocks([self.docks["output"]], [min(210, height * 24 // 100)], Qt.Orientation.Vertical)
        self._window.resizeDocks([self.docks["properties"], self.docks["sliders"]], [540, 260], Qt.Orientation.Vertical)

    def make_room(self) -> None:
        """Narrow the side columns in favour of the viewport in a narrow window."""
        lack = MIDDLE - self._window.centralWidget().width()
        if lack <= 0 or not self._window.isVisible():
            return
        columns = [dock for side in (AREAS[RIGHT], AREAS[LEFT]) if (dock := self._seen(side)) is not None]
        widths = []
        for dock in columns:
            given = min(lack, max(0, dock.width() - LEAST[self._window.dockWidgetArea(dock)]))
            lack -= given
            widths.append(dock.width() - given)
        self._window.resizeDocks(columns, widths, Qt.Orientation.Horizontal)

    def _seen(self, side: Qt.DockWidgetArea) -> QDockWidget | None:
        """Return a visible dock at a side; None if there is none."""
        docks = (dock for dock in self.docks.values() if self._window.dockWidgetArea(dock) == side)
        return next((dock for dock in docks if not (dock.isFloating() or dock.visibleRegion().isEmpty())), None)

    def _retitle_soon(self, *_: object) -> None:
        """Schedule one update of the title bars for several moved docks."""
        if not self._moved:
            self._moved = True
            QTimer.singleShot(0, self._window, self._retitle)

    def _retitle(self) -> None:
        """Show title bars for single docks only; for tabbed docks the tab shows the title."""
        self._moved = False
        for dock in self.docks.values():
            tabbed = bool(self._window.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bar = dock.titleBarWidget()
            if tabbed and bar is None:
                dock.setTitleBarWidget(_empty_title_bar(dock))
            elif not tabbed and bar is not None:
                dock.setTitleBarWidget(None)
                bar.deleteLater()
        if not self._forgotten:
            self._forgotten = True
            QTimer.singleShot(0, self._window, self._hide_forgotten_bars)

    def _hide_forgotten_bars(self) -> None:
        """Hide tab bars that Qt leaves behind, unmanaged, when docks are tabbed or an arrangement is restored; a newer
        bar has all of their tabs."""
        self._forgotten = False
        known: set[str] = set()
        for bar in reversed(self.tab_bars()):
            titles = {bar.tabText(i) for i in range(bar.count())}
            if titles and titles <= known:
                bar.hide()
            elif not bar.isHidden():
                known |= titles

    def _panel_shown(self, place: Panel, seen: bool) -> None:
        """Handle a panel coming to the front, and focus the input line of one with a command line, so that keys are not
        taken for shortcuts. When the window appears, Qt also reports panels hidden behind others as visible."""
        if seen and place.id not in self.panels:
            QTimer.singleShot(0, self._window, partial(self._make_if_seen, place))
        elif seen:
            self._ready_to_type(place)

    def _make_if_seen(self, place: Panel) -> None:
        if not self.docks[place.id].visibleRegion().isEmpty():
            _ = self.panels[place.id]
            self._ready_to_type(place)

    def _ready_to_type(self, place: Panel) -> None:
        if place.typing and self._window.isActiveWindow():
            self.panels[place.id].setFocus(Qt.FocusReason.TabFocusReason)

    def show(self, name: str) -> None:
        """Bring a panel to the front."""
        _ = self.panels[name]
        self.docks[name].show()
        self.docks[name].raise_()

    def retitle(self, name: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        self.docks[name].setWindowTitle(as_title(title))

    def reset(self) -> None:
        """Restore the initial arrangement."""
        self._window.restoreState(self._first, VERSION)
        self._arrange()

    def remember(self) -> None:
        """Save size and arrangement."""
        self._settings.remember_bytes("window/geometry", self._window.saveGeometry())
        self._settings.remember_bytes("window/docks", self._window.saveState(VERSION))

    def settle(self) -> None:
        """Give the panels their initial sizes once the window has its own; a saved arrangement is kept."""
        if self._settings.bytes("window/docks") is None:
            self._set_first_sizes()

    def recall(self) -> None:
        """Restore the saved size and arrangement."""
        geometry = self._settings.bytes("window/geometry")
        if geometry is not None:
            self._window.restoreGeometry(geometry)
        docks = self._settings.bytes("window/docks")
        if docks is not None:
            self._window.restoreState(docks, VERSION)
        self._retitle()

    def tab_bars(self) -> list[QTabBar]:
        """Return the tab bars that Qt created for tabbed docks."""
        return [bar for bar in self._window.findChildren(QTabBar) if bar.parent() is self._window]


def _empty_title_bar(dock: QDockWidget) -> QWidget:
    """Return a replacement for a title bar with zero height; without a layout its height would be −1, for which Qt
    prints a warning."""
    bar = QWidget(dock)
    QHBoxLayout(bar).setContentsMargins(0, 0, 0, 0)
    return bar


class SeenFocus(QObject):
    """Moves the keyboard focus to the scene if it is in a panel hidden behind another: Qt passes the focus there when a
    button disappears, and leaves it there when another tab is chosen."""

    def __init__(self, window: QMainWindow, scene: QWidget, docks: list[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._scene, self._docks = window, scene, docks
        self._due = False
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._look)
        for dock in docks:
            dock.visibilityChanged.connect(self._look)

    def _look(self, *_: object) -> None:
        if not self._due:
            self._due = True
            QTimer.singleShot(0, self, self._correct_focus)  # a panel may be just coming to the front

    def _correct_focus(self) -> None:
        self._due = False
        focus = self._window.focusWidget()
        if focus is None or not self._window.isVisible():
            return
        if self.is_behind(focus):
            self._scene.setFocus(Qt.FocusReason.OtherFocusReason)

    def is_behind(self, widget: QWidget) -> bool:
        """Return True if a widget is in a panel hidden behind another one."""
        docks = (dock for dock in self._docks if dock.isAncestorOf(widget) and not dock.isFloating())
        return any(dock.visibleRegion().isEmpty() for dock in docks)

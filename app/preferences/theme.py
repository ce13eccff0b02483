"""Light and dark themes: palette, style sheet, colours of contact and friction states. The theme follows the system
unless the user has chosen one."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette, QTextLayout
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.background.signals import Lifetime, Signal
from app.background.slices import shared_slices
from app.preferences.settings import Settings
from core.later import dataclass

MARK_FEATURE = QFont.Tag("mark")
"""OpenType feature by which a font positions combining marks on letters."""


def dot_rise(font: QFont) -> float:
    """Return how far a font raises the dot of q̇ above its usual position, pixels."""
    layout = QTextLayout("q\u0307", font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    heights = [position.y() for run in layout.glyphRuns() for position in run.positions()]
    return max(heights, default=0.0) - min(heights, default=0.0)


def with_visible_dots(font: QFont) -> QFont:
    """Return the font with dots of q̇ in a visible position: combining-mark positioning is switched off where it raises
    dots out of the line (DejaVu Sans)."""
    made = QFont(font)
    if dot_rise(font) > 0.0:
        made.setFeature(MARK_FEATURE, 0)
    return made


@dataclass(frozen=True)
class Colors:
    """The colours of one theme, as "#rrggbb"."""

    window: str
    base: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    error: str
    warning: str
    done: str
    hover: str


LIGHT = Colors(
    window="#f4f5f7",
    base="#ffffff",
    raised="#fbfbfc",
    line="#d9dde3",
    text="#20262e",
    muted="#6b7480",
    accent="#1f7ae0",
    on_accent="#ffffff",
    error="#c3342c",
    warning="#9a6700",
    done="#2a7d46",
    hover="#e6eaf0",
)
DARK = Colors(
    window="#23262b",
    base="#1b1d21",
    raised="#2a2e34",
    line="#3a3f47",
    text="#e4e7eb",
    muted="#98a1ad",
    accent="#4aa3ff",
    on_accent="#10151c",
    error="#f0857d",
    warning="#e0b457",
    done="#7cc795",
    hover="#343941",
)
PALETTES = {"light": LIGHT, "dark": DARK}
ROLES = {
    "window": "window",
    "base": "base",
    "raised": "light",
    "line": "mid",
    "text": "text",
    "muted": "placeholder-text",
    "accent": "highlight",
    "hover": "midlight",
}
"""Colour roles of the palette that style sheets use, so that one sheet serves every theme."""

SHEET = """
QMainWindow::separator {{ background: {line}; width: 1px; height: 1px; }}
QMainWindow::separator:hover {{ background: {accent}; }}
QToolBar {{ background: {window}; border: 0; border-bottom: 1px solid {line}; spacing: 1px; padding: 2px 6px; }}
QToolBar::separator {{ background: {line}; width: 1px; margin: 5px 6px; }}
QToolButton {{ border: 0; border-radius: 5px; padding: 4px; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:checked {{ background: {hover}; border-bottom: 2px solid {accent}; border-radius: 5px; }}
QPushButton:checked {{ background: {hover}; border: 1px solid {accent}; border-bottom: 3px solid {accent};
  border-radius: 4px; padding: 3px 10px 1px 10px; }}
QToolButton:pressed {{ background: {line}; }}
QToolButton#section, QToolButton#section:checked, QToolButton#section:hover {{ border: 0; font-weight: 600;
  padding: 3px 0; background: transparent; }}
QToolButton#small {{ padding: 2px; }}
QMenuBar {{ background: {window}; }}
QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
QMenuBar::item:selected {{ background: {hover}; }}
QMenu {{ background: {raised}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 5px 26px 5px 10px; border-radius: 4px; }}
QMenu::item:selected {{ background: {hover}; color: {text}; }}
QMenu::item:disabled {{ color: {muted}; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 4px 8px; }}
QMenu::icon {{ padding-left: 6px; }}
QDockWidget {{ titlebar-close-icon: none; titlebar-normal-icon: none; }}
QDockWidget::title {{ background: {window}; padding: 5px 10px; text-align: left; }}
QTabBar::tab {{ background: transparent; border: 0; border-bottom: 2px solid transparent; padding: 5px 8px;
               color: {muted}; }}
QTabBar::tab:selected {{ color: {text}; border-bottom: 2px solid {accent}; }}
QTabBar::tab:hover {{ color: {text}; }}
QTabWidget::pane {{ border: 0; }}
QStatusBar {{ background: {window}; border-top: 1px solid {line}; }}
QStatusBar::item {{ border: 0; }}
QScrollArea, QTreeView, QListView {{ border: 0; }}
QComboBox QAbstractItemView, #completions {{ background: {raised}; border: 1px solid {line}; }}
QCheckBox::indicator:unchecked, QTableView::indicator:unchecked, QTreeView::indicator:unchecked {{
  border: 1px solid {muted}; border-radius: 2px; background: {base}; }}
QHeaderView::section {{ background: {window}; border: 0; border-bottom: 1px solid {line}; padding: 4px; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {line}; padding: 4px 6px; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {line}; border-radius: 4px; min-height: 24px; min-width: 24px; margin: 1px; }}
QScrollBar::handle:hover {{ background: {muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QAbstractScrollArea::corner {{ background: transparent; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
#finder {{ background: {base}; border: 1px solid {line}; border-radius: 6px; color: {muted}; padding: 4px 12px; }}
#finder:hover {{ border-color: {accent}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
#overlay {{ background: {raised}; border: 1px solid {line}; border-radius: 8px; }}
#message {{ border-radius: 8px; border: 1px solid {line}; background: {raised}; }}
#muted, QLabel[muted="true"], #chartHint {{ color: {muted}; }}
#chartTitle {{ color: {muted}; background: {base}; }}
#chartNote {{ background: {raised}; color: {text}; border: 1px solid {line}; border-radius: 4px; padding: 1px 5px; }}
""".format(**{color: f"palette({role})" for color, role in ROLES.items()})


MOST = 40
"""Number of widgets recoloured together when the theme changes."""
SCENE = "QOpenGLWidget"


class Theme:
    """Theme of the whole program; emits `changed("light" | "dark")` when it switches."""

    changed = Signal(str)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.name = ""
        running_application().setStyle("Fusion")
        running_application().setFont(with_visible_dots(running_application().font()))
        self._life = Lifetime()
        self._life.listen(
            (QGuiApplication.styleHints().colorSchemeChanged, self._on_system_changed),
            (settings.changed, self._on_setting_changed),
        )
        self.refresh()

    @property
    def colors(self) -> Colors:
        """The colours in use."""
        return PALETTES[self.name]

    def refresh(self) -> None:
        """Apply the theme chosen in the settings, or that of the system."""
        name = effective_look(self._settings)
        if name == self.name:
            return
        self.name = name
        app = running_application()
        app.setPalette(build_palette(self.colors))
        if app.styleSheet() == SHEET:
            repaint_in_slices(app)
        self.changed.emit(name)

    def apply_style_sheet(self) -> None:
        """Apply the style sheet once the window is assembled; if applied earlier, Qt would look up the styles again
        each time a widget changes its parent, which takes longer than creating the widget."""
        if running_application().styleSheet() != SHEET:
            running_application().setStyleSheet(SHEET)

    def close(self) -> None:
        """Disconnect from settings and system."""
        self._life.close()

    def _on_system_changed(self, scheme: Qt.ColorScheme) -> None:
        self.refresh()

    def _on_setting_changed(self, key: str) -> None:
        if key == "look":
            self.refresh()


def repaint_in_slices(app: QApplication) -> None:
    """Repaint widgets in the colours of a new palette, visible ones first, then hidden ones, in time slices; each group
    of widgets is painted as soon as it has its colours.

    Qt remembers the colours that it found for a widget until that is polished. Setting the sheet anew would polish each
    as often as there are widgets around it.
    """
    waiting = [part for window in app.topLevelWidgets() if window.isVisible() for part in _visible_parts(window)]
    inside = {id(widget) for part in waiting for widget in (part, *part.findChildren(QWidget))}
    others = [widget for widget in app.allWidgets() if id(widget) not in inside]
    for part in waiting:
        part.setUpdatesEnabled(False)
    for widget in others:
        if isValid(widget) and widget.isVisible():  # what is polished first may have replaced it
            widget.style().polish(widget)
    waiting += [widget for widget in others if isValid(widget) and not widget.isVisible()]

    def work(seconds: float) -> bool:
        until = time.perf_counter() + seconds
        while waiting and time.perf_counter() < until:
            part = waiting.pop(0)
            if isValid(part):
                of_part = part.findChildren(QWidget) if id(part) in inside else []
                for widget in (part, *of_part):
                    if isValid(widget):
                        widget.style().polish(widget)
            if isValid(part):
                part.setUpdatesEnabled(True)
                part.update()
        return not waiting

    shared_slices().add(app, work)


def _visible_parts(window: QWidget) -> list[QWidget]:
    """Return the visible widgets of a window in small groups, without the scene and its parents."""
    found: list[QWidget] = []
    for child in window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if child.isVisible() and not child.isWindow() and not child.inherits(SCENE):
            inside = child.findChildren(QWidget)
            whole = len(inside) <= MOST and not any(each.inherits(SCENE) for each in inside)
            found += [child] if whole else _visible_parts(child)
    return found


def running_application() -> QApplication:
    """Return the running QApplication."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


def effective_look(settings: Settings) -> str:
    """Return the theme in effect, "dark" or "light": the user's choice, or that of the system."""
    return system_look() if settings.look == "system" else settings.look


def system_look() -> str:
    """Return the theme of the system, "dark" or "light"."""
    return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"


def build_palette(colors: Colors) -> QPalette:
    """Return the Qt palette of a theme."""
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    table = {
        role.Window: colors.window,
        role.WindowText: colors.text,
        role.Base: colors.base,
        role.AlternateBase: colors.raised,
        role.Text: colors.text,
        role.Button: colors.raised,
        role.ButtonText: colors.text,
        role.BrightText: colors.error,
        role.ToolTipBase: colors.raised,
        role.ToolTipText: colors.text,
        role.Highlight: colors.accent,
        role.HighlightedText: colors.on_accent,
        role.Link: colors.accent,
        role.LinkVisited: colors.accent,
        role.PlaceholderText: colors.muted,
        role.Mid: colors.line,
        role.Midlight: colors.hover,
        role.Dark: colors.line,
        role.Light: colors.raised,
        role.Shadow: colors.line,
        role.Accent: colors.accent,
    }
    made = QPalette()
    for each, color in table.items():
        made.setColor(each, QColor(color))
    for each in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(group.Disabled, each, QColor(colors.muted))
    for each in (role.Highlight, role.Accent):  # the filled part of a slider that nobody can move
        made.setColor(group.Disabled, each, QColor(colors.line))
    made.setColor(group.Disabled, role.HighlightedText, QColor(colors.muted))
    return made


MODE_COLORS = {
    "stick": "#5b8db8",
    "saturated": "#8a74b8",
    "slide+": "#d98a2b",
    "slide-": "#b9673a",
    "closed": "#cf5247",
    "leaving": "#d99a94",
    "at limit": "#cf5247",
    "overrun": "#8f2f63",
    "saturated+": "#cf5247",
    "saturated-": "#a8457a",
}
"""Colours of contact and friction states, readable on light and dark backgrounds; other states (open, free) are
transparent."""


def state_color(state: str, colors: Colors) -> str:
    """Return the colour of a contact or friction state, "#rrggbb"."""
    return MODE_COLORS.get(state, colors.line)

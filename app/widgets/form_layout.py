"""Layout of forms: collapsible groups whose content is created when first opened, immediate layout, and a Tab order in
reading order that includes widgets created or expanded later."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.widgets.label import Label

LINE_HEIGHT = 10
"""Vertical distance, in pixels, within which widgets count as being on one line."""


def tab_stops(root: QWidget) -> list[QWidget]:
    """Return the widgets inside `root` that Tab visits, in reading order: line by line from the top, from left to
    right."""
    seen = [
        widget
        for widget in root.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and widget.isVisibleTo(root)
        and widget.isEnabled()
    ]
    tops = {widget: widget.mapTo(root, QPoint(0, 0)) for widget in seen}
    seen.sort(key=lambda widget: tops[widget].y())
    lines: list[list[QWidget]] = []
    for widget in seen:
        if not lines or tops[widget].y() - tops[lines[-1][0]].y() > LINE_HEIGHT:
            lines.append([])
        lines[-1].append(widget)
    return [widget for line in lines for widget in sorted(line, key=lambda each: tops[each].x())]


def move_focus(root: QWidget, forward: bool) -> bool:
    """Move the focus to the next or previous Tab stop inside a widget; return False at its end, or if the focus is
    elsewhere."""
    places, focus = tab_stops(root), root.focusWidget()
    while focus is not None and focus is not root and focus not in places:
        focus = focus.parentWidget()  # a line inside a box
    if focus not in places:
        return False
    number = places.index(focus) + (1 if forward else -1)
    if not 0 <= number < len(places):
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    places[number].setFocus(reason)
    area = root.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    if area is not None:
        area.ensureWidgetVisible(places[number])
    return True


def lay_out_now(root: QWidget) -> None:
    """Lay out a widget and everything inside it immediately. Qt itself lays out one level per event-loop turn, so
    fields would look squeezed in the pictures drawn meanwhile."""
    inside = root.findChildren(QWidget)
    holders = {widget.parentWidget() for widget in inside}  # only they have something to lay out
    for widget in (*reversed(inside), root):
        if widget in holders:
            QCoreApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)


INDENT = 10
"""Indentation of the content, in pixels."""

remembered: dict[str, bool] = {}
"""Open or closed state of groups by key, for as long as the program runs."""


class CollapsibleSection(QWidget):
    """Collapsible section: a title line (arrow, title, buttons) with content below. Emits `folded(bool)` when collapsed
    or expanded."""

    folded = Signal(bool)

    def __init__(
        self,
        title: str,
        build_content: Callable[[], QWidget],
        key: str = "",
        *,
        opened: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.key = key
        self._make = build_content
        self._words = ""
        self.content: QWidget | None = None
        self.arrow = QToolButton(self, text=title, checkable=True, autoRaise=True)
        self.arrow.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.arrow.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.arrow.setIconSize(QSize(12, 12))
        self.arrow.setObjectName("section")  # the sheet of the program knows it
        self.arrow.clicked.connect(self._on_clicked)
        self.summary = Label(parent=self)
        self.summary.setProperty("muted", True)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.header = QHBoxLayout()
        self.header.setContentsMargins(0, 0, 0, 0)
        self.header.setSpacing(0)
        self.header.addWidget(self.arrow)
        self.header.addWidget(self.summary, 1)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(INDENT, 0, 0, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(2)
        column.addLayout(self.header)
        column.addLayout(self.body)
        self.set_open(remembered.get(key, opened))

    def show_summary(self, text: str) -> None:
        """Show a short muted text next to the title while the section is collapsed."""
        self._words = text
        self.summary.setText("" if self.is_open else text)

    def set_title(self, title: str) -> None:
        """Change the title."""
        self.arrow.setText(title)

    def add_button(self, icon_name: str, help: str, run: Callable[[], object]) -> QToolButton:
        """Add a small button at the right end of the title line."""
        button = QToolButton(self, icon=icon(icon_name), toolTip=escape_tip(help), autoRaise=True)
        button.setIconSize(QSize(14, 14))
        button.setObjectName("small")
        button.setAccessibleName(help)
        button.clicked.connect(lambda: run())
        self.header.addWidget(button)
        return button

    @property
    def is_open(self) -> bool:
        """True while the section is expanded."""
        return self.arrow.isChecked()

    def set_open(self, on: bool = True) -> None:
        """Expand or collapse the section."""
        self.arrow.setChecked(on)
        self.arrow.setIcon(icon("down" if on else "right"))
        if on and self.content is None:
            self.content = self._make()
            self.body.addWidget(self.content)
        if self.content is not None:
            self.content.setVisible(on)
        self.summary.setText("" if on else self._words)
        self.folded.emit(on)

    def _on_clicked(self, on: bool) -> None:
        if self.key:
            remembered[self.key] = on
        self.set_open(on)

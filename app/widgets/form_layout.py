"""Layout of forms: collapsible groups whose content is created when first opened, immediate layout, and a tab order in
reading order that includes widgets created or expanded later."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.plain_text import as_tip
from app.preferences.icons import icon
from app.widgets.label import Label

LINE_HEIGHT = 10
"""Difference in height within which widgets count as being on one line, pixels."""


def tab_stops(root: QWidget) -> list[QWidget]:
    """Return the widgets at which Tab stops inside a widget, in reading order: lines from the top, each from the
    left."""
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


def tab_step(root: QWidget, forward: bool) -> bool:
    """Move the focus to the next or previous stop inside a widget; return False at its end, and when the focus is
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


def lay_out(root: QWidget) -> None:
    """Give everything inside a widget its size immediately. Qt alone lays out one level per turn of the event loop, so
    that fields would look squeezed between pictures of the scene."""
    inside = root.findChildren(QWidget)
    holders = {widget.parentWidget() for widget in inside}  # only they have something to lay out
    for widget in (*reversed(inside), root):
        if widget in holders:
            QCoreApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)


INDENT = 10
"""Indentation of the content, pixels."""

remembered: dict[str, bool] = {}
"""Open and closed groups by key, for as long as the program runs."""


class Section(QWidget):
    """Title line (arrow, title, buttons) with content beneath. Emits `folded(bool)` when collapsed or expanded."""

    folded = Signal(bool)

    def __init__(
        self,
        title: str,
        make: Callable[[], QWidget],
        key: str = "",
        *,
        opened: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.key = key
        self._make = make
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
        self.open(remembered.get(key, opened))

    def summarize(self, words: str) -> None:
        """Show a short muted text next to the title while the group is collapsed."""
        self._words = words
        self.summary.setText("" if self.opened else words)

    def set_title(self, title: str) -> None:
        """Change the title."""
        self.arrow.setText(title)

    def add_button(self, icon_name: str, help: str, run: Callable[[], object]) -> QToolButton:
        """Add a small button at the right end of the title line."""
        button = QToolButton(self, icon=icon(icon_name), toolTip=as_tip(help), autoRaise=True)
        button.setIconSize(QSize(14, 14))
        button.setObjectName("small")
        button.setAccessibleName(help)
        button.clicked.connect(lambda: run())
        self.header.addWidget(button)
        return button

    @property
    def opened(self) -> bool:
        """True while the group is expanded."""
        return self.arrow.isChecked()

    def open(self, on: bool = True) -> None:
        """Show or hide the content."""
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
        self.open(on)

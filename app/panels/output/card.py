"""One result on a card: title, the call that made it, its parts, and what can be done with it."""

from __future__ import annotations

import time
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.slices import slices
from app.document.session import Session
from app.panels.output import frame_table_part, parts  # noqa: F401  (they register the widgets of kinds of results)
from app.panels.output.append_to_file import append_formulas
from app.panels.output.cards import Part, Place, part_of
from app.panels.output.formulas_part import COPIES
from app.panels.output.tables import TableView
from app.plain_text import as_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.accessible import name_panel
from app.widgets.label import Label
from core.functions.results import Formulas, Result

AT_ONCE = 0.02
"""Seconds for which widgets of a new card are made at once."""


class ResultCard(QFrame):
    """Shows a result; one that follows the pose is replaced in place by `show_result`."""

    removed = Signal()

    def __init__(self, result: Result, session: Session, settings: Settings) -> None:
        super().__init__()
        self.result = result
        self._session, self._settings = session, settings
        self._place = Place(session, settings, lambda: self.result)
        self.setObjectName("overlay")
        self._parts: list[QWidget] = []
        self._waiting: list[Result] = []
        """Parts that have no widget yet."""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 8, 10, 10)
        self._layout.setSpacing(6)
        self._layout.addLayout(self._head())
        self._fill()

    def _head(self) -> QHBoxLayout:
        self._title = Label()
        font = self._title.font()
        font.setBold(True)
        self._title.setFont(font)
        self._call = Label()
        self._call.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._call.setProperty("muted", True)
        self._call.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._call.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        copy = QToolButton()
        copy.setIcon(icon("copy"))
        copy.setToolTip("Copy")
        copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        copy.setMenu(self._copy_menu(copy))
        close = QToolButton()
        close.setIcon(icon("close"))
        close.setToolTip("Remove this result")
        close.clicked.connect(self.removed)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._title)
        row.addWidget(self._call, 1)
        row.addWidget(copy)
        row.addWidget(close)
        return row

    def _copy_menu(self, owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.addAction("Text", lambda: _copy(self.text()))
        menu.addAction("LaTeX", lambda: _copy(self.result.to_latex()))
        menu.addAction("Python", lambda: _copy(self.result.to_python()))
        if self.formulas():
            for language in ("mathematica", "c", "sympy"):
                menu.addAction(COPIES[language], lambda language=language: _copy(self.written(language)))
            menu.addAction("One entry per line", lambda: _copy(self.written("elements")))
        table = menu.addAction("CSV (tables)", lambda: _copy(self.csv()))
        menu.addSeparator()
        menu.addAction("The call", lambda: _copy(self.result.call))
        if self.formulas():
            menu.addAction("Append to a file…", self._append)
        menu.aboutToShow.connect(lambda: table.setEnabled(bool(self.csv())))
        return menu

    # ----------------------------------------------------------------------------- content

    def show_result(self, result: Result) -> None:
        """Show a newer value of the same kind."""
        old, self.result = self.result, result
        before, after = old.shown(), result.shown()
        same = 0
        while same < min(len(self._parts), len(after)) and type(before[same]) is type(after[same]):
            same += 1
        self._write_head()
        for part, widget in zip(after, self._parts[:same], strict=False):
            cast(Part, widget).show_part(part)
        self._keep(same)
        self._waiting = list(after[same:])
        self._begin()

    def _begin(self) -> None:
        """Make the widgets of some parts at once, the rest in slices, so that a long report never stalls the window."""
        if not self._make(AT_ONCE):
            slices().add(self, self._make)

    def _make(self, seconds: float) -> bool:
        """Make widgets for so long; True once every part has one."""
        until = time.perf_counter() + seconds
        while self._waiting:
            part = part_of(self._waiting.pop(0), self._place)
            name_panel(part, self._title.text())
            self._parts.append(part)
            self._layout.addWidget(part)
            if time.perf_counter() > until:
                break
        return not self._waiting

    @property
    def done(self) -> bool:
        """Whether every part is there."""
        return not self._waiting

    def close(self) -> None:
        """Listen no more."""
        slices().drop(self)
        for widget in self._parts:
            widget.close()

    def refresh(self) -> None:
        """The units changed."""
        for widget in self._parts:
            for table in widget.findChildren(TableView):
                table.refresh()

    def text(self) -> str:
        """The result as text in the person's units."""
        return self.result.to_text(degrees=self._settings.degrees, millimetres=self._settings.millimetres)

    def formulas(self) -> list[Formulas]:
        """The formulas on the card."""
        return [found for part in self.result.shown() if (found := part.to_formulas()) is not None]

    def written(self, language: str, label: str = "") -> str:
        """The formulas in a language of `core.symbolic.export`."""
        from core.symbolic.export import EXPORTS

        write = EXPORTS[language][2]
        return "\n".join(write(part.entries, label or part.label or "result") for part in self.formulas())

    def _append(self) -> None:
        own = self.formulas()[0].label if len(self.formulas()) == 1 else ""
        append_formulas(self, self.written, own, self._session, self._settings)

    def csv(self) -> str:
        """Its tables as CSV; '' if it has none."""
        found = (part.to_table() for part in self.result.shown())
        return "\n".join(table.to_csv() for table in found if table is not None)

    def _write_head(self) -> None:
        self._title.setText(self.result.title or "Result")
        self._call.setText(self.result.call + ("   · live" if self.result.live else ""))
        self._call.setToolTip(as_tip(self.result.call))

    def _fill(self) -> None:
        self._write_head()
        self._waiting = list(self.result.shown())
        self._begin()

    def _keep(self, count: int) -> None:
        """Drop the widgets of all parts but the first."""
        for widget in self._parts[count:]:
            widget.close()
            widget.hide()
            widget.deleteLater()
        del self._parts[count:]


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)

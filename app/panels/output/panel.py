"""The Output panel: results as cards, scrolled to the newest; matrices as typeset mathematics, tables that can be
sorted and copied."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.revision import DocumentState
from app.document.session import Session
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater, new_card
from app.widgets.form_layout import lay_out_now
from app.widgets.panel_parts import EmptyPanelPlaceholder
from core.functions.results import Result

if TYPE_CHECKING:
    from app.panels.output.card import ResultCard
    from app.workbench import Workbench

MOST_CARDS = 60
"""Largest number of cards; the oldest results are deleted first."""
SETTLE = 300
"""Time within which a new card reaches its final height (formulas are typeset later), ms."""
COMPARE = 120
"""Delay after a movement before cards show what has changed, ms."""
EMPTY = "Results of functions appear here. Choose a function on the left and run it, or type a call in the console."


class OutputPanel(QWidget):
    """Panel that shows every result emitted by `session.produced`."""

    added = Signal()
    """Emitted when a result has been shown on a new card."""

    def __init__(self, session: Session, answers: ResultUpdater, settings: Settings | None = None) -> None:
        super().__init__()
        self._session, self._answers = session, answers
        self._settings = settings or Settings()
        self.cards: list[ResultCard] = []
        self._newest: ResultCard | None = None
        self._unsure: list[ResultCard] = []
        """Cards of which it is not known whether they still hold."""
        self._settled = QTimer(self, singleShot=True, interval=SETTLE)
        self._settled.timeout.connect(self._stop_revealing)
        self._place: tuple[int, int] | None = None
        """Position of the newest card and range of the scroll bar when the timer last ran."""
        self._late = QTimer(self, singleShot=True, interval=COMPARE)
        self._late.timeout.connect(self._compare_cards)
        self._build()
        self._area.verticalScrollBar().rangeChanged.connect(lambda *_: self._reveal_newest())
        self._life = Lifetime()
        self._life.listen(
            (session.produced, self.add_result),
            (session.moved, self._on_pose_changed),
            (session.changed, self._on_document_changed),
            (answers.changed, self._compare_cards),
            (self._settings.changed, self._on_setting_changed),
        )

    def _build(self) -> None:
        self._clear = QToolButton()
        self._clear.setIcon(icon("clear"))
        self._clear.setText("Clear")
        self._clear.setToolTip("Remove all results")
        self._clear.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._clear.clicked.connect(self.clear)
        self._copy = QToolButton()
        self._copy.setIcon(icon("copy"))
        self._copy.setText("Copy all")
        self._copy.setToolTip("Copy all results as text")
        self._copy.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._copy.clicked.connect(self.copy_all)
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 0)
        bar.addStretch(1)
        bar.addWidget(self._copy)
        bar.addWidget(self._clear)
        self.empty = EmptyPanelPlaceholder(EMPTY, "Choose a function")
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(8, 4, 8, 8)
        self._column.setSpacing(8)
        self._column.addWidget(self.empty, 1)
        self._column.addStretch(0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidget(inside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._area, 1)
        self._show_placeholder()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()
        self._late.stop()
        shared_slices().drop(self)
        for card in self.cards:
            card.close()

    # ----------------------------------------------------------------------------- verbs

    def add_result(self, result: Result) -> None:
        """Show a result on the card it belongs to, or on a new card at the end."""
        for card in reversed(self.cards):
            if result.card and card.result.card == result.card:
                card.show_result(result)
                return
        result = result if result.card else dataclasses.replace(result, card=new_card())
        from app.panels.output.card import ResultCard

        card = ResultCard(result, self._session, self._answers, self._settings)
        card.removed.connect(lambda: self._remove_card(card))
        self.cards.append(card)
        self._column.insertWidget(self._column.count() - 1, card)
        while len(self.cards) > MOST_CARDS:
            self._remove_card(self.cards[0])
        self._show_placeholder()
        self._newest, self._place = card, None
        self._reveal_newest()
        self._settled.start()
        self.added.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """Give the newest card its size before it becomes visible; otherwise its rows would overlap for a moment."""
        if self._newest is not None:
            self._column.invalidate()
            lay_out_now(self._newest)
            QCoreApplication.sendEvent(self._area.widget(), QEvent(QEvent.Type.LayoutRequest))
            lay_out_now(self._newest)

    def _reveal_newest(self) -> None:
        """Scroll to the top of the newest card, repeatedly until its height no longer changes."""
        if self._newest is not None:
            self._area.verticalScrollBar().setValue(self._newest.y())

    def _stop_revealing(self) -> None:
        """Stop scrolling to the newest card if no height has changed since the last timer event."""
        self._reveal_newest()
        place = (self._newest.y() if self._newest is not None else 0, self._area.verticalScrollBar().maximum())
        laid_out = self._newest is None or self._newest.y() > 0
        if place != self._place or not laid_out:
            self._place = place
            self._settled.start()
        else:
            self._newest = None

    def clear(self) -> None:
        """Remove all results."""
        for card in tuple(self.cards):
            self._remove_card(card)

    def copy_all(self) -> None:
        """Copy all results as text."""
        QGuiApplication.clipboard().setText("\n\n".join(card.format_text() for card in self.cards))

    def _remove_card(self, card: ResultCard) -> None:
        self.cards.remove(card)
        self._answers.stop_live_updates(card.result.card)
        self._newest = None if self._newest is card else self._newest
        card.close()
        card.hide()
        card.deleteLater()
        self._show_placeholder()

    def _show_placeholder(self) -> None:
        self.empty.setVisible(not self.cards)
        self._column.setStretch(self._column.count() - 1, 1 if self.cards else 0)
        self._clear.setEnabled(bool(self.cards))
        self._copy.setEnabled(bool(self.cards))

    # ----------------------------------------------------------------------------- what is true now

    def _on_pose_changed(self) -> None:
        if self.cards and not self._late.isActive():
            self._late.start()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self._compare_cards()

    def _compare_cards(self) -> None:
        """Update on every card whether it is still valid, newest first."""
        self._unsure = list(self.cards)
        shared_slices().add(self, self._compare_some)

    def _compare_some(self, seconds: float) -> bool:
        """Update the validity of cards for the given time; return True once all are done."""
        until, now = time.perf_counter() + seconds, self._session.context()
        while self._unsure:
            card = self._unsure.pop()
            if card in self.cards and card.update_validity(now) and not self._late.isActive():
                self._late.start()
            if time.perf_counter() > until:
                break
        return not self._unsure

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            for card in self.cards:
                card.refresh()


def create_panel(bench: Workbench) -> OutputPanel:
    """Create the Output panel of a window."""
    panel = OutputPanel(bench.session, bench.answers, bench.settings)
    panel.empty.wanted.connect(lambda: bench.panels.show_panel("functions"))
    return panel

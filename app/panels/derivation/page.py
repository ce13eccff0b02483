"""Page for one step of a derivation: title and buttons, explanation, legend, formula, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.formulas.matrix import MatrixView
from app.panels.output.formulas_part import FormulasPart
from app.panels.output.tables import TableView
from app.widgets.label import ElidedLabel, Label, MarkupLabel
from app.widgets.panel_parts import ProgressBar, create_icon_button
from core.functions.results import Formulas, Matrix, Table, to_row_tuples
from core.symbolic.derivation import SPEED, DerivationStep

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings

SYMBOLS = {"named": "Parameters as symbols", "all": "Everything as symbols", "none": "All numbers"}
NARROW = 4
"""Largest number of columns for which numbers are shown next to the formula."""


class DerivationPage(QWidget):
    """Widgets of the page of one derivation step; the panel sets their contents."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.part: FormulasPart | None = None
        self.numbers: MatrixView | None = None
        self._tables: list[QWidget] = []
        self.back = create_icon_button("step_back", "Previous step (Alt+Left)")
        self.forward = create_icon_button("step_forward", "Next step (Alt+Right)")
        self.close_ = create_icon_button("close", "End the replay")
        self.title = ElidedLabel()
        self.words, self.legend, self.caption = Label(), MarkupLabel(), Label()
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        for label in (self.words, self.legend):
            label.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.caption.setProperty("muted", True)
        self.symbols = QComboBox()
        for key, title in SYMBOLS.items():
            self.symbols.addItem(title, key)
        self.symbols.setToolTip("Choose which numbers of the model become symbols")
        self.symbols.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.symbols.setMinimumContentsLength(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 0)
        column.addLayout(self._build_header())
        column.addWidget(self._build_body(), 1)

    def _build_header(self) -> QHBoxLayout:
        head = QHBoxLayout()
        for widget in (self.back, self.forward, self.title):
            head.addWidget(widget)
        head.addStretch(1)
        head.addWidget(self.symbols, 1)
        head.addWidget(self.close_)
        return head

    def _build_body(self) -> QScrollArea:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(10, 2, 10, 8)
        self.waiting = self._build_busy_indicator()
        for each in (self.words, self.legend, self.waiting):
            column.addWidget(each)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(18)
        self._beside = QVBoxLayout()
        self._beside.addWidget(self.caption)
        self._beside.addStretch(1)
        self._row.addLayout(self._beside)
        column.addLayout(self._row)
        column.addStretch(1)
        self._area = area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inside)
        return area

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the text to the visible width; a wide formula scrolls."""
        super().resizeEvent(event)
        for label in (self.words, self.legend):
            label.setMaximumWidth(max(self._area.width() - 40, 120))

    def _build_busy_indicator(self) -> QWidget:
        bar = ProgressBar()
        bar.setRange(0, 0)
        bar.setMaximumHeight(6)
        bar.setTextVisible(False)
        self.stop = QPushButton("Stop")
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(bar, 1)
        row.addWidget(self.stop)
        holder.hide()
        return holder

    # ----------------------------------------------------------------------------- what is shown

    def show_step(self, step: DerivationStep, row: int, count: int) -> None:
        """Show the title and explanation of a step; its formula is shown later, once it is derived."""
        name = step.part if step.title == step.part else f"{step.part}: {step.title}"
        self.title.setText(f"{row + 1} / {count}   {name}")
        self.words.setText(step.text)
        self.back.setEnabled(row > 0)
        self.forward.setEnabled(row < count - 1)
        self.show_formula(None)

    def show_text(self, text: str) -> None:
        """Show a text where the formula would be."""
        self.caption.setText(text)
        self.caption.show()

    def show_formula(self, formula: Formulas | None) -> None:
        """Show a formula; None hides the formula."""
        if self.part is not None:
            self.part.close()
        for widget in (self.part, self.numbers):
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.part = self.numbers = None
        for widget in self._tables:
            widget.hide()
            widget.deleteLater()
        self._tables.clear()
        self.caption.hide()
        if formula is not None:
            self.part = FormulasPart(formula, formula.title, self._session)
            self._row.insertWidget(0, self.part, 1)

    def show_tables(self, tables: Sequence[Table], settings: Settings) -> None:
        """Show tables of the frame assignment where the formula would be."""
        for table in tables:
            view, note = TableView(table, settings), Label(table.note)
            note.setProperty("muted", True)
            note.setWordWrap(True)
            for widget, side in ((view, Qt.AlignmentFlag.AlignLeft), (note, Qt.AlignmentFlag(0))):
                self._tables.append(widget)
                self._beside.insertWidget(self._beside.count() - 1, widget, 0, side)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight)

    def show_numbers(self, values: NDArray[np.float64], *, moving: bool) -> None:
        """Show the formula's numerical value to its right if there is room, otherwise below it. moving: the values
        depend on joint speeds."""
        assert self.part is not None
        formula = self.part.part
        matrix = Matrix(symbol="", entries=to_row_tuples(values), rows=formula.rows, columns=formula.columns)
        if self.numbers is not None:
            self.numbers.show_matrix(matrix)
            return
        self.numbers = MatrixView(matrix)
        self._beside.insertWidget(1, self.numbers)
        beside = len(matrix.entries[0]) <= NARROW
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        self.show_text("At this pose (SI)" + (f", all joint speeds {SPEED:g}" if moving else ""))

"""Area that arranges the plots, and its placeholder while nothing is plotted: a short explanation and suggestions of
useful plots."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.plotting.channels import suggest_plots
from app.preferences.icons import icon
from app.widgets.label import Label
from core.simulation.run.run import Run, select_samples

WITHOUT_RUN = (
    "Plots show what a run records: joints, frames, forces, energies and your own formulas. Simulate first (F5)."
)
WITH_RUN = "Choose channels on the left, drag elements here from the model tree, or start with one of these:"
LOOKS = 200
"""Number of samples of a run used to determine the main direction of a tool's motion."""
COLUMNS = 4
WIDE = 520
"""Panel width below which suggestions are arranged in two columns, pixels."""
NARROW = 280


def subsample_run(run: Run) -> Run:
    """Return a run with only some of its samples, evenly spaced."""
    return select_samples(run, slice(None, None, max(1, len(run.time) // LOOKS)))


class PlotsPlaceholder(QWidget):
    """Placeholder with suggested plots; emits `chosen(x, channels)` when one is clicked."""

    chosen = Signal(str, list)

    def __init__(self) -> None:
        super().__init__()
        self._run: Run | None = None
        self._columns = COLUMNS
        self.setMinimumWidth(NARROW)
        self._words = Label(WITHOUT_RUN)
        self._words.setWordWrap(True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words.setProperty("muted", True)
        self.buttons: list[QPushButton] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 8)
        column.addStretch(1)
        column.addWidget(self._words)
        column.addLayout(self._rows)
        column.addStretch(1)

    def show_run(self, run: Run | None) -> None:
        """Suggest plots that suit a run of this machine."""
        if run is self._run or (run is not None and self._run is not None and run.mech is self._run.mech):
            return
        self._run = run
        self._words.setText(WITH_RUN if run is not None else WITHOUT_RUN)
        offered = list(suggest_plots(subsample_run(run)).items()) if run is not None else []
        self.buttons = [self._create_proposal_button(title, x, names) for title, (x, names) in offered]
        self._arrange_proposals()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange as many suggestions per row as fit."""
        super().resizeEvent(event)
        columns = COLUMNS if self.width() >= WIDE else COLUMNS // 2
        if columns != self._columns:
            self._columns = columns
            self._arrange_proposals()

    def _arrange_proposals(self) -> None:
        for button in self.buttons:
            button.setParent(self)
        while self._rows.count():
            row = self._rows.takeAt(0).widget()
            if row is not None:
                row.hide()
                row.deleteLater()
        for k in range(0, len(self.buttons), self._columns):
            holder = QWidget()
            line = QHBoxLayout(holder)
            line.setContentsMargins(0, 0, 0, 0)
            line.addStretch(1)
            for button in self.buttons[k : k + self._columns]:
                line.addWidget(button)
                button.show()
            line.addStretch(1)
            self._rows.addWidget(holder)

    def _create_proposal_button(self, title: str, x: str, names: tuple[str, ...]) -> QPushButton:
        button = QPushButton(icon("plot"), title)
        button.setToolTip(escape_tip(", ".join(names) + ("" if x == "time" else f" versus {x}")))
        button.clicked.connect(lambda: self.chosen.emit(x, list(names)))
        return button


WIDE_ASPECT = 2.8
"""Ratio of width to height above which plots are placed next to one another."""


class PlotArea(QSplitter):
    """Splitter that places plots side by side when it is much wider than high, otherwise above one another."""

    turned = Signal()

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.setChildrenCollapsible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Change the orientation if the new shape requires it."""
        super().resizeEvent(event)
        wide = self.width() > WIDE_ASPECT * max(self.height(), 1)
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if wanted != self.orientation():
            QTimer.singleShot(0, self, lambda: self._set_orientation(wanted))

    def _set_orientation(self, orientation: Qt.Orientation) -> None:
        self.setOrientation(orientation)
        self.turned.emit()

"""Input page for a path-generation problem: the type of linkage, the target points and how they are treated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QCheckBox, QFormLayout, QHBoxLayout, QLineEdit, QWidget

from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import push_button
from core.errors import ModelError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim, CurveRow, Pose

Array = NDArray[np.float64]
NARROW = 70


class CurvePage(QWidget):
    """Input fields of the curve problem; the curve itself is drawn on the canvas next to them."""

    def __init__(
        self, draw: Callable[[], None], read: Callable[[], None], clear: Callable[[], None], typed: Callable[[], None]
    ) -> None:
        """Create the page with callbacks: draw in the 3-D view, read a file, clear the canvas, and typed when points
        were typed."""
        super().__init__()
        self.topology = Combo()
        for name, title in TOPOLOGY_TITLES.items():
            self.topology.addItem(title, name)
        self.topology.setAccessibleName("Kind of linkage")
        self.closed, self.timed = QCheckBox("Closed"), QCheckBox("Uniform in crank angle")
        self.closed.setChecked(True)
        self.smooth = QLineEdit("7")
        self.smooth.setMaximumWidth(NARROW)
        self.smooth.setAccessibleName("Fourier terms")
        self.smooth.textEdited.connect(lambda _: self._forget_drawn_terms())
        self.points = QLineEdit(placeholderText="0.1 0.2; 0.3 0.25; 0.2 0.4 … in metres")
        self.points.setAccessibleName("Points")
        self.points.returnPressed.connect(typed)
        tip = "Draw the curve in the working plane of the 3-D view: hold the mouse button, or click point by point"
        self.draw_button = push_button("Draw…", tip, draw)
        buttons, form = QHBoxLayout(), QFormLayout(self)
        buttons.addWidget(self.draw_button)
        buttons.addWidget(push_button("Read…", "Read points from a CSV file or an SVG path", read))
        buttons.addWidget(push_button("Clear", "Clear the drawn curve", clear))
        buttons.setSpacing(4)
        form.addRow("Kind", self.topology)
        form.addRow("Points", self.points)
        form.addRow(buttons)
        form.addRow("Fourier terms", self.smooth)
        form.addRow(self.closed)
        form.addRow(self.timed)
        form.setContentsMargins(2, 4, 2, 6)

    _drawn_terms = ""
    """Number of Fourier terms for drawn curves, kept while points are shown that are used as they are."""

    def use_unsmoothed(self) -> None:
        """Use points that were read or stored without smoothing."""
        self._drawn_terms = self._drawn_terms or self.smooth.text()
        self.smooth.setText("0")

    def use_smoothed(self) -> None:
        """Smooth drawn points again, with the number of terms in use before points were taken as they are."""
        self.smooth.setText(self._drawn_terms or self.smooth.text())
        self._forget_drawn_terms()

    def _forget_drawn_terms(self) -> None:
        self._drawn_terms = ""

    def terms(self) -> int:
        """Return the number of Fourier terms; 0 means no smoothing. Raises ModelError."""
        text = self.smooth.text().strip() or "0"
        if not text.isdigit():
            raise ModelError(
                f"'{text}' is not a number of Fourier terms.", where="Fourier terms", remedy="Type 0, 1, 2, …"
            )
        return int(text)

    def aim(self, name: str, points: Array, place: Pose | None) -> Aim:
        """Return the page's contents as a design of the document, with points (n, 2) in m rounded to a micrometre.
        Raises ModelError."""
        curve = tuple(CurveRow(x=x, z=z) for x, z in (np.round(points, 6) + 0.0).tolist())
        linkage, closed, timed = str(self.topology.currentData()), self.closed.isChecked(), self.timed.isChecked()
        return Aim(name=name, kind="curve", linkage=linkage, curve=curve, closed=closed, timed=timed, place=place)

    def show_aim(self, aim: Aim) -> None:
        """Show a design of the document, except its points."""
        self.topology.setCurrentIndex(max(0, self.topology.findData(aim.linkage)))
        self.closed.setChecked(aim.closed)
        self.timed.setChecked(aim.timed)
        self.points.clear()
        self.use_unsmoothed()

"""The target curve of a linkage: drawn on the canvas or in the 3-D view, typed on its page, or read from a file, and
smoothed; shown together with the curves of found linkages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QWidget

from app.background.signals import Lifetime
from app.panels.design.curve_canvas import CurveCanvas
from app.panels.design.machine_page import read_text_file
from app.tools.target_curve import Drawn, curve_hand
from app.widgets.fields.choice_editors import Combo
from app.widgets.panel_parts import push_button
from core.design.asked_designs import place_of, placed
from core.design.linkage import XZ
from core.errors import KinetostatError, ModelError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim, CurveRow, Model, Pose

if TYPE_CHECKING:
    from app.tools.target_curve import Drawn
    from app.viewport.stage import Stage
    from core.design.target_curves import Target


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


XZ_IN_WORLD = np.eye(4)
XZ_IN_WORLD[:3, :3] = XZ.basis


class CurveInView:
    """Target curve in one 3-D view; without a view nothing is shown. X_WD (4, 4) : pose of the plane of the curve in
    the world."""

    def __init__(self, stage: Stage | None, taken: Callable[[Drawn], None], life: Lifetime) -> None:
        self._stage, self._taken = stage, taken
        self.X_WD = XZ_IN_WORLD
        if stage is not None:
            life.listen((curve_hand(stage).drawn, self._drawn))

    def draw(self) -> None:
        """Start the drawing tool."""
        if self._stage is not None:
            self._stage.gestures.choose("target_curve")

    def _drawn(self, found: Drawn) -> None:
        self.X_WD = found.X_WD
        self._taken(found)

    def forget_plane(self) -> None:
        """Reset the plane to x–z, used for points that come from elsewhere."""
        self.X_WD = XZ_IN_WORLD

    def show(self, target: Array, closed: bool, curves: Sequence[Array] = ()) -> None:
        """Show a target (n, 2) and the curves found for it, the closest first."""
        if self._stage is None:
            return
        place = Drawn(target, self.X_WD, closed)
        shown = []
        if len(target):
            shown.append(tuple(place.in_world(np.vstack([target, target[:1]]) if closed else target)))
            shown += [tuple(place.in_world(curve[np.isfinite(curve).all(axis=1)])) for curve in curves]
        self._stage.annotations.curves = tuple(shown)
        self._stage.annotations.update()

    def clear(self) -> None:
        """Remove all curves from the view."""
        self.show(np.zeros((0, 2)), False)

    @property
    def place(self) -> Pose | None:
        """Return the pose of the plane as the document stores it; None for the x–z plane of the world."""
        return place_of(self.X_WD)

    def placed(self, model: Model) -> Model:
        """Return a linkage that was found, moved into the plane in which the curve was drawn."""
        return placed(model, self.X_WD)


KINDS = "Points (*.csv *.txt *.svg)"


class TargetCurve:
    """Target curve shown on the canvas and in the 3-D view. forget() : drops results of the previous curve;
    refused(words) : reports why a curve is not accepted; begun() : called when a curve was drawn in the view;
    drawn(count) : reports the number of points."""

    def __init__(
        self,
        stage: Stage | None,
        life: Lifetime,
        forget: Callable[[], None],
        refused: Callable[[str], None],
        begun: Callable[[], None],
        drawn: Callable[[int], None],
    ) -> None:
        self._forget, self._refused, self._begun, self._told = forget, refused, begun, drawn
        self.in_view = CurveInView(stage, self._drawn_in_view, life)
        self.canvas = CurveCanvas()
        self.canvas.drawn.connect(self._on_drawn)
        self.page = CurvePage(self.in_view.draw, self._read, self.clear, self._on_typed)
        self.page.closed.toggled.connect(lambda _: self.show(self.canvas.target))

    @property
    def closes(self) -> bool:
        """True if the curve ends at its starting point."""
        return self.page.closed.isChecked()

    # ------------------------------------------------------------------------------------------- showing

    def show(self, points: Any, curves: Any = ()) -> None:
        """Show another curve (n, 2), m, on the canvas and in the view."""
        self.canvas.show_target(points, self.closes)
        self.in_view.show(points, self.closes, curves)

    def show_found(self, curves: list[Any]) -> None:
        """Show the curves that were found for it, the best first."""
        self.canvas.show_curves(curves)
        self.in_view.show(self.canvas.target, self.closes, curves[:1])

    def show_in_view(self, on: bool) -> None:
        """Show or hide the curve in the 3-D view."""
        self.in_view.show(self.canvas.target if on else np.zeros((0, 2)), self.closes)

    def show_aim(self, model: Model, aim: Aim) -> None:
        """Show the curve of a design of the document."""
        from core.design.asked_designs import asked_plane, asked_target

        self.page.show_aim(aim)
        self.canvas.show_curves(())
        try:
            self.in_view.X_WD = asked_plane(model, aim.name)
            self.show(asked_target(model, aim.name).points)
        except KinetostatError as error:
            self._refused(str(error))

    def aim(self, name: str) -> Aim:
        """Return the curve as a design of the document. Raises ModelError."""
        return self.page.aim(name, self.canvas.target, self.in_view.place)

    # -------------------------------------------------------------------------------------------- taking

    def _on_drawn(self) -> None:
        self.page.points.clear()
        self.page.use_smoothed()
        self.in_view.forget_plane()
        self._forget()
        self.show(self.canvas.target)

    def _drawn_in_view(self, drawn: Drawn) -> None:
        """Take a curve from the 3-D view, smoothed as the search will use it."""
        self._begun()
        self.page.points.clear()
        self.page.use_smoothed()
        self.page.closed.setChecked(drawn.closed)
        self._forget()
        self.canvas.show_curves(())
        self.show(drawn.points)
        try:
            self.smoothed()
        except KinetostatError as error:
            self._refused(str(error))
            return
        self._told(len(drawn.points))

    def _typed(self) -> str:
        return self.page.points.text().replace(";", "\n")

    def _on_typed(self) -> None:
        self.take(self._typed(), ".csv", "points")

    def check_typed(self) -> None:
        """Raise FileError if the typed points cannot be read."""
        from core.design.target_curves import from_csv

        if self._typed().strip():
            from_csv(self._typed(), name="points", closed=self.closes)

    def _read(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.page, "Points of a curve", "", KINDS)
        if path:
            self.read(Path(path))

    def read(self, path: Path) -> None:
        """Read the points of a file."""
        text = read_text_file(path, self._refused)
        if text is not None:
            self.take(text, path.suffix.lower(), path.name)

    def take(self, text: str, suffix: str, name: str) -> None:
        """Take the points of a text as if read from a file with this suffix and name."""
        from core.design.target_curves import from_csv, from_svg

        try:
            found = from_svg(text, name=name) if suffix == ".svg" else from_csv(text, name=name, closed=self.closes)
        except KinetostatError as error:
            self._refused(str(error))
            return
        self.page.closed.setChecked(found.closed)
        self.page.use_unsmoothed()
        self._forget()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self.show(found.points)

    def clear(self) -> None:
        """Clear the canvas."""
        self.page.points.clear()
        self.page.use_smoothed()
        self.canvas.show_curves(())
        self.in_view.forget_plane()
        self.show(np.zeros((0, 2)))
        self._forget()

    def smoothed(self) -> Target:
        """Show and return the target smoothed with the chosen number of Fourier terms. Raises ModelError."""
        from core.design.target_curves import target

        wanted = target(self.canvas.target, closed=self.closes)
        terms = self.page.terms()
        if terms:
            wanted = wanted.smoothed(terms)
            self.show(wanted.points)
        return wanted

    def asked(self) -> Target:
        """Return the target as the search will use it. Raises ModelError."""
        wanted = self.smoothed()
        return wanted.timed() if self.page.timed.isChecked() else wanted

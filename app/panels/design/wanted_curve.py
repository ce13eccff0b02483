"""Target curve of a linkage: drawn on the canvas or in the 3-D view, typed, or read from a file, then smoothed; shown
together with the curves of the linkages found."""

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
from app.tools.target_curve import DrawnCurve, curve_controller
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.panel_parts import create_push_button
from core.design.asked_designs import place_ground_in_plane, plane_frame_from_pose
from core.design.linkage import XZ
from core.errors import KinetostatError, ModelError
from core.functions.subjects.design import TOPOLOGY_TITLES
from core.model import Aim, CurveRow, Model, Pose

if TYPE_CHECKING:
    from app.tools.target_curve import DrawnCurve
    from app.viewport.stage import Stage
    from core.design.target_curves import Target


Array = NDArray[np.float64]


NARROW = 70


class CurvePage(QWidget):
    """Input fields of the curve problem; the curve itself is drawn on the canvas beside it."""

    def __init__(
        self, draw: Callable[[], None], read: Callable[[], None], clear: Callable[[], None], typed: Callable[[], None]
    ) -> None:
        """Create the page with callbacks: draw in the 3-D view, read a file, clear the canvas, and typed when points
        were typed."""
        super().__init__()
        self.topology = NarrowCombo()
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
        tip = "Draw the curve in the working plane of the 3-D view: drag with the mouse, or click point by point"
        self.draw_button = create_push_button("Draw…", tip, draw)
        buttons, form = QHBoxLayout(), QFormLayout(self)
        buttons.addWidget(self.draw_button)
        buttons.addWidget(create_push_button("Read…", "Read points from a CSV file or an SVG path", read))
        buttons.addWidget(create_push_button("Clear", "Clear the drawn curve", clear))
        buttons.setSpacing(4)
        form.addRow("Kind", self.topology)
        form.addRow("Points", self.points)
        form.addRow(buttons)
        form.addRow("Fourier terms", self.smooth)
        form.addRow(self.closed)
        form.addRow(self.timed)
        form.setContentsMargins(2, 4, 2, 6)

    _drawn_terms = ""
    """Number of Fourier terms for drawn curves, remembered while unsmoothed points are shown."""

    def use_unsmoothed(self) -> None:
        """Use the points as read or stored, without smoothing."""
        self._drawn_terms = self._drawn_terms or self.smooth.text()
        self.smooth.setText("0")

    def use_smoothed(self) -> None:
        """Smooth drawn points again, with the number of terms used before unsmoothed points were shown."""
        self.smooth.setText(self._drawn_terms or self.smooth.text())
        self._forget_drawn_terms()

    def _forget_drawn_terms(self) -> None:
        self._drawn_terms = ""

    def term_count(self) -> int:
        """Return the number of Fourier terms; 0 means no smoothing. Raises ModelError."""
        text = self.smooth.text().strip() or "0"
        if not text.isdigit():
            raise ModelError(
                f"'{text}' is not a valid number of Fourier terms.", where="Fourier terms", remedy="Type 0, 1, 2, …"
            )
        return int(text)

    def build_aim(self, name: str, points: Array, pose: Pose | None) -> Aim:
        """Return the page's contents as a design to be stored in the document, with points (n, 2) in m rounded to a
        micrometre. Raises ModelError."""
        curve = tuple(CurveRow(x=x, z=z) for x, z in (np.round(points, 6) + 0.0).tolist())
        linkage, closed, timed = str(self.topology.currentData()), self.closed.isChecked(), self.timed.isChecked()
        return Aim(name=name, kind="curve", linkage=linkage, curve=curve, closed=closed, timed=timed, place=pose)

    def show_aim(self, aim: Aim) -> None:
        """Show a design stored in the document, except for its points."""
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

    def __init__(self, stage: Stage | None, taken: Callable[[DrawnCurve], None], life: Lifetime) -> None:
        self._stage, self._taken = stage, taken
        self.X_WD = XZ_IN_WORLD
        if stage is not None:
            life.listen((curve_controller(stage).drawn, self._on_drawn))

    def start_drawing(self) -> None:
        """Start the tool that draws a curve in the 3-D view."""
        if self._stage is not None:
            self._stage.gestures.choose_tool("target_curve")

    def _on_drawn(self, drawn: DrawnCurve) -> None:
        self.X_WD = drawn.X_WD
        self._taken(drawn)

    def reset_plane(self) -> None:
        """Reset the plane to x–z, which is used for points that were not drawn in the view."""
        self.X_WD = XZ_IN_WORLD

    def show_curves(self, target: Array, closed: bool, curves: Sequence[Array] = ()) -> None:
        """Show a target (n, 2) and the curves of the linkages found for it, closest first."""
        if self._stage is None:
            return
        place = DrawnCurve(target, self.X_WD, closed)
        shown = []
        if len(target):
            shown.append(tuple(place.to_world(np.vstack([target, target[:1]]) if closed else target)))
            shown += [tuple(place.to_world(curve[np.isfinite(curve).all(axis=1)])) for curve in curves]
        self._stage.annotations.curves = tuple(shown)
        self._stage.annotations.update()

    def clear(self) -> None:
        """Remove all curves from the view."""
        self.show_curves(np.zeros((0, 2)), False)

    @property
    def plane_pose(self) -> Pose | None:
        """Return the pose of the plane as stored in the document; None for the x–z plane of the world."""
        return plane_frame_from_pose(self.X_WD)

    def move_into_plane(self, model: Model) -> Model:
        """Return a linkage that was found, moved into the plane in which the curve was drawn."""
        return place_ground_in_plane(model, self.X_WD)


KINDS = "Points (*.csv *.txt *.svg)"


class TargetCurve:
    """Target curve on the canvas and in the 3-D view. forget() : drops results for the previous curve; refused(words) :
    reports why a curve is not accepted; begun() : called when a curve was drawn in the view; drawn(count) : reports the
    number of points."""

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
        self.in_view = CurveInView(stage, self._on_drawn_in_view, life)
        self.canvas = CurveCanvas()
        self.canvas.drawn.connect(self._on_drawn)
        self.page = CurvePage(self.in_view.start_drawing, self._ask_points_file, self.clear, self._on_typed)
        self.page.closed.toggled.connect(lambda _: self.show_target(self.canvas.target))

    @property
    def is_closed(self) -> bool:
        """True if the curve ends at its starting point."""
        return self.page.closed.isChecked()

    # ------------------------------------------------------------------------------------------- showing

    def show_target(self, points: Any, curves: Any = ()) -> None:
        """Show a new target curve (n, 2), m, on the canvas and in the view."""
        self.canvas.show_target(points, self.is_closed)
        self.in_view.show_curves(points, self.is_closed, curves)

    def show_found_curves(self, curves: list[Any]) -> None:
        """Show the curves of the linkages found, best first."""
        self.canvas.show_curves(curves)
        self.in_view.show_curves(self.canvas.target, self.is_closed, curves[:1])

    def show_in_view(self, on: bool) -> None:
        """Show or hide the curve in the 3-D view."""
        self.in_view.show_curves(self.canvas.target if on else np.zeros((0, 2)), self.is_closed)

    def show_aim(self, model: Model, aim: Aim) -> None:
        """Show the curve of a design stored in the document."""
        from core.design.asked_designs import asked_target, find_target_plane

        self.page.show_aim(aim)
        self.canvas.show_curves(())
        try:
            self.in_view.X_WD = find_target_plane(model, aim.name)
            self.show_target(asked_target(model, aim.name).points)
        except KinetostatError as error:
            self._refused(str(error))

    def build_aim(self, name: str) -> Aim:
        """Return the curve as a design to be stored in the document. Raises ModelError."""
        return self.page.build_aim(name, self.canvas.target, self.in_view.plane_pose)

    # -------------------------------------------------------------------------------------------- taking

    def _on_drawn(self) -> None:
        self.page.points.clear()
        self.page.use_smoothed()
        self.in_view.reset_plane()
        self._forget()
        self.show_target(self.canvas.target)

    def _on_drawn_in_view(self, drawn: DrawnCurve) -> None:
        """Use a curve drawn in the 3-D view, smoothed as the search will use it."""
        self._begun()
        self.page.points.clear()
        self.page.use_smoothed()
        self.page.closed.setChecked(drawn.closed)
        self._forget()
        self.canvas.show_curves(())
        self.show_target(drawn.points)
        try:
            self.smooth_target()
        except KinetostatError as error:
            self._refused(str(error))
            return
        self._told(len(drawn.points))

    def _typed_points(self) -> str:
        return self.page.points.text().replace(";", "\n")

    def _on_typed(self) -> None:
        self.take_points(self._typed_points(), ".csv", "points")

    def check_typed(self) -> None:
        """Raise FileError if the typed points cannot be read."""
        from core.design.target_curves import target_from_csv

        if self._typed_points().strip():
            target_from_csv(self._typed_points(), name="points", closed=self.is_closed)

    def _ask_points_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.page, "Points of a curve", "", KINDS)
        if path:
            self.read_points(Path(path))

    def read_points(self, path: Path) -> None:
        """Read the points of a file."""
        text = read_text_file(path, self._refused)
        if text is not None:
            self.take_points(text, path.suffix.lower(), path.name)

    def take_points(self, text: str, suffix: str, name: str) -> None:
        """Use the points in a text, as if read from a file with this suffix and name."""
        from core.design.target_curves import target_from_csv, target_from_svg

        try:
            found = (
                target_from_svg(text, name=name)
                if suffix == ".svg"
                else target_from_csv(text, name=name, closed=self.is_closed)
            )
        except KinetostatError as error:
            self._refused(str(error))
            return
        self.page.closed.setChecked(found.closed)
        self.page.use_unsmoothed()
        self._forget()
        self.canvas.show_curves(())
        self.in_view.reset_plane()
        self.show_target(found.points)

    def clear(self) -> None:
        """Clear the canvas."""
        self.page.points.clear()
        self.page.use_smoothed()
        self.canvas.show_curves(())
        self.in_view.reset_plane()
        self.show_target(np.zeros((0, 2)))
        self._forget()

    def smooth_target(self) -> Target:
        """Show and return the target smoothed with the chosen number of Fourier terms. Raises ModelError."""
        from core.design.target_curves import target

        wanted = target(self.canvas.target, closed=self.is_closed)
        terms = self.page.term_count()
        if terms:
            wanted = wanted.smoothed(terms)
            self.show_target(wanted.points)
        return wanted

    def build_search_target(self) -> Target:
        """Return the target curve as the search will use it. Raises ModelError."""
        wanted = self.smooth_target()
        return wanted.timed() if self.page.timed.isChecked() else wanted

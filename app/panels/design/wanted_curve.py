"""The target curve of a linkage: drawn on the canvas or in the 3-D view, typed, or read from a file, and smoothed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QFileDialog

from app.background.lifetime import Lifetime
from app.panels.design.curve_canvas import CurveCanvas
from app.panels.design.curve_page import CurvePage
from app.panels.design.in_view import CurveInView
from app.panels.design.read_text import text_of
from core.errors import KinetostatError
from core.model import Aim, Model

if TYPE_CHECKING:
    from app.tools.target_curve import Drawn
    from app.viewport.stage import Stage
    from core.design.target_curves import Target

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
        text = text_of(path, self._refused)
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

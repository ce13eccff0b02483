"""The target curve in the 3-D view: drawn there with a tool, and shown there with the curves of found linkages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.background.lifetime import Lifetime
from app.tools.target_curve import Drawn, curve_hand
from core.design.asked_designs import place_of, placed
from core.design.linkage import XZ
from core.model import Model, Pose

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Array = NDArray[np.float64]

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

"""The target curve in the 3-D view: drawn there with a tool, shown there with what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.background.lifetime import Lifetime
from app.tools.target_curve import Drawn, curve_hand
from core.design.placing import place_of, placed
from core.linkage import XZ
from core.model import Model, Pose

if TYPE_CHECKING:
    from app.viewport.stage import Stage

Array = NDArray[np.float64]

XZ_IN_WORLD = np.eye(4)
XZ_IN_WORLD[:3, :3] = XZ.basis


class CurveInView:
    """Of one view; without one it shows nothing. X_WD (4, 4) : the plane in which the curve lies."""

    def __init__(self, stage: Stage | None, taken: Callable[[Drawn], None], life: Lifetime) -> None:
        self._stage, self._taken = stage, taken
        self.X_WD = XZ_IN_WORLD
        if stage is not None:
            life.listen((curve_hand(stage).drawn, self._drawn))

    def draw(self) -> None:
        """Let the person draw."""
        if self._stage is not None:
            self._stage.gestures.choose("target_curve")

    def _drawn(self, found: Drawn) -> None:
        self.X_WD = found.X_WD
        self._taken(found)

    def forget_plane(self) -> None:
        """Points from elsewhere lie in the plane x–z."""
        self.X_WD = XZ_IN_WORLD

    def show(self, target: Array, closed: bool, curves: Sequence[Array] = ()) -> None:
        """Show a target (n, 2) and what was found beside it, the nearest first."""
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
        """Nothing any more."""
        self.show(np.zeros((0, 2)), False)

    @property
    def place(self) -> Pose | None:
        """The plane as the document says it; None for x–z of the world."""
        return place_of(self.X_WD)

    def placed(self, model: Model) -> Model:
        """A linkage that was found, in the plane in which the curve was drawn."""
        return placed(model, self.X_WD)

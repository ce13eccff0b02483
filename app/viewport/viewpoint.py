"""The camera of the viewport: moves at once or in an animated flight, and fits elements into the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QVariantAnimation

from app.background.signals import Signal
from app.viewport.surface import Surface
from viz import camera
from viz.camera import View

if TYPE_CHECKING:
    from app.document.revision import Ref
    from viz.scene.scene import Scene

FLIGHT = 220
"""Milliseconds of a camera movement."""


class Viewpoint:
    """The camera of a scene displayed on a surface."""

    looked = Signal()
    """Emitted when the camera moved."""

    def __init__(self, scene: Scene, surface: Surface, catch_up: Callable[[], object]) -> None:
        """`catch_up` updates the scene to the present document."""
        self._scene, self._surface, self._catch_up = scene, surface, catch_up
        self._fit_wanted = True
        self._trajectory: tuple[View, View] | None = None
        self._flight = QVariantAnimation(surface, startValue=0.0, endValue=1.0, duration=FLIGHT)
        self._flight.valueChanged.connect(self._show_flight_share)

    # ----------------------------------------------------------------------------- moving

    def look(self, view: View) -> None:
        """Move the camera at once."""
        self.stop()
        self._look(view)

    def recall(self, view: View) -> None:
        """Restore an earlier view, without fitting the machine into the first picture."""
        self._fit_wanted = False
        self.look(view)

    def fly_to(self, view: View) -> None:
        """Move the camera smoothly; a pending fit is dropped."""
        self._fit_wanted = False
        if not self._surface.ready or not self._surface.isVisible():
            self._look(view)
            return
        self.stop()
        self._trajectory = self._scene.view, view
        self._flight.start()

    def stop(self) -> None:
        """Stop a flight at its present view."""
        self._flight.stop()

    def _show_flight_share(self, share: float) -> None:
        if self._trajectory is not None:
            self._look(self._trajectory[1] if share >= 1.0 else camera.between(*self._trajectory, share))

    def _look(self, view: View) -> None:
        self._scene.view = view
        self.looked.emit()
        self._surface.update()

    @property
    def goal(self) -> View:
        """The present view, or the destination of a flight."""
        flying = self._flight.state() == QVariantAnimation.State.Running
        return self._trajectory[1] if flying and self._trajectory is not None else self._scene.view

    def look_from(self, name: str) -> None:
        """Look from a named side (`camera.PRESETS`)."""
        self.fly_to(camera.preset(self.goal, name))

    @property
    def ortho(self) -> bool:
        """True for parallel projection."""
        return self.goal.parallel

    def set_ortho(self, on: bool) -> None:
        """Choose parallel or perspective projection."""
        self.look(replace(self.goal, parallel=on))

    # ----------------------------------------------------------------------------- fitting

    def fitted(self, view: View, ref: Ref | None = None) -> View:
        """Return a view moved so that an element, or everything, is in the picture."""
        self._catch_up()
        scene = self._scene
        now, scene.view = scene.view, view
        wanted = scene.fit(ref)
        scene.view = now
        return wanted

    def fit(self, ref: Ref | None = None) -> None:
        """Move the camera so that an element, or everything, is in the picture."""
        if self._surface.ready:
            self.fly_to(self.fitted(self.goal, ref))
        else:
            self._fit_wanted = True

    def move_back_to_fit(self) -> None:
        """Move the camera back if the machine, poses or ellipsoids extend beyond the picture."""
        self._catch_up()
        scene = self._scene
        if not camera.sees(self.goal, scene.size, scene.bounds(overlays=True)):
            self.fit()

    def fit_next_picture(self) -> None:
        """Fit everything with the next picture, in the direction of a flight's destination."""
        self._scene.view = self.goal
        self.stop()
        self._fit_wanted = True
        self._surface.update()

    def prepare(self) -> None:
        """Perform a pending fit before a picture is drawn."""
        if self._fit_wanted:
            self._fit_wanted = False
            self._scene.view = self._scene.fit()

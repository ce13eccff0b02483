"""The camera of the viewport: it moves at once or in an animated flight, and fits elements into the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QVariantAnimation

from app.background.signals import Signal
from app.viewport.surface import OpenGLSurface
from viz import camera
from viz.camera import CameraView

if TYPE_CHECKING:
    from app.document.revision import ElementRef
    from viz.scene.scene import Scene

FLIGHT = 220
"""Duration of a camera flight in ms."""


class CameraController:
    """Camera of a scene that is displayed on a surface."""

    looked = Signal()
    """Emitted when the camera moved."""

    def __init__(self, scene: Scene, surface: OpenGLSurface, catch_up: Callable[[], object]) -> None:
        """Create the camera; `catch_up` updates the scene to the present document."""
        self._scene, self._surface, self._catch_up = scene, surface, catch_up
        self._fit_wanted = True
        self._trajectory: tuple[CameraView, CameraView] | None = None
        self._flight = QVariantAnimation(surface, startValue=0.0, endValue=1.0, duration=FLIGHT)
        self._flight.valueChanged.connect(self._on_flight_progress)

    # ----------------------------------------------------------------------------- moving

    def set_view(self, view: CameraView) -> None:
        """Move the camera at once."""
        self.stop()
        self._apply_view(view)

    def restore_view(self, view: CameraView) -> None:
        """Restore an earlier view, without the fit to the first picture."""
        self._fit_wanted = False
        self.set_view(view)

    def fly_to(self, view: CameraView) -> None:
        """Move the camera smoothly; a pending fit is cancelled."""
        self._fit_wanted = False
        if not self._surface.ready or not self._surface.isVisible():
            self._apply_view(view)
            return
        self.stop()
        self._trajectory = self._scene.view, view
        self._flight.start()

    def stop(self) -> None:
        """Stop a flight at the view it has reached."""
        self._flight.stop()

    def _on_flight_progress(self, fraction: float) -> None:
        if self._trajectory is not None:
            self._apply_view(
                self._trajectory[1] if fraction >= 1.0 else camera.interpolate_views(*self._trajectory, fraction)
            )

    def _apply_view(self, view: CameraView) -> None:
        self._scene.view = view
        self.looked.emit()
        self._surface.update()

    @property
    def target_view(self) -> CameraView:
        """Present view, or the destination of a flight in progress."""
        flying = self._flight.state() == QVariantAnimation.State.Running
        return self._trajectory[1] if flying and self._trajectory is not None else self._scene.view

    def look_from(self, name: str) -> None:
        """Look at the machine from a named side (`camera.PRESETS`)."""
        self.fly_to(camera.preset_view(self.target_view, name))

    @property
    def is_parallel(self) -> bool:
        """True for parallel projection."""
        return self.target_view.parallel

    def set_parallel(self, on: bool) -> None:
        """Choose parallel or perspective projection."""
        self.set_view(replace(self.target_view, parallel=on))

    # ----------------------------------------------------------------------------- fitting

    def fitted_view(self, view: CameraView, ref: ElementRef | None = None) -> CameraView:
        """Return the view moved so that an element, or everything, is in the picture."""
        self._catch_up()
        scene = self._scene
        now, scene.view = scene.view, view
        wanted = scene.fit(ref)
        scene.view = now
        return wanted

    def fit_view(self, ref: ElementRef | None = None) -> None:
        """Move the camera so that an element, or everything, is in the picture."""
        if self._surface.ready:
            self.fly_to(self.fitted_view(self.target_view, ref))
        else:
            self._fit_wanted = True

    def move_back_to_fit(self) -> None:
        """Move the camera back if the machine, poses or ellipsoids extend beyond the picture."""
        self._catch_up()
        scene = self._scene
        if not camera.contains_box(self.target_view, scene.size, scene.bounds(overlays=True)):
            self.fit_view()

    def fit_next_picture(self) -> None:
        """Fit everything into the next picture, in the viewing direction at the end of a flight."""
        self._scene.view = self.target_view
        self.stop()
        self._fit_wanted = True
        self._surface.update()

    def apply_pending_fit(self) -> None:
        """Perform a pending fit before a picture is drawn."""
        if self._fit_wanted:
            self._fit_wanted = False
            self._scene.view = self._scene.fit()

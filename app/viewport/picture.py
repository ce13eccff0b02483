"""A picture of what the viewport shows, finer than the screen, without handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QImage

from viz.pictures.pixels import pixels

if TYPE_CHECKING:
    from app.viewport.viewport import Viewport


def picture(view: Viewport, scale: int = 2) -> QImage:
    """The scene drawn `scale` times as fine as on the screen."""
    scene = view.scene
    shown, size, ratio = scene.handles.shown, scene.window.GetSize(), scene.pixel_ratio
    view.makeCurrent()
    try:
        scene.show_handles()
        scene.pixel_ratio = ratio * scale
        scene.window.SetSize(size[0] * scale, size[1] * scale)
        scene.window.OpenGLInitState()
        scene.render()
        taken = np.ascontiguousarray(pixels(scene.window))
    finally:
        scene.pixel_ratio = ratio
        scene.window.SetSize(*size)
        scene.show_handles(*shown)
        view.doneCurrent()
        view.update()
    height, width = taken.shape[:2]
    return QImage(taken.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()

"""Off-screen pictures of a model: VTK's off-screen window finds EGL or OSMesa by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkCommonCore import vtkLogger
from vtkmodules.vtkRenderingCore import vtkRenderWindow

from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import Model
from viz import camera
from viz.drawlist.junction_items import balanced_poses
from viz.look import LOOKS, LookName
from viz.pictures.picture_files import Pixels, read_pixels, write_png
from viz.scene.scene import Scene
from viz.system_libraries import require_libraries

MAX_PIXELS = 16384
"""Largest width or height of a picture."""


@contextmanager
def open_offscreen_scene(
    size: tuple[int, int] = (1200, 800), look: LookName = "light", scale: float = 1.0
) -> Iterator[Scene]:
    """Context with a scene in an off-screen window; `scale` enlarges lines, letters and handles for large pictures."""
    if not all(1 <= side <= MAX_PIXELS for side in size):
        raise KinetostatError(
            f"A picture of {size[0]} × {size[1]} pixels cannot be drawn.",
            remedy=f"Choose sides from 1 to {MAX_PIXELS} pixels.",
        )
    if look not in LOOKS:
        raise KinetostatError(f"There is no look '{look}'.", remedy=f"Choose one of {', '.join(LOOKS)}.")
    require_libraries("picture")
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # finding no screen is no news here
    window = vtkRenderWindow()
    window.SetOffScreenRendering(True)
    window.SetAlphaBitPlanes(True)
    window.SetSize(*size)
    scene = Scene(window, look, scale, "picture")
    try:
        yield scene
    finally:
        scene.close()
        window.Finalize()


def render(
    model: Model,
    q: ArrayLike | None = None,
    path: str | Path | None = None,
    *,
    size: tuple[int, int] = (1200, 800),
    look: LookName = "light",
    view: str | camera.CameraView = "iso",
    parallel: bool = False,
    scale: float = 1.0,
    transparent: bool = False,
    p: Mapping[str, float] | None = None,
    mech: Mechanism | None = None,
    ranges: Sequence[Sequence[float]] = (),
    millimetres: bool = False,
    **display: Any,
) -> Pixels:
    """Render a picture of a model at joint coordinates q (default: the reference configuration); if a path is given,
    write it as PNG.

    view    : a key of `camera.PRESETS` (fitted to the machine) or a whole `camera.View`
    ranges  : (low, high) along x, y, z, m: this part of space in a box with numbers, in m or mm; () for everything
    display : fields of `viz.scene.quality.Display`, e.g. frames=True
    Returns (height, width, 4) bytes. Raises KinetostatError; FileError when the file cannot be written.
    """
    if isinstance(view, str) and view not in camera.PRESETS:
        raise KinetostatError(f"There is no view '{view}'.", remedy=f"Choose one of {', '.join(camera.PRESETS)}.")
    mech = mech or Mechanism(model)
    position = mech.rest() if q is None else np.asarray(q, dtype=float)
    with open_offscreen_scene(size, look, scale) as scene:
        scene.set_display(**{"cube": False, **display})
        arrays = np.asarray(mech.poses(position, p))
        scene.separate_moving_links(model, mech.frame_names, arrays[None])
        scene.show_model(model, p)
        poses = dict(zip(mech.frame_names, arrays, strict=True))
        scene.move({**poses, **balanced_poses(mech, position, p)})
        scene.range_box.show_ranges_in_unit(ranges, millimetres)
        if isinstance(view, str):
            scene.view = camera.preset_view(camera.CameraView(parallel=parallel), view)
            scene.view = scene.fit()
        else:
            scene.view = view
        scene.fit_surroundings()
        scene.set_transparent_background(transparent)
        scene.render()
        picture = read_pixels(scene.window)
    if path is not None:
        write_png(picture, path)
    return picture

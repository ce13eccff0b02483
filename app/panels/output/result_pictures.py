"""Pictures that results ask for, drawn without a window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import ModelError
from core.functions.context import Context
from core.functions.results import EllipsoidField, Picture, PoseSequence, Print, Result, leaf_results

if TYPE_CHECKING:
    from viz.scene.scene import Scene


def write_pictures(result: Result, context: Context) -> None:
    """Write the files of all pictures that a result requests. Raises FileError."""
    for part in leaf_results(result):
        for picture in part.requested_pictures():
            write_picture(picture, context)


@singledispatch
def write_picture(picture: Picture | Print, context: Context) -> None:
    """Draw a picture and write it to its file. Raises FileError."""
    raise TypeError(f"There is no renderer for {type(picture).__name__}.")


@write_picture.register
def _(picture: Print, context: Context) -> None:
    """Poses or ellipsoids of a result."""
    write_result_picture(picture.of, context, picture.path, ranges=picture.ranges, trajectories=picture.trajectories)


@write_picture.register
def _(picture: Picture, context: Context) -> None:
    """The machine."""
    from viz.pictures.offscreen import render

    q = np.array(picture.q) if picture.q else context.q
    render(
        context.model,
        q,
        picture.path,
        size=picture.size,
        look=picture.look,  # type: ignore[arg-type]
        view=picture.view,
        transparent=picture.transparent,
        p=dict(picture.p),
        mech=context.mech,
        ranges=context.ranges,
        millimetres=context.millimetres,
    )


def write_result_picture(
    result: Result,
    context: Context,
    path: str,
    size: tuple[int, int] = (1200, 800),
    ranges: tuple[tuple[float, float], ...] = (),
    trajectories: Sequence[Any] = (),
) -> None:
    """Draw all poses or ellipsoids of a result together into a PNG, SVG or PDF file; `ranges` as in `ViewRanges`.

    trajectories : (n, 3) places along lines to draw, m
    """
    scenes = [part.scene_parts() for part in leaf_results(result)]
    drawable = [(scene.poses, scene.field) for scene in scenes if scene.poses is not None]
    if not drawable:
        raise ModelError(
            "This result has nothing to draw.", remedy="Write it to a .txt, .json, .csv, .tex or .py file instead."
        )
    from viz import camera
    from viz.pictures.offscreen import open_offscreen_scene
    from viz.pictures.picture_files import read_pixels, relative_resolution, write_picture_file

    poses, field = drawable[-1]
    fine = relative_resolution(path)
    with open_offscreen_scene((fine * size[0], fine * size[1]), scale=float(fine)) as scene:
        scene.set_display(cube=False)
        _show_poses(scene, poses, context)
        if field is not None:
            _show_ellipsoids(scene, field)
        scene.overlays.show_paths({str(k): trajectory for k, trajectory in enumerate(trajectories)})
        if poses.frame:
            scene.range_box.show_frame(scene.bounds(overlays=True).tolist())
        if ranges:
            scene.range_box.show_ranges_in_unit(ranges, context.millimetres)
        scene.view = camera.preset_view(camera.CameraView(parallel=bool(poses.view)), poses.view or "iso")
        scene.view = scene.fit()
        scene.fit_surroundings()
        scene.render()
        picture = read_pixels(scene.window)
    write_picture_file(picture, path)


def _show_poses(scene: Scene, poses: PoseSequence, context: Context) -> None:
    model = poses.model or context.model
    mech = context.mech.updated(model) if poses.model is not None else context.mech
    arrays = [mech.poses(np.array(q), p=dict(p)) for q, p in zip(poses.q, poses.p, strict=True)]
    scene.show_model(model, dict(poses.p[-1]))
    scene.move(mech.frame_names, arrays[-1])
    if len(arrays) > 1:
        scene.overlays.show_ghosts(mech.frame_names, arrays[:-1], parameters=[dict(p) for p in poses.p[:-1]])


def _show_ellipsoids(scene: Scene, field: EllipsoidField) -> None:
    drawn = [field.drawable_ellipsoid(k) for k in range(len(field.ellipsoids))]
    scene.overlays.show_ellipsoids([(e.center, e.axes, e.radii) for e in drawn])

"""Footage of runs (poses, paths, arrows, and other runs as ghosts) and of pose sequences (results of functions that are
shown pose by pose), at the times of a film's frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.mobility_marks import MobilityMark
from core.errors import ModelError
from core.functions.results import EllipsoidField, PoseSequence
from core.later import dataclass
from core.mechanism import Mechanism
from core.simulation.run.resampling import resample_run
from viz.camera import CameraView
from viz.film.film import Array, Footage, Ghost, PointPath, frame_times
from viz.look import Colour
from viz.scene import vectors
from viz.scene.overlays import EllipsoidGlyph
from viz.scene.vectors import RequestedArrow

if TYPE_CHECKING:
    from core.simulation.run.run import Run


@dataclass(frozen=True)
class FollowedPoint:
    """Point whose path is drawn: coordinates (3,) in m, in the axes of a body or frame."""

    frame: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    colour: Colour = "trace"
    whole: bool = False


def footage_of_run(
    run: Run,
    *,
    fps: float | Fraction = 30,
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    view: str | CameraView = "iso",
    turn: float = 0.0,
    paths: Sequence[FollowedPoint] = (),
    arrows: Iterable[RequestedArrow] = (),
    scales: dict[str, float] | None = None,
    others: Sequence[Run] = (),
    caption: bool = True,
    marks: Callable[[Array, Mapping[str, float]], Sequence[MobilityMark]] | None = None,
    **display: Any,
) -> Footage:
    """Return the footage of a run.

    start, end : s of the run; default all of it. speed: seconds of the run per second of film
    view : a camera preset, or a `View`; turn: rad per second of film about the vertical
    arrows : which vectors are shown; scales: metres per SI unit of each kind, by default from the longest ones
    marks : gives those of mobility at a pose (nq,) with parameter values
    others : runs of the same model that go along as ghosts; caption: the time stands in the corner
    """
    first, last = float(run.time[0]), float(run.time[-1])
    times = frame_times(
        first if start is None else max(start, first), last if end is None else min(end, last), fps, speed
    )
    shown = resample_run(run, times)
    parameters = dict(run.settings.parameters)
    found = vectors.compute_arrow_fields(shown, arrows)
    if found and scales is None:
        every = vectors.reference_magnitudes(vectors.compute_arrow_fields(vectors.sample_run(run), arrows))
        scales = vectors.arrow_scales(every, machine_size(run))
    return Footage(
        run.model,
        parameters,
        times,
        object_names(run),
        object_poses(shown),
        view,
        turn / float(fps),
        display,
        {f"{each.frame} {k}": point_path(run, each) for k, each in enumerate(paths)},
        [vectors.build_glyphs(found, scales or {}, k) for k in range(len(times))] if found else (),
        tuple(Ghost(object_poses(resample_run(other, times)), dict(other.settings.parameters)) for other in others),
        [f"t = {time:.2f} s" for time in times] if caption else (),
        marks=[marks(q, parameters) for q in shown.q] if marks is not None else (),
    )


def object_names(run: Run) -> tuple[str, ...]:
    """Return the names of all objects for which `object_poses` gives a pose: all frames, then the junctions of force
    elements."""
    return (*run.mech.frame_names, *(junction.name for junction in run.model.expanded.junctions))


def object_poses(run: Run) -> Array:
    """Return the poses (samples, names, 4, 4) world ← frame of all objects in `object_names`, with the parameter values
    of the run."""
    parameters = dict(run.settings.parameters) or None
    frames = np.asarray(run.mech.poses(run.q, parameters))
    junctions = [junction.name for junction in run.model.expanded.junctions]
    if not junctions:
        return frames
    x = run.x if run.x.size else np.asarray(run.mech.x_rest(run.q, p=parameters)).reshape(len(run.q), -1)
    places = np.tile(np.eye(4), (len(run.q), len(junctions), 1, 1))
    columns = [[run.mech.x_names.index(f"{name}.{axis}") for axis in "xyz"] for name in junctions]
    places[:, :, :3, 3] = x[:, columns]
    return np.concatenate([frames, places], axis=1)


def point_path(run: Run, point: FollowedPoint) -> PointPath:
    """Return the path of a point over the run."""
    if point.frame not in run.mech.frame_names:
        raise ModelError(
            f"There is no body or frame '{point.frame}' whose path could be drawn.",
            remedy=f"Choose one of {', '.join(run.mech.frame_names[:12])}.",
        )
    matrices = run.mech.frame(run.q, point.frame, p=dict(run.settings.parameters) or None)
    places = matrices[:, :3, 3] + matrices[:, :3, :3] @ np.asarray(point.point)
    return PointPath(run.time, places, point.colour, point.whole)


def machine_size(run: Run) -> float:
    """Return the longest edge, in m, of the box around all frames over the run; arrow lengths are relative to it."""
    places = object_poses(vectors.sample_run(run))[:, :, :3, 3].reshape(-1, 3)
    extent = places.max(axis=0) - places.min(axis=0) if len(places) else np.zeros(3)
    return float(extent.max(initial=0.0)) or 1.0


COLOURS = {"velocity": "ellipsoid", "force": "ellipsoid_force"}
"""Colours of ellipsoids by kind."""


def shown_pose_index(time: float, interval: float, count: int) -> int:
    """Return the index of the pose that is shown at a time (s) if each of `count` poses is shown for `interval` s."""
    return min(max(int(time / interval + 1e-6), 0), count - 1)


def ellipsoid_glyph(field: EllipsoidField, index: int) -> EllipsoidGlyph:
    """Return the values with which an ellipsoid is drawn."""
    drawn = field.drawable_ellipsoid(index)
    return EllipsoidGlyph(np.array(drawn.center), np.array(drawn.axes), np.array(drawn.radii), COLOURS[field.kind])


def footage_of_sequence(
    poses: PoseSequence,
    mech: Mechanism,
    *,
    interval: float,
    field: EllipsoidField | None = None,
    fps: float | Fraction = 30,
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    view: str | CameraView = "iso",
    turn: float = 0.0,
    caption: bool = True,
    marks: Callable[[np.ndarray, Mapping[str, float]], Sequence[MobilityMark]] | None = None,
    **display: Any,
) -> Footage:
    """Return the footage of a pose sequence.

    mech : the machine of the sequence (of `poses.model` where it brings one); interval : s a pose is shown
    field : ellipsoids along the sequence; start, end : s of the sequence, default all of it
    speed, view, turn, marks : as for films of runs; caption: the number of the pose and their count are shown in the
    corner
    """
    count = len(poses.q)
    last = interval * count  # the last pose is shown as long as the others
    times = frame_times(max(start or 0.0, 0.0), last if end is None else min(end, last), fps, speed)
    shown = [shown_pose_index(float(time), interval, count) for time in times]
    values = [dict(p) for p in poses.p]
    arrays = [np.asarray(mech.poses(np.array(q), p=p or None)) for q, p in zip(poses.q, values, strict=True)]
    known = [marks(np.array(q), p) for q, p in zip(poses.q, values, strict=True)] if marks is not None else []
    return Footage(
        mech.model,
        values[0],
        times,
        mech.frame_names,
        np.stack([arrays[k] for k in shown]),
        view,
        turn / float(fps),
        display,
        captions=[pose_caption(poses, k) for k in shown] if caption else (),
        changing=[values[k] for k in shown] if any(values) else (),
        ellipsoids=[[ellipsoid_glyph(field, k)] for k in shown] if field is not None and field.graphics else (),
        marks=[known[k] for k in shown] if known else (),
    )


def pose_caption(poses: PoseSequence, index: int) -> str:
    """Return the caption of a pose: its number and the number of poses."""
    title = f"{poses.title}  " if poses.title else ""
    return f"{title}{index + 1} / {len(poses.q)}"

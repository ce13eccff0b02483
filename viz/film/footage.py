"""Footage of runs (poses, paths, arrows, and other runs as ghosts) and of pose sequences (results that functions show
pose by pose), at the times of a film's frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.mobility_marks import Mark
from core.errors import ModelError
from core.functions.results import EllipsoidField, PoseSequence
from core.later import dataclass
from core.mechanism import Mechanism
from core.simulation.run.resampling import resampled
from viz.camera import View
from viz.film.film import Array, Footage, Ghost, PointPath, frame_times
from viz.look import Colour
from viz.scene import vectors
from viz.scene.overlays import EllipsoidGlyph
from viz.scene.vectors import Wanted

if TYPE_CHECKING:
    from core.simulation.run.run import Run


@dataclass(frozen=True)
class FollowedPoint:
    """Point with a drawn path: (3,) m in the axes of a body or frame."""

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
    view: str | View = "iso",
    turn: float = 0.0,
    paths: Sequence[FollowedPoint] = (),
    arrows: Iterable[Wanted] = (),
    scales: dict[str, float] | None = None,
    others: Sequence[Run] = (),
    caption: bool = True,
    marks: Callable[[Array, Mapping[str, float]], Sequence[Mark]] | None = None,
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
    shown = resampled(run, times)
    parameters = dict(run.settings.parameters)
    found = vectors.fields(shown, arrows)
    if found and scales is None:
        every = vectors.usual(vectors.fields(vectors.thinned(run), arrows))
        scales = vectors.scales(every, machine_size(run))
    return Footage(
        run.model,
        parameters,
        times,
        names(run),
        poses(shown),
        view,
        turn / float(fps),
        display,
        {f"{each.frame} {k}": path_of(run, each) for k, each in enumerate(paths)},
        [vectors.glyphs(found, scales or {}, k) for k in range(len(times))] if found else (),
        tuple(Ghost(poses(resampled(other, times)), dict(other.settings.parameters)) for other in others),
        [f"t = {time:.2f} s" for time in times] if caption else (),
        marks=[marks(q, parameters) for q in shown.q] if marks is not None else (),
    )


def names(run: Run) -> tuple[str, ...]:
    """Return the names of all objects placed by `poses`: all frames, then the junctions of force elements."""
    return (*run.mech.frame_names, *(junction.name for junction in run.model.expanded.junctions))


def poses(run: Run) -> Array:
    """Return poses (samples, names, 4, 4) world ← frame of all `names`, with the run's parameter values."""
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


def path_of(run: Run, point: FollowedPoint) -> PointPath:
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
    """Return the largest side of the box around all frames over the run, m, the reference for arrow lengths."""
    places = poses(vectors.thinned(run))[:, :, :3, 3].reshape(-1, 3)
    extent = places.max(axis=0) - places.min(axis=0) if len(places) else np.zeros(3)
    return float(extent.max(initial=0.0)) or 1.0


COLOURS = {"velocity": "ellipsoid", "force": "ellipsoid_force"}
"""Colours of ellipsoids by kind."""


def shown_pose(time: float, interval: float, count: int) -> int:
    """Return the index of the pose shown at a time (s), if each of `count` poses is shown for `interval` s."""
    return min(max(int(time / interval + 1e-6), 0), count - 1)


def glyph(field: EllipsoidField, index: int) -> EllipsoidGlyph:
    """Return the glyph of one ellipsoid."""
    drawn = field.drawn(index)
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
    view: str | View = "iso",
    turn: float = 0.0,
    caption: bool = True,
    marks: Callable[[np.ndarray, Mapping[str, float]], Sequence[Mark]] | None = None,
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
    shown = [shown_pose(float(time), interval, count) for time in times]
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
        captions=[pose_text(poses, k) for k in shown] if caption else (),
        changing=[values[k] for k in shown] if any(values) else (),
        ellipsoids=[[glyph(field, k)] for k in shown] if field is not None and field.graphics else (),
        marks=[known[k] for k in shown] if known else (),
    )


def pose_text(poses: PoseSequence, index: int) -> str:
    """Return the caption of a pose: its number and the total."""
    title = f"{poses.title}  " if poses.title else ""
    return f"{title}{index + 1} / {len(poses.q)}"

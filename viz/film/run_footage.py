"""Footage of runs: poses, paths, arrows, and other runs as ghosts, at the times of a film's frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.mobility_marks import Mark
from core.errors import ModelError
from core.later import dataclass
from core.simulation.run.resampling import resampled
from viz.camera import View
from viz.film.film import Array, Footage, Ghost, PointPath, frame_times
from viz.look import Colour
from viz.scene import vectors
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


def footage(
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

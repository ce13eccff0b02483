"""Footage of pose sequences (results that functions show pose by pose), at the times of a film's frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from core.analysis.mobility_marks import Mark
from core.functions.results import EllipsoidField, PoseSequence
from core.mechanism import Mechanism
from viz.camera import View
from viz.film.film import Footage, frame_times
from viz.scene.overlays import EllipsoidGlyph

COLOURS = {"velocity": "ellipsoid", "force": "ellipsoid_force"}
"""Colours of ellipsoids by kind."""


def shown_pose(time: float, interval: float, count: int) -> int:
    """Return the index of the pose shown at a time (s), if each of `count` poses is shown for `interval` s."""
    return min(max(int(time / interval + 1e-6), 0), count - 1)


def glyph(field: EllipsoidField, index: int) -> EllipsoidGlyph:
    """Return the glyph of one ellipsoid."""
    drawn = field.drawn(index)
    return EllipsoidGlyph(np.array(drawn.center), np.array(drawn.axes), np.array(drawn.radii), COLOURS[field.kind])


def footage(
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
    speed, view, turn, marks : as for films of runs; caption: which pose is shown, of how many, stands in the corner
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
        captions=[words(poses, k) for k in shown] if caption else (),
        changing=[values[k] for k in shown] if any(values) else (),
        ellipsoids=[[glyph(field, k)] for k in shown] if field is not None and field.graphics else (),
        marks=[known[k] for k in shown] if known else (),
    )


def words(poses: PoseSequence, index: int) -> str:
    """Return the caption of a pose: its number and the total."""
    title = f"{poses.title}  " if poses.title else ""
    return f"{title}{index + 1} / {len(poses.q)}"

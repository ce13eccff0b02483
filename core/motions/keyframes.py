"""Edits of poses and motions as pure functions Model → Model: poses are stored, motions lead through poses, points
are overwritten, moved, timed and removed.

Points of a motion are numbered from 0, its start; point k is the end of segment k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.model.motions import JointValue, Motion, Segment, StoredPose, Target
from core.model.shapes import Pose
from core.motions.independent_speeds import independent_speeds
from core.motions.joint_bounds import read_joint_bounds

Array = NDArray[np.float64]

DIGITS = 9
"""Decimal places of stored values (rad, m)."""
DEFAULT_ACCELERATION, DEFAULT_JERK = 2.0, 20.0
"""Limits (rad/s² or m/s², rad/s³ or m/s³) of a new motion for joints that have none of their own."""


def present_values(mech: Mechanism, q: Array) -> tuple[JointValue, ...]:
    """Return the values of a stored pose at q (nq,): of all coordinates, or of independent ones of a machine with
    loops."""
    names = mech.q_names
    if mech.constrained:
        free = {mech.v_names[k] for k in independent_speeds(mech, q)}
        names = tuple(name for name in names if name in free) or names
    values = dict(zip(mech.q_names, np.round(q, DIGITS).tolist(), strict=True))
    return tuple(JointValue(coordinate=name, value=values[name] + 0.0) for name in names)


def store_pose(model: Model, mech: Mechanism, q: Array, name: str = "") -> tuple[Model, str]:
    """Return the model with the pose q (nq,) stored under a free name, and that name."""
    found = edits.unused_name(model, "poses", name or "pose1")
    return edits.add(model, StoredPose(name=found, values=present_values(mech, q))), found


def places_of(model: Model) -> dict[str, StoredPose | Target]:
    """Return poses and targets by name."""
    both: tuple[StoredPose | Target, ...] = (*model.poses, *model.targets)
    return {each.name: each for each in both}


def add_motion(model: Model, mech: Mechanism, places: Sequence[str] | None = None) -> tuple[Model, str]:
    """Return the model with a motion through places (default: all stored poses, then all targets), and its name.

    Joints without limits of their own get the default limits by the motion. Raises ModelError unless there is a place.
    """
    through = list(places_of(model)) if places is None else list(places)
    if not through:
        raise ModelError(
            "A motion leads through poses, and none is stored.",
            where="motions",
            remedy="Move the machine and store its pose (K), then move it and store another one.",
        )
    name = edits.unused_name(model, "motions", "motion1")
    bounds = read_joint_bounds(mech)
    motion = Motion(
        name=name,
        start=through[0],
        segments=tuple(Segment(to=place, law="s-curve") for place in through[1:]),
        joint_acceleration=None if np.isfinite(bounds.acceleration).all() else DEFAULT_ACCELERATION,
        joint_jerk=None if np.isfinite(bounds.jerk).all() else DEFAULT_JERK,
    )
    return edits.add(model, motion), name


def place_at(motion: Motion, point: int) -> str:
    """Return the name of the pose or target at a point of a motion; "" for a wait, and for a start without a name."""
    return motion.start if point == 0 else motion.segments[point - 1].to


def change_segments(model: Model, name: str, segments: Sequence[Segment]) -> Model:
    """Return the model with other segments of a motion."""
    return edits.change(model, "motions", name, segments=tuple(segments))


def insert_point(model: Model, name: str, place: str, after: int | None = None) -> Model:
    """Return the model with a motion that also leads to a place, after a point (default: the last)."""
    motion: Motion = model.find("motions", name)
    if not motion.segments and not motion.start:
        return edits.change(model, "motions", name, start=place)
    at = len(motion.segments) if after is None else after
    law = motion.segments[at - 1].law if at and motion.segments[at - 1].to else "trapezoid"
    return change_segments(model, name, (*motion.segments[:at], Segment(to=place, law=law), *motion.segments[at:]))


def change_segment(model: Model, name: str, point: int, **fields: Any) -> Model:
    """Return the model with other fields of the segment that leads to a point."""
    motion: Motion = model.find("motions", name)
    if not 1 <= point <= len(motion.segments):
        raise ModelError("No segment leads to the start.", where=f"motion '{name}'", remedy="Choose a later point.")
    segments = list(motion.segments)
    segments[point - 1] = replace(segments[point - 1], **fields)
    return change_segments(model, name, segments)


def remove_point(model: Model, name: str, point: int) -> Model:
    """Return the model without a point of a motion; without its start it begins at the next place."""
    motion: Motion = model.find("motions", name)
    if point:
        return change_segments(model, name, (*motion.segments[: point - 1], *motion.segments[point:]))
    if motion.segments and not motion.segments[0].to:
        return change_segments(model, name, motion.segments[1:])
    if not motion.segments:
        return edits.remove(model, "motions", name)
    return edits.change(model, "motions", name, start=motion.segments[0].to, segments=motion.segments[1:])


def move_point(model: Model, name: str, point: int, to: int, *, copy: bool = False) -> Model:
    """Return the model with a point at another place in the order; copy : the point also stays where it is."""
    motion: Motion = model.find("motions", name)
    points = list(motion.segments)
    if motion.start:
        points.insert(0, Segment(to=motion.start))
    else:
        point, to = point - 1, max(to - 1, 0)
    if not 0 <= point < len(points) or (to == point and not copy):
        return model
    moved = points[point] if copy else points.pop(point)
    points.insert(to, moved)
    if not motion.start:
        return change_segments(model, name, points)
    if not points[0].to:  # a motion does not begin with a wait
        points[0], points[1] = points[1], points[0]
    return edits.change(model, "motions", name, start=points[0].to, segments=tuple(points[1:]))


def overwrite_place(model: Model, mech: Mechanism, place: str, q: Array, frame: str) -> Model:
    """Return the model with a pose, or a target of a frame, overwritten by where the machine is at q (nq,)."""
    known = places_of(model)
    if place not in known:
        raise ModelError("This point has no pose.", where="motions", remedy="Choose a point with a pose or target.")
    element = known[place]
    if isinstance(element, StoredPose):
        return edits.replace(model, element, replace(element, values=present_values(mech, q)))
    return place_target(model, mech, element, np.asarray(mech.frame(q, frame)), q)


def place_target(model: Model, mech: Mechanism, target: Target, X: Array, q: Array) -> Model:
    """Return the model with a target at a pose X (4, 4) in the world; q (nq,) : position of its reference frame."""
    from scipy.spatial.transform import Rotation

    base = np.eye(4) if target.reference in ("", "world") else np.asarray(mech.frame(q, target.reference))
    own = np.linalg.solve(base, X)
    position = np.round(own[:3, 3], DIGITS) + 0.0
    quaternion = Rotation.from_matrix(own[:3, :3]).as_quat()
    pose = Pose(position=tuple(position.tolist()), rotation=tuple(np.round(quaternion, 12).tolist()))
    return edits.replace(model, target, replace(target, pose=pose))

"""Animations of the Robotica command line: showing, saving and loading the last one, and setting the ranges of space
that views show.

The file is JSON (docs/robotica.md): the coordinates of a robot by name, poses with the parameter values that belong to
them, or a run as times and poses; ellipsoids with their measures.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import FileError, ModelError
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Tree, error_at
from core.files.regular_file import ANIMATION, read_text
from core.functions.results import (
    Ellipsoid,
    EllipsoidField,
    Message,
    Motion,
    PoseSequence,
    Result,
    Table,
    ViewRanges,
    leaf_results,
    to_row_tuples,
)
from core.functions.text import Column
from core.model.formula.numerals import format_readable
from core.robotica.command import string_value
from core.robotica.workspace import Workspace

if TYPE_CHECKING:
    from core.functions.context import Context

FORMAT, VERSION = "kinetostat animation", 1
AXES = "xyz"
Animation = PoseSequence | EllipsoidField | Motion


def find_animation(result: Result) -> Animation | None:
    """Return the first part of a result that can be animated: poses, ellipsoids, or a run that is not shown only as
    curves."""
    for part in leaf_results(result):
        scene = part.scene_parts()
        found = scene.field or scene.poses or scene.motion
        if found is not None and not (scene.motion and scene.motion.curves):
            return found
    return None


def _last_animation(workspace: Workspace) -> Animation:
    found = workspace.state.animation
    if found is None:
        raise ModelError(
            "There is no animation yet.",
            remedy="Call ShowRobot, SeqShowRobot, RElp, Response or SimDrive, or LoadAnim.",
        )
    return found


def show_animation(workspace: Workspace) -> Result:
    """Play the last animation, pose by pose."""
    return _last_animation(workspace).as_animation()


# --------------------------------------------------------------------------------- files


def save(workspace: Workspace, file: Tree) -> Result:
    """Write the last animation to a file."""
    from core.files.source import write_atomically

    found, context = _last_animation(workspace), workspace.context()
    path = workspace.target(string_value(file))
    data = {
        "format": FORMAT,
        "version": VERSION,
        "robot": context.model.name,
        "coordinates": list(context.mech.q_names),
        "title": found.title,
        **_animation_data(found),
    }
    write_atomically(path, (json.dumps(data, ensure_ascii=False, indent=None) + "\n").encode())
    return Message(title="Animation", text=f"{_format_pose_count(found)} written to {path}.")


def _format_pose_count(animation: Animation) -> str:
    scene = animation.scene_parts()
    count = len(scene.poses.q) if scene.poses is not None else len(scene.motion.run.time) if scene.motion else 0
    return f"{count} pose{'s' * (count != 1)}"


def _animation_data(animation: Animation) -> dict[str, Any]:
    poses, field, motion, *_ = animation.scene_parts()
    if motion is not None:
        run = motion.run
        return {"times": run.time.tolist(), "poses": run.q.tolist(), "parameters": [dict(run.settings.parameters)]}
    assert poses is not None
    data: dict[str, Any] = {
        "display": poses.display,
        "frame": poses.frame,
        "view": poses.view,
        "ranges": [list(r) for r in poses.ranges],
        "poses": [list(q) for q in poses.q],
        "parameters": [dict(p) for p in poses.p],
    }
    if field is not None:
        data["ellipsoids"] = {
            "kind": field.kind,
            "part": field.part,
            "of": field.frame,
            "dimension": field.dimension,
            "scaled": field.scaled,
            "shown": field.graphics,
            "each": [[e.center, e.axes, [str(r) if math.isinf(r) else r for r in e.radii]] for e in field.ellipsoids],
        }
    return data


def load(workspace: Workspace, file: Tree) -> Result:
    """Read an animation from a file, to be shown by ShowAnim. Raises FileError, also if it belongs to another robot."""
    path = workspace.path(string_value(file))
    context = workspace.context()
    data = _read_animation_file(path)
    if data.get("coordinates") != list(context.mech.q_names):
        names = data.get("coordinates")
        theirs = ", ".join(map(str, names)) if isinstance(names, list) and names else "none"
        raise FileError(
            f"The animation belongs to another robot, '{data.get('robot', '?')}' with the coordinates "
            f"{theirs}; '{context.model.name}' has {', '.join(context.mech.q_names)}.",
            file=path,
            remedy="Read that robot first, with DataFile.",
        )
    try:
        found = _animation_from_data(data, context, os.path.basename(path))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        reason = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)[:120]
        raise FileError(f"The animation cannot be read: {reason}.", file=path, remedy="Save it again.") from None
    workspace.state.animation = found
    return Message(title="Animation", text=f"{_format_pose_count(found)} read from {path}. ShowAnim[] shows them.")


def _read_animation_file(path: str) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path, ANIMATION))
    except json.JSONDecodeError as error:
        where = f"column {error.colno}"
        raise FileError(
            f"This is not an animation file (invalid JSON: {error.msg}).",
            file=path,
            line=error.lineno,
            where=where,
            remedy="Choose a file written by SaveAnim.",
        ) from None
    except (RecursionError, ValueError):
        raise FileError(
            "This is not an animation file.", file=path, remedy="Choose a file written by SaveAnim."
        ) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FileError("This is not an animation file.", file=path, remedy="Choose a file written by SaveAnim.")
    if data.get("version") != VERSION:
        raise FileError(
            "The animation file was written by another version of the program.", file=path, remedy="Update the program."
        )
    return data


def _animation_from_data(data: Mapping[str, Any], context: Context, name: str) -> Animation:
    """Build the animation from the file's data. Raises KeyError, TypeError or ValueError for invalid data."""
    q = np.array(data["poses"], dtype=float)
    if q.ndim != 2 or q.shape[1] != context.mech.nq or not len(q) or not np.isfinite(q).all():
        raise ValueError("the animation's poses are not a table of finite numbers with one column per coordinate")
    values = [{str(key): float(x) for key, x in p.items()} for p in data["parameters"]]
    if "times" in data:
        return _motion_from_data(data, context, q, values[0], name)
    if len(values) != len(q):
        raise ValueError("the number of parameter sets differs from the number of poses")
    entries = sorted({key for p in values for key in p} - set(context.mech.p_names))
    display = data["display"] if data["display"] in ("composite", "animate", "single") else "composite"
    poses = PoseSequence(
        title=str(data["title"]),
        q=to_row_tuples(q),
        p=tuple(values),
        display=display,  # type: ignore[arg-type]
        model=_turn_entries_into_parameters(context, entries) if entries else None,
        frame=bool(data["frame"]),
        view=str(data["view"]),
        ranges=tuple(tuple(r) for r in data["ranges"]),
    )
    return _ellipsoids_from_data(data, poses) if "ellipsoids" in data else poses


def _motion_from_data(data: Mapping[str, Any], context: Context, q: Any, p: dict[str, float], name: str) -> Motion:
    from core.simulation.run.recorded import build_recorded_run

    names = ["t", *context.mech.q_names]
    numbers = np.column_stack([np.array(data["times"], dtype=float), q])
    known = {**context.p, **{key: x for key, x in p.items() if key in context.p}}
    run = build_recorded_run(context.mech, known, names, numbers, {}, name)
    return Motion(title=str(data["title"]), run=run, text=f"{len(run.time)} poses", animate=True)


def _turn_entries_into_parameters(context: Context, entries: Sequence[str]) -> Any:
    """Return the model with these DH entries turned into parameters."""
    from core.analysis.sweep import sweep, sweepable_variables, variable_value

    known = sweepable_variables(context.model, context.mech)
    missing = [name for name in entries if known.get(name) != "entry"]
    if missing:
        raise ValueError(f"the robot has no parameter '{missing[0]}'")
    now = [variable_value(context.model, context.mech, context.q, context.p, name) for name in entries]
    ranges = [(name, x, x, 1) for name, x in zip(entries, now, strict=True)]
    return sweep(context.model, context.mech, context.q, context.p, ranges).model


def _ellipsoids_from_data(data: Mapping[str, Any], poses: PoseSequence) -> EllipsoidField:
    kept = data["ellipsoids"]
    found = []
    for center, axes, radii in kept["each"]:
        x, y, z = map(float, center)
        r = [float(radius) for radius in radii]
        table = np.array(axes, dtype=float)
        if table.shape != (3, 3):
            raise ValueError("the axes of an ellipsoid are not a 3×3 matrix")
        found.append(Ellipsoid((x, y, z), to_row_tuples(table), (r[0], r[1], r[2])))
    if len(found) != len(poses.q):
        raise ValueError("the number of ellipsoids differs from the number of poses")
    radii = tuple(e.radii for e in found)
    table_of = Table(title="Radii", columns=tuple(Column(f"radius {k}", "length") for k in (1, 2, 3)), rows=radii)
    return EllipsoidField(
        title=poses.title,
        kind=str(kept["kind"]),
        part=str(kept["part"]),
        frame=str(kept["of"]),
        dimension=int(kept["dimension"]),
        ellipsoids=tuple(found),
        measures=table_of,
        poses=poses,
        scaled=bool(kept["scaled"]),
        graphics=bool(kept["shown"]),
        listed=False,
    )


# --------------------------------------------------------------------------------- ranges of views


def set_ranges(workspace: Workspace, *axes: Tree | None) -> Result:
    """Set the range of space shown in views and pictures from now on; without arguments, remove the limits."""
    given = [tree for tree in axes if tree is not None]
    if len(given) not in (0, 3):
        raise error_at(
            given[0],
            f"SetRanges takes one range for each of x, y and z; {len(given)} given.",
            "Write SetRanges[{-5, 5}, {-5, 5}, {0, 9}], or SetRanges[] for none.",
        )
    workspace.state.ranges = tuple(
        _read_axis_range(workspace, name, tree) for name, tree in zip(AXES, given, strict=False)
    )
    words = ", ".join(
        f"{name} {format_readable(f'{low:g}')} … {format_readable(f'{high:g}')} m"
        for name, (low, high) in zip(AXES, workspace.state.ranges, strict=False)
    )
    title = f"Views show {words}." if words else "Views show everything again."
    return ViewRanges(title=title, ranges=workspace.state.ranges)


def _read_axis_range(workspace: Workspace, name: str, tree: Tree) -> tuple[float, float]:
    ends = [workspace.evaluate_number(part) for part in meaning.list_items(tree)]
    if len(ends) != 2 or ends[0] == ends[1]:
        raise error_at(
            tree,
            f"'{meaning.format_for_message(tree)}' is not a range along {name}.",
            "Write {smallest, largest}, in m.",
        )
    return min(ends), max(ends)

"""Designs of a document, found by name and built as optimisation problems and as target curves in planes of the
world."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.design.design import Design
from core.design.linkage import XZ
from core.design.target_curves import Target, target
from core.errors import ModelError
from core.model import WORLD, Aim, Body, Joint, Model, Pose
from core.model.edits.edits import unused_name
from core.model.parameters import evaluate_finite_field
from core.numerics.spatial.rotation import fixed_axis_angles, from_angles, from_quaternion

Array = NDArray[np.float64]


SAME_PLACE = 1e-12
"""Tolerance, m and rotation entries, within which a plane counts as the plane x–z."""


def plane_frame_from_pose(X_WD: Array) -> Pose | None:
    """Return the frame whose x and z are the axes u, v of a plane with pose X_WD (4, 4), world ← u, v, normal, as in
    `core.design.linkage.Drawing`; None for the world's plane x–z."""
    rotation, position = np.asarray(X_WD, dtype=float)[:3, :3] @ XZ.basis.T, np.asarray(X_WD, dtype=float)[:3, 3]
    if np.allclose(rotation, np.eye(3), atol=SAME_PLACE) and np.allclose(position, 0.0, atol=SAME_PLACE):
        return None
    x, y, z = (round(float(each), 9) + 0.0 for each in position)
    a, b, c = (round(float(each), 9) + 0.0 for each in fixed_axis_angles(rotation))
    return Pose(position=(x, y, z), rotation=(a, b, c))


def plane_pose_from_frame(frame_pose: Pose | None, parameter_values: Mapping[str, float], where: str) -> Array:
    """Return the pose (4, 4), world ← u, v, normal, of a plane that the document stores as a frame. Raises ModelError
    that names the field."""
    X = np.eye(4)
    if frame_pose is not None:
        X[:3, 3] = [
            float(evaluate_finite_field(each, parameter_values, f"{where}, position")) for each in frame_pose.position
        ]
        turn = [
            float(evaluate_finite_field(each, parameter_values, f"{where}, rotation")) for each in frame_pose.rotation
        ]
        X[:3, :3] = (from_quaternion if len(turn) == 4 else from_angles)(turn)
    X[:3, :3] = X[:3, :3] @ XZ.basis
    return X


def place_ground_in_plane(model: Model, X_WD: Array) -> Model:
    """Return the model with all parts of the ground moved to a base whose x and z are the axes u, v of a plane X_WD (4,
    4)."""
    place = plane_frame_from_pose(X_WD)
    if place is None:
        return model
    name = unused_name(model, "bodies", "working_plane")
    joint = Joint(
        name=unused_name(model, "joints", "working_plane_place"), kind="fixed", parent=WORLD, child=name, a=place
    )
    joints = tuple(dataclasses.replace(each, parent=name) if each.parent == WORLD else each for each in model.joints)
    return dataclasses.replace(model, bodies=(Body(name=name), *model.bodies), joints=(joint, *joints))


def find_design_aim(model: Model, name: str) -> Aim:
    """Return the document's design of this name. Raises ModelError that suggests similar names, or says that the
    document has no designs."""
    if not model.designs:
        raise ModelError(
            f"There is no design '{name}': the document has no designs.",
            remedy="Save one in the Design panel, or add a ks.Aim.",
        )
    found: Aim = model.find("designs", name)
    return found


def asked_design(model: Model, name: str) -> Design:
    """Return the optimisation problem of a design in the document. Raises ModelError that names the field."""
    return design_from_aim(model, find_design_aim(model, name), f"design '{name}'")


def design_from_aim(model: Model, aim: Aim, where: str) -> Design:
    """Build the optimisation problem of a design for a machine; where : name of the design in messages. Raises
    ModelError that names the field."""
    values = model.values()
    if aim.kind == "curve":
        raise ModelError(
            "This design is a path synthesis, not an optimisation of the machine.",
            where=where,
            remedy=f"In a script use synthesise(asked_target(model, '{aim.name}')), in the shell `kinetostat optimise "
            f"FILE --design {aim.name}`.",
        )
    problem = Design(model)
    for row in aim.vary:
        place = f"{where}, vary, '{row.parameter}'"
        ends = [evaluate_finite_field(end, values, place) for end in (row.minimum, row.maximum) if end is not None]
        if ends:
            problem.vary(**{row.parameter: (float(ends[0]), float(ends[1]))})
        else:
            problem.vary(row.parameter)
    if aim.kind == "function":
        rows = _evaluate_rows(aim.function, ("x", "y"), values, f"{where}, function")
        problem.generate(aim.output, rows, aim.coordinate)
    elif aim.kind == "motion":
        rows = _evaluate_rows(aim.poses, ("x", "u", "v", "angle"), values, f"{where}, poses")
        problem.guide(aim.frame, rows, aim.coordinate, aim.plane)
    else:
        if aim.over == "sweep":
            problem.sweep(aim.coordinate)
        elif aim.over == "run":
            problem.run(float(evaluate_finite_field(aim.duration, values, f"{where}, duration")))
        problem.minimise(aim.minimise)
    return problem.require(*(row.formula for row in aim.require))


def _evaluate_rows(rows: Sequence[Any], fields: Sequence[str], values: Mapping[str, float], where: str) -> Array:
    """Evaluate the rows of a design as (n, fields) numbers, SI."""
    found = [
        [float(evaluate_finite_field(getattr(part, name), values, f"{where}, row {k}, {name}")) for name in fields]
        for k, part in enumerate(rows, 1)
    ]
    return np.array(found, dtype=float).reshape(-1, len(fields))


def asked_target(model: Model, name: str) -> Target:
    """Return the target curve of a path design in the document. Raises ModelError that names the field."""
    aim, values = find_design_aim(model, name), model.values()
    where = f"design '{name}', curve"
    points = [[float(evaluate_finite_field(each, values, where)) for each in (row.x, row.z)] for row in aim.curve]
    if not points:
        raise ModelError(
            "The target curve has no points.", where=where, remedy="Give at least three points, [x, z] in metres."
        )
    return target(np.array(points), closed=aim.closed, timed=aim.timed)


def find_target_plane(model: Model, name: str) -> Array:
    """Return the plane of a design's target curve as (4, 4) world ← u, v, normal. Raises ModelError."""
    return plane_pose_from_frame(find_design_aim(model, name).place, model.values(), f"design '{name}', place")

"""Groups of bodies fixed to each other. Published inertias of single links are often rounded and meaningful only as the
total of the group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.model.bodies import WORLD, Body
from core.model.formula.evaluation import FieldEvaluator
from core.model.joints import Joint
from core.model.model import Model
from core.model.shapes import Pose

Matrix = NDArray[np.float64]


def has_negative_group_moment(model: Model, body: Body, values: Mapping[str, float]) -> bool:
    """Return True if a body and all bodies fixed to it together have a negative principal moment; False if they are
    fixed to the ground or masses are computed from shapes."""
    try:
        places = _poses_of_fixed_bodies(model, body.name, FieldEvaluator(values))
        if WORLD in places:
            return False
        members = [(model.find("bodies", name), place) for name, place in places.items()]
        if any(each.density is not None for each, _ in members):
            return False
        return bool(np.linalg.eigvalsh(_combined_inertia(members, FieldEvaluator(values)))[0] < 0.0)
    except KinetostatError:
        return True


def _poses_of_fixed_bodies(model: Model, first: str, numbers: FieldEvaluator) -> dict[str, Matrix]:
    """Return the poses (4, 4), relative to a body or the ground, of all bodies fixed to it, including itself."""
    sides: dict[str, list[tuple[str, Any]]] = {}
    for joint in model.joints:
        if not joint.info.nv:
            parent, child = model.carrier(joint.parent).name, model.carrier(joint.child).name
            between = _relative_pose(model, joint, numbers)
            sides.setdefault(parent, []).append((child, between))
            sides.setdefault(child, []).append((parent, np.linalg.inv(between)))
    found, waiting = {first: np.eye(4)}, [first]
    while waiting:
        here = waiting.pop()
        for other, between in sides.get(here, ()):
            if other not in found:
                found[other] = found[here] @ between
                waiting.append(other)
    return found


def _relative_pose(model: Model, joint: Joint, numbers: FieldEvaluator) -> Matrix:
    """Return the pose (4, 4) of a fixed joint's child body in its parent body."""
    first, second = (
        _matrix_product(
            [*(_pose_matrix(frame.pose, numbers) for frame in model.placement(end).frames), _pose_matrix(side, numbers)]
        )
        for end, side in ((joint.parent, joint.a), (joint.child, joint.b))
    )
    return np.asarray(first @ np.linalg.inv(second))


def _matrix_product(matrices: list[Matrix]) -> Matrix:
    """Return the product of matrices, in their order."""
    result = np.eye(4)
    for matrix in matrices:
        result = result @ matrix
    return result


def _pose_matrix(pose: Pose, numbers: FieldEvaluator) -> Matrix:
    read, result = numbers.pose(pose), np.eye(4)
    result[:3, :3], result[:3, 3] = np.array(read.rotation, dtype=float), np.array(read.position, dtype=float)
    return result


def _combined_inertia(members: list[tuple[Body, Matrix]], numbers: FieldEvaluator) -> Matrix:
    """Return the inertia tensor (3, 3) of several bodies about their common centre of mass."""
    masses = np.array([float(numbers.scalar(body.mass)) for body, _ in members])
    centers = [place[:3, :3] @ np.array(numbers.vector(body.center_of_mass)) + place[:3, 3] for body, place in members]
    total = float(masses.sum())
    center = masses @ np.array(centers) / total if total else np.zeros(3)
    tensor = np.zeros((3, 3))
    for (body, place), mass, own in zip(members, masses, centers, strict=True):
        i = body.inertia
        xx, yy, zz, xy, xz, yz = (float(numbers.scalar(x)) for x in (i.ixx, i.iyy, i.izz, i.ixy, i.ixz, i.iyz))
        turn, away = place[:3, :3], own - center
        tensor += turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        tensor += mass * (math.fsum(away * away) * np.eye(3) - np.outer(away, away))
    return tensor

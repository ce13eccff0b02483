"""Springs and dampers of MJCF given by a time constant and a damping ratio.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-joint-springdamper
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model import Body

Array = NDArray[np.float64]


class Freedom(NamedTuple):
    """Motion axis of a joint in the world at the reference values of all joints: the moved body, a rotation axis
    through a point or a direction of translation, and the rotor inertia."""

    joint: str
    body: str
    axis: Array
    point: Array | None
    armature: float


def effective_inertia(
    freedoms: Sequence[Freedom],
    bodies: Sequence[Body],
    poses: Mapping[str, Array],
    parents: Mapping[str, str],
    wanted: Set[str],
) -> dict[str, float]:
    """Return the effective inertia of joints at the reference values: the number of degrees of freedom over the sum of
    their diagonal entries of M⁻¹. Joints without a finite one are left out.

    poses : world ← body; parents : body → the body that carries it; wanted : names of joints
    """
    trees: dict[str, list[Freedom]] = {}
    for freedom in freedoms:
        trees.setdefault(_root(freedom.body, parents), []).append(freedom)
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        if body.name in poses:
            carried.setdefault(_root(body.name, parents), []).append(body)
    found: dict[str, float] = {}
    for root, own in trees.items():
        if wanted & {freedom.joint for freedom in own}:
            found |= _inertia_in_tree(own, carried.get(root, []), poses, parents)
    return {joint: inertia for joint, inertia in found.items() if joint in wanted}


def _inertia_in_tree(
    freedoms: Sequence[Freedom], bodies: Sequence[Body], poses: Mapping[str, Array], parents: Mapping[str, str]
) -> dict[str, float]:
    """Return the effective inertia of each joint of one kinematic tree."""
    with np.errstate(over="ignore", invalid="ignore"):  # sizes of files may have any exponent
        M = _mass_matrix(freedoms, bodies, poses, parents)
    if not np.isfinite(M).all():
        return {}
    try:
        weights = np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return {}
    sums: dict[str, list[float]] = {}
    for freedom, weight in zip(freedoms, weights, strict=True):
        sums.setdefault(freedom.joint, []).append(float(weight))
    return {joint: len(each) / sum(each) for joint, each in sums.items() if 0.0 < sum(each) < math.inf}


def _mass_matrix(
    freedoms: Sequence[Freedom], bodies: Sequence[Body], poses: Mapping[str, Array], parents: Mapping[str, str]
) -> Array:
    """Return M (n, n) of the freedoms of a tree."""
    M = np.diag([freedom.armature for freedom in freedoms]).astype(float)
    axes = np.array([freedom.axis for freedom in freedoms], dtype=float)
    rotates = np.array([freedom.point is not None for freedom in freedoms])
    points = np.array([np.zeros(3) if freedom.point is None else freedom.point for freedom in freedoms])
    for body in bodies:
        I = body.inertia
        own = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]], dtype=float)
        if not (float(body.mass) or own.any()):
            continue
        X = poses[body.name]
        center = X[:3, :3] @ np.array(body.center_of_mass, dtype=float) + X[:3, 3]
        carriers = set(_carrying_bodies(body.name, parents))
        moving = np.flatnonzero([freedom.body in carriers for freedom in freedoms])
        turn = axes[moving] * rotates[moving, None]
        shift = np.where(rotates[moving, None], np.cross(axes[moving], center - points[moving]), axes[moving])
        tensor = X[:3, :3] @ own @ X[:3, :3].T
        M[np.ix_(moving, moving)] += turn @ tensor @ turn.T + float(body.mass) * shift @ shift.T
    return M


def _root(body: str, parents: Mapping[str, str]) -> str:
    """Return the first body of the tree in which a body is."""
    *_, root = _carrying_bodies(body, parents) if body in parents else (body,)
    return root


def _carrying_bodies(body: str, parents: Mapping[str, str]) -> Iterator[str]:
    while body in parents:
        yield body
        body = parents[body]

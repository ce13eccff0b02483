"""Springs and dampers of MJCF given by a time constant and a damping ratio.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-joint-springdamper
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    freedoms: Sequence[Freedom], bodies: Sequence[Body], poses: Mapping[str, Array], parents: Mapping[str, str]
) -> dict[str, float]:
    """Return the effective inertia of each joint at the reference values: the number of its degrees of freedom over the
    sum of their diagonal entries of M⁻¹.

    poses : world ← body; parents : body → the body that carries it
    """
    M = np.diag([freedom.armature for freedom in freedoms]).astype(float)
    for body in bodies:
        if not poses.keys() & {body.name}:
            continue
        X = poses[body.name]
        center = X[:3, :3] @ np.array(body.center_of_mass, dtype=float) + X[:3, 3]
        moved = set(_carrying_bodies(body.name, parents))
        columns = np.array([_twist(freedom, center) * (freedom.body in moved) for freedom in freedoms]).reshape(-1, 6)
        I = body.inertia
        own = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]], dtype=float)
        turning = X[:3, :3] @ own @ X[:3, :3].T
        M += columns[:, :3] @ turning @ columns[:, :3].T + float(body.mass) * columns[:, 3:] @ columns[:, 3:].T
    try:
        weights = np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return {}
    found: dict[str, list[float]] = {}
    for freedom, weight in zip(freedoms, weights, strict=True):
        found.setdefault(freedom.joint, []).append(float(weight))
    return {joint: len(each) / sum(each) for joint, each in found.items()}


def _carrying_bodies(body: str, parents: Mapping[str, str]) -> Iterator[str]:
    while body in parents:
        yield body
        body = parents[body]


def _twist(freedom: Freedom, center: Array) -> Array:
    """Return the twist (6,) [ω; v] of a point that moves with a degree of freedom."""
    if freedom.point is None:
        return np.concatenate([np.zeros(3), freedom.axis])
    return np.concatenate([freedom.axis, np.cross(freedom.axis, center - freedom.point)])

"""A linkage that was found in the plane x–z, set into another plane of the world."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from core.model import WORLD, Body, Joint, Model, Pose
from core.model.edits.edits import unused_name
from core.spatial.rotation import angles_of

Array = NDArray[np.float64]

SAME_PLACE = 1e-12
"""m and entries of a rotation up to which a plane is x–z itself."""


def placed(model: Model, X_WD: Array) -> Model:
    """The model with all that stands on the ground on a base whose x and z are the axes u, v of a plane: X_WD (4, 4),
    world ← u, v, normal, as `core.linkage.Drawing` has it."""
    u, v, normal = np.asarray(X_WD, dtype=float)[:3, :3].T
    rotation, position = np.column_stack([u, -normal, v]), np.asarray(X_WD, dtype=float)[:3, 3]
    if np.allclose(rotation, np.eye(3), atol=SAME_PLACE) and np.allclose(position, 0.0, atol=SAME_PLACE):
        return model
    x, y, z = (round(float(each), 9) + 0.0 for each in position)
    a, b, c = (round(float(each), 9) + 0.0 for each in angles_of(rotation))
    name = unused_name(model, "bodies", "working_plane")
    joint = Joint(
        name=unused_name(model, "joints", "working_plane_place"), kind="fixed", parent=WORLD, child=name,
        a=Pose(position=(x, y, z), rotation=(a, b, c)),
    )  # fmt: skip
    joints = tuple(dataclasses.replace(each, parent=name) if each.parent == WORLD else each for each in model.joints)
    return dataclasses.replace(model, bodies=(Body(name=name), *model.bodies), joints=(joint, *joints))

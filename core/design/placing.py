"""Plane of a target curve in the world, and placement of a linkage, found in the plane x–z, in another plane."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.design.linkage import XZ
from core.model import WORLD, Body, Joint, Model, Pose
from core.model.edits.edits import unused_name
from core.model.parameters import finite_value_of
from core.numerics.spatial.rotation import angles_of, from_angles, from_quaternion

Array = NDArray[np.float64]

SAME_PLACE = 1e-12
"""Tolerance, m and rotation entries, within which a plane counts as the plane x–z."""


def place_of(X_WD: Array) -> Pose | None:
    """Return the frame whose x and z are the axes u, v of a plane: X_WD (4, 4), world ← u, v, normal, as in
    `core.design.linkage.Drawing`. None for the plane x–z of the world."""
    rotation, position = np.asarray(X_WD, dtype=float)[:3, :3] @ XZ.basis.T, np.asarray(X_WD, dtype=float)[:3, 3]
    if np.allclose(rotation, np.eye(3), atol=SAME_PLACE) and np.allclose(position, 0.0, atol=SAME_PLACE):
        return None
    x, y, z = (round(float(each), 9) + 0.0 for each in position)
    a, b, c = (round(float(each), 9) + 0.0 for each in angles_of(rotation))
    return Pose(position=(x, y, z), rotation=(a, b, c))


def plane_of(place: Pose | None, values: Mapping[str, float], where: str) -> Array:
    """Return (4, 4) world ← u, v, normal of a plane stored by `place_of`. Raises ModelError naming the field."""
    X = np.eye(4)
    if place is not None:
        X[:3, 3] = [float(finite_value_of(each, values, f"{where}, position")) for each in place.position]
        turn = [float(finite_value_of(each, values, f"{where}, rotation")) for each in place.rotation]
        X[:3, :3] = (from_quaternion if len(turn) == 4 else from_angles)(turn)
    X[:3, :3] = X[:3, :3] @ XZ.basis
    return X


def placed(model: Model, X_WD: Array) -> Model:
    """Return the model with all parts of the ground moved to a base whose x and z are the axes u, v of a plane X_WD (4,
    4)."""
    place = place_of(X_WD)
    if place is None:
        return model
    name = unused_name(model, "bodies", "working_plane")
    joint = Joint(
        name=unused_name(model, "joints", "working_plane_place"), kind="fixed", parent=WORLD, child=name, a=place
    )
    joints = tuple(dataclasses.replace(each, parent=name) if each.parent == WORLD else each for each in model.joints)
    return dataclasses.replace(model, bodies=(Body(name=name), *model.bodies), joints=(joint, *joints))

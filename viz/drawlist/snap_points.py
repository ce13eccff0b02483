"""Landmarks of a shape for the pointer to snap to: its centre, its ends, the centres of its faces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.model import Body, Shape
from viz.placement import Array, number, pose_matrix


def snap_points(body: Body, values: Mapping[str, float]) -> Array:
    """Return the snap points (n, 3) of all visible shapes in the body's frame, m; meshes have none."""
    seen = (shape for shape in body.shapes if shape.role != "collision")
    rows = [_in_body(shape, values) for shape in seen]
    return np.concatenate(rows) if rows else np.zeros((0, 3))


def _in_body(shape: Shape, values: Mapping[str, float]) -> Array:
    X = pose_matrix(shape.pose, values)
    local = np.array(shape.snap_points(lambda value: number(value, values))).reshape(-1, 3)
    return np.asarray(local @ X[:3, :3].T + X[:3, 3])

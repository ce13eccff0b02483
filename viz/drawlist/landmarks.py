"""Points of a shape that a person means when pointing near them: its middle, its ends, the middles of its faces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.model import Body
from core.model import shapes as s
from viz.placement import Array, number, numbers, pose_matrix


def landmarks(body: Body, values: Mapping[str, float]) -> Array:
    """(n, 3) in the body, m: of all its shapes that are seen; meshes have none."""
    seen = (shape for shape in body.shapes if shape.role != "collision")
    rows = [_in_body(shape, values) for shape in seen]
    return np.concatenate(rows) if rows else np.zeros((0, 3))


def _in_body(shape: s.Shape, values: Mapping[str, float]) -> Array:
    X = pose_matrix(shape.pose, values)
    local = _own(shape, values)
    return np.asarray(local @ X[:3, :3].T + X[:3, 3])


def _own(shape: s.Shape, values: Mapping[str, float]) -> Array:
    """In the axes of the shape."""
    match shape:
        case s.Box():
            half = numbers(shape.size, values) / 2.0
            return np.vstack([np.zeros(3), np.diag(half), np.diag(-half)])
        case s.Sphere():
            return np.zeros((1, 3))
        case s.Gearwheel():
            ends = number(shape.width, values) / 2.0
        case s.Cylinder() | s.Capsule() | s.Cone() | s.Pipe() | s.Beam() | s.Coil():
            ends = number(shape.length, values) / 2.0
        case s.Arrow():
            return np.array([[0.0, 0.0, 0.0], [0.0, 0.0, number(shape.length, values)]])
        case _:
            return np.zeros((0, 3))
    return np.array([[0.0, 0.0, 0.0], [0.0, 0.0, ends], [0.0, 0.0, -ends]])

"""Poses and boxes as plain values. A pose is a tuple of sixteen numbers, row by row, so that draw lists can be compared
by value. An axis-aligned box is an array (6,), (xmin, xmax, ymin, ymax, zmin, zmax) in m, as in VTK.

Also the one place where poses of the document become matrices for the scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.model.fields import Value
from core.model.parameters import evaluate_field
from core.model.shapes import Pose
from core.numerics.spatial.rotation import from_angles, from_quaternion

Array = NDArray[np.float64]
Placement = tuple[float, ...]
"""4×4 transform local → surroundings as a tuple, row by row."""

IDENTITY: Placement = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def to_placement(matrix: ArrayLike) -> Placement:
    """Convert a 4×4 matrix to a value, rounded to 1e-12 so that equal poses compare equal."""
    return tuple((np.round(np.asarray(matrix, dtype=float), 12) + 0.0).ravel().tolist())


def to_matrix(value: Placement) -> Array:
    """Convert a placement to a matrix (4, 4)."""
    return np.array(value).reshape(4, 4)


def number(value: Value | None, values: Mapping[str, float]) -> float:
    """Evaluate a field (SI) for given parameter values; None counts as 0."""
    return 0.0 if value is None else float(evaluate_field(value, values))


def evaluate_vector(vector: Sequence[Value], values: Mapping[str, float]) -> Array:
    """Evaluate a vector field (n,) for given parameter values."""
    return np.array([number(item, values) for item in vector], dtype=float)


def pose_matrix(pose: Pose, values: Mapping[str, float]) -> Array:
    """Convert a pose of the document to a matrix (4, 4); a zero quaternion counts as no rotation."""
    position = tuple(number(item, values) for item in pose.position)
    rotation = tuple(number(item, values) for item in pose.rotation)
    return _pose(position, rotation).copy()


@lru_cache(maxsize=4096)
def _pose(position: tuple[float, ...], rotation: tuple[float, ...]) -> Array:
    result = np.eye(4)
    if len(rotation) == 4:
        if any(rotation):
            result[:3, :3] = from_quaternion(rotation)
    elif any(rotation):
        result[:3, :3] = from_angles(rotation)
    result[:3, 3] = position
    return result


def unit_vector(direction: ArrayLike) -> Array:
    """Return the direction (3,) with length one; z for a zero vector."""
    vector = np.asarray(direction, dtype=float)
    largest = float(np.abs(vector).max())
    if not 1e-12 < largest < np.inf:
        return np.array([0.0, 0.0, 1.0])
    scaled = vector / largest  # squares of very large numbers are none
    return np.asarray(scaled / np.linalg.norm(scaled))


def perpendicular_unit_vector(direction: ArrayLike) -> Array:
    """Return a unit vector (3,) perpendicular to a direction: the projection of x if possible, otherwise of y."""
    z = unit_vector(direction)
    seed = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    return unit_vector(seed - z * float(seed @ z))


def frame_along(direction: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return a frame (4, 4) at `origin` with its z axis along `direction` and x as in `perpendicular_unit_vector`."""
    z = unit_vector(direction)
    x = perpendicular_unit_vector(z)
    (a, b, c), (d, e, f) = z.tolist(), x.tolist()
    y = b * f - c * e, c * d - a * f, a * e - b * d  # z × x, which np.cross takes long for
    result = np.eye(4)
    result[:3, 0], result[:3, 1], result[:3, 2], result[:3, 3] = x, y, z, origin
    return result


def translation(*offset: float) -> Array:
    """Return a translation (4, 4)."""
    result = np.eye(4)
    result[:3, 3] = offset
    return result


def inverse_pose(pose: Array) -> Array:
    """Return the inverse (4, 4) of a rigid pose."""
    result = np.eye(4)
    result[:3, :3] = pose[:3, :3].T
    result[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return result


def enclosing_box(boxes: ArrayLike) -> Array:
    """Return the bounding box (6,) of boxes (n, 6)."""
    table = np.asarray(boxes, dtype=float)
    return np.column_stack([table[:, 0::2].min(axis=0), table[:, 1::2].max(axis=0)]).ravel()


def box_of_points(points: ArrayLike) -> Array:
    """Return the bounding box (6,) of points (n, 3)."""
    table = np.asarray(points, dtype=float)
    return np.column_stack([table.min(axis=0), table.max(axis=0)]).ravel()


def box_corners(box: ArrayLike) -> Array:
    """Return the corners (8, 3) of a box; bit k of the index selects the lower or upper end along axis k."""
    ends = np.asarray(box, dtype=float).reshape(3, 2)
    return np.array([[ends[k, (i >> k) & 1] for k in range(3)] for i in range(8)])


def longest_edge(box: ArrayLike) -> float:
    """Return the longest edge of a box, m; 1 for an empty box."""
    return float(np.max(np.ptp(np.asarray(box, dtype=float).reshape(3, 2), axis=1))) or 1.0

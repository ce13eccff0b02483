"""Targets of inverse kinematics as they may be given: matrices, positions, poses, position with rotation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.numerics.spatial.pose import Pose

Array = NDArray[np.float64]

ORTHONORMAL_TOLERANCE = 1e-6
"""Deviation of RᵀR from 1, and of det R from 1, above which a matrix is refused as a rotation."""
WHERE = "target"


def read_target(target: Any, *, is_array_checked: bool = True) -> Array:
    """(3,) position, (4, 4) pose or (N, 4, 4) poses of a target as given.

    target : an array of one of these shapes, a `Pose`, or {"position": (3,)} with, if wanted, "rotation" (roll, pitch,
    yaw about fixed axes, rad) or "quaternion" (x, y, z, w). Raises ModelError for other shapes, for numbers that are
    not finite, and for matrices that are no poses. is_array_checked : False to leave poses of arrays to `check_poses`
    """
    is_pose_array = isinstance(target, np.ndarray) and target.dtype == float and target.shape[1:] == (4, 4)
    if is_pose_array and not is_array_checked:
        return target
    if isinstance(target, Mapping):
        return _read_mapping(target)
    if isinstance(target, Pose):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = np.array(target.rotation, dtype=float), np.array(target.position, dtype=float)
        return check_poses(X)
    array = _read_numbers(target)
    if array.shape == (3,):
        return array
    if array.shape == (4, 4) or (array.ndim == 3 and array.shape[1:] == (4, 4)):
        return check_poses(array) if is_array_checked or array.ndim < 3 else array
    raise ModelError(
        f"The target has shape {array.shape}.",
        where=WHERE,
        remedy="Give a position (3,), a pose (4, 4), or poses (N, 4, 4).",
    )


def _read_numbers(numbers: Any) -> Array:
    try:
        array = np.asarray(numbers, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("The target does not consist of numbers.", where=WHERE) from None
    if not np.isfinite(array).all():
        raise ModelError("The target contains numbers that are not finite (nan or inf).", where=WHERE)
    return array


def check_poses(X: Array) -> Array:
    """Return poses (…, 4, 4) with exactly orthonormal rotations. Raises ModelError for matrices that are no poses."""
    _read_numbers(X)
    R = X[..., :3, :3]
    deviation = max(
        float(np.max(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)), initial=0.0)),
        float(np.max(np.abs(np.linalg.det(R) - 1.0), initial=0.0)),
    )
    if deviation > ORTHONORMAL_TOLERANCE:
        raise ModelError(
            f"The target's rotation is not orthonormal and right-handed: it deviates by {deviation:.3g}.",
            where=WHERE,
            remedy="Give a rotation matrix, or a quaternion.",
        )
    if np.max(np.abs(X[..., 3, :] - (0.0, 0.0, 0.0, 1.0)), initial=0.0) > ORTHONORMAL_TOLERANCE:
        raise ModelError("The last row of the target's matrix is not 0 0 0 1.", where=WHERE)
    result = X.copy()
    for _ in range(2):  # Newton's iteration of the polar decomposition
        R = result[..., :3, :3]
        result[..., :3, :3] = 1.5 * R - 0.5 * R @ (np.swapaxes(R, -1, -2) @ R)
    result[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
    return result


def _read_mapping(given: Mapping[str, Any]) -> Array:
    from scipy.spatial.transform import Rotation

    unknown = set(given) - {"position", "rotation", "quaternion"}
    if unknown or "position" not in given or {"rotation", "quaternion"} <= set(given):
        raise ModelError(
            f"The target has the entries {', '.join(map(str, given)) or 'none'}.",
            where=WHERE,
            remedy="Give position, and rotation or quaternion.",
        )
    position = _read_numbers(given["position"])
    turned = next((name for name in ("rotation", "quaternion") if name in given), None)
    count = {"rotation": 3, "quaternion": 4}.get(turned or "", 0)
    numbers = _read_numbers(given[turned]) if turned else np.zeros(0)
    if position.shape != (3,) or numbers.shape != (count,):
        raise ModelError(
            "A position has three numbers, a rotation three (roll, pitch, yaw), a quaternion four (x, y, z, w).",
            where=WHERE,
        )
    if turned is None:
        return position
    X = np.eye(4)
    X[:3, 3] = position
    if turned == "quaternion" and not np.any(numbers):
        raise ModelError("The target's quaternion is zero.", where=WHERE)
    rotation = Rotation.from_euler("xyz", numbers) if turned == "rotation" else Rotation.from_quat(numbers)
    X[:3, :3] = rotation.as_matrix()
    return X

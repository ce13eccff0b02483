"""Short notation for elements and vectors: lists and arrays whose sizes determine what they mean."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError

Rows = tuple[tuple[Any, ...], ...]

ORTHOGONALITY_TOLERANCE = 1e-6
"""Largest entry of RᵀR − 1 for which nine numbers are accepted as a rotation."""

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def plain_value(value: Any) -> Any:
    """Return Python values for NumPy numbers and booleans, and a one-dimensional array for a single row or column;
    other values unchanged."""
    dimensions = getattr(value, "ndim", None)
    if dimensions == 0 and hasattr(value, "item"):
        return value.item()
    if dimensions == 2 and 1 in value.shape:
        return value.ravel()
    return value


def is_list(value: Any) -> bool:
    """Return True for a list, tuple or array; False for strings and elements."""
    if isinstance(value, str | dict | float | int):
        return False
    return isinstance(value, tuple | list) or hasattr(plain_value(value), "__iter__")


def rows_of_square_matrix(items: tuple[Any, ...], size: int) -> Rows | None:
    """Return the rows of a square matrix; None if the items do not form one."""
    if len(items) != size or not all(map(is_list, items)):
        return None
    rows = tuple(map(tuple, items))
    return rows if all(len(row) == size for row in rows) else None


def are_plain_numbers(items: tuple[Any, ...]) -> bool:
    """Return True if no item is a list."""
    return not any(map(is_list, items))


def axis_from_name(value: Any) -> Any:
    """Return the direction named by "x", "-z" …; other values unchanged."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    direction = _AXES.get(word.lstrip("+-"))
    if direction is None or len(word) > 2:
        raise ModelError(f"'{value[:40]}' is not an axis.", remedy="Write x, y, z, -x, -y, -z, or three numbers.")
    return tuple(-entry + 0.0 for entry in direction) if word[0] == "-" else direction


def angles_from_matrix(value: Any) -> Any:
    """Return the angles about the fixed axes x, y, z of a 3×3 rotation matrix; other values unchanged."""
    rows = rows_of_square_matrix(tuple(value), 3) if is_list(value) else None
    if rows is None:
        return value
    import numpy as np  # whoever has matrices has loaded it

    from core.numerics.spatial.rotation import fixed_axis_angles

    try:
        R = np.array(rows, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("A rotation matrix cannot contain formulas.", remedy="Give angles instead.") from None
    if not abs(R.T @ R - np.eye(3)).max() < ORTHOGONALITY_TOLERANCE or np.linalg.det(R) < 0.0:
        raise ModelError(
            "These nine numbers are not a rotation: the rows must be perpendicular unit vectors, right-handed.",
            remedy="Give a rotation matrix, three angles about x, y, z, or a quaternion x, y, z, w.",
        )
    return tuple(float(angle) + 0.0 for angle in fixed_axis_angles(R))

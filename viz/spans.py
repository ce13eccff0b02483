"""Where items stand that lie between two frames: stretched, at a share of the line, or on a perpendicular."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from viz.item import Item
from viz.placement import Array, along, matrix

SHORT = 1e-9
"""A line shorter than this in m has no direction."""


def pose_of(item: Item, poses: Mapping[str, ArrayLike]) -> Array:
    """(4, 4) world ← item; frames without a pose stay at the world's origin."""
    identity = np.eye(4)
    place = matrix(item.placement)
    start = np.asarray(poses.get(item.frame, identity), dtype=float) @ place
    if item.axes is not None:
        start[:3, :3] = np.asarray(poses.get(item.axes, identity), dtype=float)[:3, :3] @ place[:3, :3]
    return start if item.until is None else _on_line(item, start, poses)


def line_of(item: Item, poses: Mapping[str, ArrayLike]) -> tuple[Array, Array]:
    """The two ends (3,) in the world of the line an item lies on."""
    assert item.until is not None
    identity = np.eye(4)
    start = np.asarray(poses.get(item.frame, identity), dtype=float) @ matrix(item.placement)
    end = (np.asarray(poses.get(item.until.frame, identity), dtype=float) @ matrix(item.until.placement))[:3, 3]
    if item.until.normal:
        n = start[:3, 2]
        return end - n * float(n @ (end - start[:3, 3])), end
    return start[:3, 3], end


def _on_line(item: Item, start: Array, poses: Mapping[str, ArrayLike]) -> Array:
    """The pose with z along the line (or against it, whichever is nearer to the item's own z when stretched); x stays
    as near as it can to the item's own, so that square rods do not twist."""
    assert item.until is not None
    begin, end = line_of(item, poses)
    way = end - begin
    length = float(np.linalg.norm(way))
    at = item.until.at
    if length < SHORT:
        result = start.copy()
        result[:3, 3] = begin
        return result @ np.diag([1.0, 1.0, 1e-6 if at is None else 1.0, 1.0])
    backward = at is None and item.role == "joint" and float(way @ start[:3, 2]) < 0.0
    result = along(-way if backward else way)
    side = start[:3, 0] - result[:3, 2] * float(start[:3, 0] @ result[:3, 2])
    if float(np.linalg.norm(side)) > 1e-6:
        result[:3, 0] = side / np.linalg.norm(side)
        result[:3, 1] = np.cross(result[:3, 2], result[:3, 0])
    if at is None:
        result[:3, 2] *= length
        result[:3, 3] = begin + way / 2.0
    else:
        share, distance = at
        result[:3, 3] = begin + way * (share + distance / length)
    return result

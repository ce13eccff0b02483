"""Sketch of a joint by a few lines: its axis, rings for rotation, arrowheads for sliding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.viewport.annotations import Line, line
from core.joints import JOINT_KINDS
from viz.placement import perpendicular

Array = NDArray[np.float64]

RING = 0.42
"""Radius of a ring relative to half the axis length."""
HEAD = 0.16
"""Size of an arrowhead relative to half the axis length."""
PIECES = 24


def joint_lines(kind: str, place: Array, axis: Array, half: float, word: str = "") -> tuple[Line, ...]:
    """Return the lines that sketch a joint of a kind ("": not yet known) at a position (3,) m with an axis (3,) of half
    length `half` (m), labelled with a word."""
    u = perpendicular(axis)
    v = np.cross(axis, u)
    found = [line(place - half * axis, place + half * axis, word)]
    for center, path in _sketch_paths(kind, axis, u, v):
        found += [line(place + half * (center + a), place + half * (center + b)) for a, b in pairwise(path)]
    return tuple(found)


def _sketch_paths(kind: str, axis: Array, u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """Yield centres (3,) and paths (n, 3) about them, in units of half the axis length."""
    middle = np.zeros(3)
    if not kind:
        return
    forbidden = JOINT_KINDS[kind].forbidden
    turns = "none" if forbidden is None else forbidden.rotations
    slides = "none" if forbidden is None else forbidden.translations
    if turns == "all" and slides == "all":
        yield middle, RING * np.array([u + v, v - u, -u - v, u - v, u + v])
    if turns != "all":
        yield middle, _circle(u, v)
    if turns in ("none", "along"):
        yield middle, _circle(axis, u)
    if turns == "none":
        yield middle, _circle(v, axis)
    if slides in ("none", "across"):
        for sense in (1.0, -1.0):
            yield sense * axis, HEAD * np.array([u - sense * axis, np.zeros(3), -u - sense * axis])


def _circle(u: Array, v: Array) -> Array:
    """Return a circle (n, 3) in the plane of u and v."""
    turn = np.linspace(0.0, 2.0 * np.pi, PIECES + 1)[:, None]
    return RING * (np.cos(turn) * u + np.sin(turn) * v)

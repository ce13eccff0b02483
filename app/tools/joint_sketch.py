"""A joint as a few lines at a place: its axis, rings for what turns, arrowheads for what slides."""

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
"""Radius of a ring in halves of the axis."""
HEAD = 0.16
"""Size of an arrowhead, likewise."""
PIECES = 24


def joint_lines(kind: str, place: Array, axis: Array, half: float, word: str = "") -> tuple[Line, ...]:
    """The lines of a joint of a kind ("": not known yet) at a place (3,) m with an axis (3,), `half` of which is so
    long (m); the word stands beside it."""
    u = perpendicular(axis)
    v = np.cross(axis, u)
    found = [line(place - half * axis, place + half * axis, word)]
    for center, path in _paths(kind, axis, u, v):
        found += [line(place + half * (center + a), place + half * (center + b)) for a, b in pairwise(path)]
    return tuple(found)


def _paths(kind: str, axis: Array, u: Array, v: Array) -> Iterator[tuple[Array, Array]]:
    """Centres (3,) and paths (n, 3) about them, in halves of the axis."""
    middle = np.zeros(3)
    if not kind:
        return
    forbidden = JOINT_KINDS[kind].forbidden
    turns = "none" if forbidden is None else forbidden.rotations
    slides = "none" if forbidden is None else forbidden.translations
    if turns == "all" and slides == "all":
        yield middle, RING * np.array([u + v, v - u, -u - v, u - v, u + v])
    if turns != "all":
        yield middle, _ring(u, v)
    if turns in ("none", "along"):
        yield middle, _ring(axis, u)
    if turns == "none":
        yield middle, _ring(v, axis)
    if slides in ("none", "across"):
        for sense in (1.0, -1.0):
            yield sense * axis, HEAD * np.array([u - sense * axis, np.zeros(3), -u - sense * axis])


def _ring(u: Array, v: Array) -> Array:
    """(n, 3) a circle in a plane."""
    turn = np.linspace(0.0, 2.0 * np.pi, PIECES + 1)[:, None]
    return RING * (np.cos(turn) * u + np.sin(turn) * v)

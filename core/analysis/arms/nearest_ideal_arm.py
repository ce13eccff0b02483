"""Nearest arm with a closed form to one that misses it by little, as calibrated arms do.

Axes that are almost parallel are made parallel, the last axes that almost meet are made to meet. The branches of the
ideal arm are starting points for Newton's method on the real one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import find_family
from core.analysis.arms.screw_chain import ScrewChain

Array = NDArray[np.float64]

NEARLY_PARALLEL = 0.02
"""Sine of the angle between two axes below which they are nearly parallel."""
NEARLY_MEETING = 0.02
"""Gap between axes, by the arm's size, below which they nearly meet."""


class IdealArm(NamedTuple):
    """An ideal chain and its family, with the largest change of an axis: in direction (rad) and place (m)."""

    chain: ScrewChain
    family: str
    angle: float
    gap: float


def find_nearest_ideal_arm(chain: ScrewChain) -> IdealArm | None:
    """Nearest arm of a family; None if none is near."""
    straight = chain._replace(direction=_parallel_directions(chain.direction))
    for first in (3, 4):
        if len(chain.kinds) != 6 or chain.kinds[first:] != "R" * (6 - first):
            continue
        ideal = _with_meeting_axes(straight, first)
        family = None if ideal is None else find_family(ideal)
        if ideal is not None and family is not None:
            turned = np.linalg.norm(np.cross(chain.direction, ideal.direction), axis=1)
            moved = np.linalg.norm(np.cross(ideal.direction, ideal.point - chain.point), axis=1)
            return IdealArm(ideal, family, float(turned.max()), float(moved.max()))
    return None


def _parallel_directions(directions: Array) -> Array:
    """Directions (n, 3), those of nearly parallel neighbours made parallel to the first of them."""
    result = directions.copy()
    for k in range(1, len(result)):
        if np.linalg.norm(np.cross(result[k - 1], result[k])) < NEARLY_PARALLEL:
            result[k] = result[k - 1] * np.sign(float(result[k - 1] @ result[k]))
    return result


def _with_meeting_axes(chain: ScrewChain, first: int) -> ScrewChain | None:
    """Chain with the axes from `first` on through one point, the least-squares nearest to them; None if one is far."""
    directions, points = chain.direction[first:], chain.point[first:]
    across = np.eye(3) - directions[:, :, None] * directions[:, None, :]
    total = across.sum(axis=0)
    if np.linalg.cond(total) > 1.0 / NEARLY_PARALLEL:
        return None
    centre = np.linalg.solve(total, np.einsum("kij,kj->i", across, points))
    away = np.linalg.norm(np.cross(directions, points - centre), axis=1)
    if float(away.max()) > NEARLY_MEETING * chain.size:
        return None
    moved = chain.point.copy()
    moved[first:] = centre
    return chain._replace(point=moved)

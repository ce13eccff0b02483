"""The ways of points: every movement of the scene adds to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from viz.placement import Array

LONGEST = 4000
"""Points a way keeps; then its older half loses every other one."""


class Tracks:
    """Where the origins of chosen frames have been."""

    def __init__(self) -> None:
        self._ways: dict[str, list[Array]] = {}

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that are followed."""
        return tuple(self._ways)

    @property
    def ways(self) -> dict[str, Array]:
        """(n, 3) places of each frame, m."""
        return {name: np.array(way).reshape(-1, 3) for name, way in self._ways.items()}

    def follow(self, *frames: str) -> None:
        """Follow these frames and no others; ways of frames followed before stay."""
        self._ways = {name: self._ways.get(name, []) for name in frames}

    def forget(self) -> None:
        """Begin all ways anew."""
        self._ways = {name: [] for name in self._ways}

    def record(self, poses: Mapping[str, ArrayLike], step: float) -> bool:
        """Add the present places where they are at least `step` (m) from the last; True if one was added."""
        added = False
        for name, way in self._ways.items():
            if name not in poses:
                continue
            place = np.asarray(poses[name], dtype=float)[:3, 3]
            if not way or float(np.linalg.norm(place - way[-1])) >= step:
                way.append(place.copy())
                added = True
            if len(way) > LONGEST:
                way[: LONGEST // 2] = way[: LONGEST // 2 : 2]
        return added

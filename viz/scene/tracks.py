"""Recorded paths of points, extended at every movement of the scene."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from viz.placement import Array

LONGEST = 4000
"""Largest number of points of a path; beyond that, every other point of its older half is dropped."""


Point = tuple[float, float, float]
Followed = tuple[str, Point]
"""Followed point: a frame, and a point (m) in its axes."""
ORIGIN: Point = (0.0, 0.0, 0.0)


class Tracks:
    """Recorded paths of the origins of chosen frames, and of points on them."""

    def __init__(self) -> None:
        self._trajectories: dict[Followed, list[Array]] = {}
        self.paused = False
        """While True nothing is recorded, and no way is shown."""

    @property
    def frames(self) -> tuple[str, ...]:
        """Followed frames."""
        return tuple(dict.fromkeys(frame for frame, _ in self._trajectories))

    @property
    def points(self) -> tuple[Followed, ...]:
        """Followed points, with their frames."""
        return tuple(self._trajectories)

    @property
    def trajectories(self) -> dict[str, Array]:
        """Return the positions (n, 3) of each point, m; keyed by the frame's name for its origin. None while paused."""
        if self.paused:
            return {}
        return {
            frame if point == ORIGIN else f"{frame} {point}": np.array(trajectory).reshape(-1, 3)
            for (frame, point), trajectory in self._trajectories.items()
        }

    def follow(self, *frames: str) -> None:
        """Follow the origins of these frames, and points chosen before on them; known paths remain."""
        kept = [key for key in self._trajectories if key[1] != ORIGIN and key[0] in frames]
        own = [
            (name, ORIGIN)
            for name in frames
            if (name, ORIGIN) in self._trajectories or all(key[0] != name for key in kept)
        ]
        self._trajectories = {key: self._trajectories.get(key, []) for key in (*own, *kept)}

    def follow_point(self, frame: str, point: Point) -> None:
        """Also follow a point (m) in the axes of a frame."""
        self._trajectories.setdefault((frame, point), [])

    def forget(self) -> None:
        """Clear all paths."""
        self._trajectories = {key: [] for key in self._trajectories}

    def record(self, poses: Mapping[str, ArrayLike], step: float) -> bool:
        """Append the present positions if they moved by at least `step` (m); return True if one was added."""
        added = False
        if self.paused:
            return added
        for (frame, point), trajectory in self._trajectories.items():
            if frame not in poses:
                continue
            pose = np.asarray(poses[frame], dtype=float)
            place = pose[:3, 3] + pose[:3, :3] @ np.asarray(point)
            if not trajectory or float(np.linalg.norm(place - trajectory[-1])) >= step:
                trajectory.append(place.copy())
                added = True
            if len(trajectory) > LONGEST:
                trajectory[: LONGEST // 2] = trajectory[: LONGEST // 2 : 2]
        return added

"""What a machine shall do while one coordinate runs: a function y(x) of its coordinates (function generation), or poses
of a body (motion generation), as residuals of a sum of squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.design.objective import Motion
from core.design.swept import PLANES
from core.errors import ModelError

Array = NDArray[np.float64]


class Generation(Protocol):
    """Residuals of poses along a coordinate."""

    @property
    def driven(self) -> str:
        """The coordinate that runs."""
        ...

    @property
    def along(self) -> Array:
        """(n,) its values, rad or m."""
        ...

    def residuals(self, motion: Motion) -> Array:
        """(r,) of the poses, in the mean of their squares."""
        ...


@dataclass(frozen=True, eq=False)
class FunctionGeneration:
    """An output, any channel of poses, that is `wanted` (n,) where the coordinate has the values of `along` (n,)."""

    driven: str
    along: Array
    output: str
    wanted: Array

    def residuals(self, motion: Motion) -> Array:
        """(n,) in the output's unit."""
        found = np.asarray(motion.run[self.output], dtype=float)
        return (found - self.wanted) / np.sqrt(len(self.along))


@dataclass(frozen=True, eq=False)
class MotionGeneration:
    """A frame that stands at places (n, 2), m, turned by angles (n,) in a plane where the coordinate has those of
    `along` (n,); length : m that a rad counts."""

    driven: str
    along: Array
    frame: str
    places: Array
    angles: Array
    plane: str
    length: float

    def residuals(self, motion: Motion) -> Array:
        """(4 n,) m: of places, and of the direction of the frame's first axis in the plane."""
        mech, u_v = motion.run.mech, list(PLANES[self.plane])
        X = np.asarray(mech.frame(motion.run.q, self.frame, p=dict(motion.p)), dtype=float)
        off = X[:, u_v, 3] - self.places
        wanted = np.column_stack([np.cos(self.angles), np.sin(self.angles)])
        turned = self.length * (X[:, u_v, u_v[0]] - wanted)
        return np.concatenate([off.ravel(), turned.ravel()]) / np.sqrt(len(self.along))


def function_generation(driven: str, output: str, points: ArrayLike) -> FunctionGeneration:
    """Of points (n, 2): value of the coordinate, value of the output. Raises ModelError."""
    rows = _rows(points, 2, "a value of the coordinate and one of the output")
    return FunctionGeneration(driven, rows[:, 0], output, rows[:, 1])


def motion_generation(driven: str, frame: str, poses: ArrayLike, plane: str, length: float | None) -> MotionGeneration:
    """Of poses (n, 4): value of the coordinate, place along both axes of the plane, angle. Raises ModelError."""
    if plane not in PLANES:
        raise ModelError(f"'{plane}' is no plane.", where="guide", remedy="Take xy, xz or yz.")
    rows = _rows(poses, 4, "a value of the coordinate, two of the place, an angle")
    places = rows[:, 1:3]
    size = float(np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1))))
    return MotionGeneration(driven, rows[:, 0], frame, places, rows[:, 3], plane, length or size or 1.0)


def _rows(given: ArrayLike, width: int, words: str) -> Array:
    rows = np.array(given, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) < 2 or not np.isfinite(rows).all():
        raise ModelError(
            f"These are no rows of {width} finite numbers.", where="design", remedy=f"Give at least two rows: {words}."
        )
    return rows

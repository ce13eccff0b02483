"""Function generation, an output as a function y(x) of a coordinate, and motion generation, prescribed poses of a body,
as least-squares residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.design.objective import Motion
from core.errors import ModelError
from core.model.aims import PLANES

Array = NDArray[np.float64]


class Generation(Protocol):
    """Interface of function and motion generation: residuals of poses along a coordinate."""

    @property
    def driven(self) -> str:
        """Name of the driven coordinate."""
        ...

    @property
    def along(self) -> Array:
        """Values (n,) of the driven coordinate, rad or m."""
        ...

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 2 or 4): the driven coordinate, then the output, or position and angle."""
        ...

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (r,) of the poses, normalised so that their sum of squares is a mean."""
        ...

    def generated(self, motion: Motion) -> Array:
        """Return the rows that these poses actually attain."""
        ...


@dataclass(frozen=True, eq=False)
class FunctionGeneration:
    """Prescribed output, any channel of poses: it should be `wanted` (n,) when the coordinate has the values `along`
    (n,)."""

    driven: str
    along: Array
    output: str
    wanted: Array

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 2): driven coordinate and output."""
        return np.column_stack([self.along, self.wanted])

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (n,) in the output's unit."""
        return (self.generated(motion)[:, 1] - self.wanted) / np.sqrt(len(self.along))

    def generated(self, motion: Motion) -> Array:
        """Return the attained values (n, 2): driven coordinate and output."""
        return np.column_stack([self.along, np.asarray(motion.run[self.output], dtype=float)])


@dataclass(frozen=True, eq=False)
class MotionGeneration:
    """Prescribed poses of a frame in a plane: positions (n, 2), m, and angles (n,), rad, for the values `along` (n,) of
    the driven coordinate; length : metres equivalent to one radian."""

    driven: str
    along: Array
    frame: str
    places: Array
    angles: Array
    plane: str
    length: float

    @property
    def rows(self) -> Array:
        """Prescribed values (n, 4): driven coordinate, position, angle."""
        return np.column_stack([self.along, self.places, self.angles])

    def _poses(self, motion: Motion) -> Array:
        """Compute the frame's (n, 4, 4) poses."""
        mech = motion.run.mech
        return np.asarray(mech.frame(motion.run.q, self.frame, p=dict(motion.p)), dtype=float)

    def generated(self, motion: Motion) -> Array:
        """Return the attained values (n, 4): driven coordinate, position, and angle of the frame's first axis projected
        on the plane."""
        X, (u, v) = self._poses(motion), PLANES[self.plane]
        return np.column_stack([self.along, X[:, u, 3], X[:, v, 3], np.arctan2(X[:, v, u], X[:, u, u])])

    def residuals(self, motion: Motion) -> Array:
        """Return residuals (4 n,), m, of positions and of the direction of the frame's first axis in the plane."""
        X, u_v = self._poses(motion), list(PLANES[self.plane])
        off = X[:, u_v, 3] - self.places
        wanted = np.column_stack([np.cos(self.angles), np.sin(self.angles)])
        turned = self.length * (X[:, u_v, u_v[0]] - wanted)
        return np.concatenate([off.ravel(), turned.ravel()]) / np.sqrt(len(self.along))


def function_generation(driven: str, output: str, points: ArrayLike) -> FunctionGeneration:
    """Build a function generation from points (n, 2): driven coordinate and output. Raises ModelError."""
    rows = _checked_rows(points, 2, "a value of the coordinate and a value of the output")
    return FunctionGeneration(driven, rows[:, 0], output, rows[:, 1])


def motion_generation(driven: str, frame: str, poses: ArrayLike, plane: str, length: float | None) -> MotionGeneration:
    """Build a motion generation from poses (n, 4): driven coordinate, position along both axes of the plane, angle.
    Raises ModelError."""
    if plane not in PLANES:
        raise ModelError(f"'{plane}' is not a plane.", where="guide", remedy="Use xy, xz or yz.")
    rows = _checked_rows(poses, 4, "a value of the coordinate, two position components, an angle")
    places = rows[:, 1:3]
    size = float(np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1))))
    return MotionGeneration(driven, rows[:, 0], frame, places, rows[:, 3], plane, length or size or 1.0)


def _checked_rows(given: ArrayLike, width: int, words: str) -> Array:
    rows = np.array(given, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) < 2 or not np.isfinite(rows).all():
        raise ModelError(
            f"The data are not rows of {width} finite numbers.",
            where="design",
            remedy=f"Give at least two rows: {words}.",
        )
    return rows

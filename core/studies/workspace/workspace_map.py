"""Workspace map: points of a frame with the poses that reach them, values, and the size of the reachable set."""

from __future__ import annotations

import math
import os
from dataclasses import field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from core.errors import ModelError
from core.later import dataclass
from core.studies.workspace.planar_area import Plane
from core.studies.workspace.space_cells import Cells, cells_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WorkspaceMap:
    """Map of a frame's reachable points with a value at each.

    machine, frame, kind : of what; title, about, unit : what the values are
    points : (n, 3) m, world; q : (n, nq) the poses that reach them; values : (n,), infinite or NaN where there is none
    names : of coordinates in q; over : of those that ran; best : whether of several poses at a place the largest value
    counts, or the least
    cells : of equal size, with the sample of each that counts (`inside` says which hold one)
    area, volume, error : m² or m³; NaN where there is none (a curve, a surface in space, or stopped before)
    boundary : (n, 2, 3) m, ends of pieces of the curves that bound a planar area
    plane : in which the points lie, None in space
    complete : False where it was stopped; growing : whether a finer one is on its way; notes : what a reader must know
    """

    machine: str
    frame: str
    kind: str
    title: str
    about: str
    unit: str
    points: Array
    q: Array
    values: Array
    names: tuple[str, ...]
    over: tuple[str, ...]
    cells: Cells
    best: str = "largest"
    area: float = math.nan
    volume: float = math.nan
    error: float = math.nan
    boundary: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))
    plane: Plane | None = None
    complete: bool = True
    growing: bool = False
    notes: tuple[str, ...] = ()

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Mask of cells that hold a sample, along the axes of `cells`."""
        return self.cells.filled

    @cached_property
    def bounds(self) -> Array:
        """Bounding box (2, 3) of the reachable points, m."""
        all_points = np.concatenate([self.points, self.boundary.reshape(-1, 3)])
        return np.array([all_points.min(axis=0), all_points.max(axis=0)])

    @property
    def shown(self) -> NDArray[np.intp]:
        """Index of each cell's representative sample."""
        return self.cells.best

    @property
    def size_text(self) -> str:
        """Area or volume with its error as text, "" if there is none."""
        if math.isfinite(self.volume):
            return value_with_error(self.volume, self.error, "m³")
        return value_with_error(self.area, self.error, "m²") if math.isfinite(self.area) else ""

    @cached_property
    def range(self) -> tuple[float, float]:
        """Smallest and largest finite value; (nan, nan) if there is none."""
        finite = self.values[self.shown][np.isfinite(self.values[self.shown])]
        return (float(finite.min()), float(finite.max())) if len(finite) else (math.nan, math.nan)

    def nearest(self, point: Array) -> int:
        """Return the representative sample nearest to a point (3,)."""
        away = np.sum((self.points[self.shown] - np.asarray(point, dtype=float)) ** 2, axis=1)
        return int(self.shown[int(np.argmin(away))])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write points, values and poses to a file: .h5 (all), .csv, .ply or .vtu (points and values).

        Raises FileError where it cannot be written.
        """
        from core.studies.workspace.map_files import write

        write(self, path)

    def less(self, other: WorkspaceMap) -> WorkspaceMap:
        """Subtract another map of the same kind, cell by cell where both exist.

        Raises ModelError where they are not of the same kind and unit.
        """
        if (self.kind, self.unit, self.frame) != (other.kind, other.unit, other.frame):
            raise ModelError(
                f"A map of {self.kind} ({self.unit or 'a number'}) of '{self.frame}' cannot be compared with one of "
                f"{other.kind} ({other.unit or 'a number'}) of '{other.frame}'.",
                where="workspace",
                remedy="Compare maps of one kind, frame and part.",
            )
        return _difference(self, other)


def value_with_error(value: float, error: float, unit: str) -> str:
    """Format a number with its error, both rounded to the error's first significant digit: 0.412 ± 0.003 m³."""
    if not (math.isfinite(value) and math.isfinite(error)):
        return f"{value:.4g} {unit}"
    if error <= 0.0:
        return f"{value:.6g} {unit}"
    exponent = math.floor(math.log10(error))
    digits = -exponent + (1 if error / 10.0**exponent < 2.0 else 0)
    rounded = max(error, 10.0**-digits)
    if not -3 <= digits <= 9:
        return f"{value:.6g} ± {error:.2g} {unit}"
    digits = max(digits, 0)
    return f"{value:.{digits}f} ± {rounded:.{digits}f} {unit}"


def _difference(after: WorkspaceMap, before: WorkspaceMap) -> WorkspaceMap:
    """Subtract the values of `before`, at the nearest point within one cell, from those of `after`; for workspaces,
    points gained (1) and lost (−1), all others 0."""
    size = max(after.cells.size, before.cells.size)
    new, old = after.points[after.shown], before.points[before.shown]
    away, nearest = cKDTree(old).query(new)
    both = away < 1.5 * size
    values = after.values[after.shown] - before.values[before.shown][nearest]
    points, q = new, after.q[after.shown]
    notes = []
    if after.kind == "reach":
        gone = cKDTree(new).query(old)[0] >= 1.5 * size
        points = np.concatenate([new, old[gone]])
        q = np.concatenate([q, before.q[before.shown][gone]])
        values = np.concatenate([np.where(both, 0.0, 1.0), -np.ones(int(gone.sum()))])
        notes.append("1: gained, −1: lost")
    else:
        points, q, values = new[both], q[both], values[both]
        notes.append(f"{int(both.sum())} of {len(new)} points of the map belong to both maps.")
    flat = points if after.plane is None else after.plane.down(points)
    changed = tuple(
        getattr(after, each) - getattr(before, each) if math.isfinite(getattr(before, each)) else math.nan
        for each in ("area", "volume")
    )
    cells = cells_of(flat, np.abs(values), "largest", size) if len(points) else after.cells
    return replace(
        after,
        title=f"Change of {after.title[:1].lower()}{after.title[1:]}",
        points=points,
        q=q,
        values=values,
        cells=cells,
        area=changed[0],
        volume=changed[1],
        error=math.hypot(after.error, before.error),
        notes=tuple(notes),
    )

"""Reachable set divided into cells of equal size: filled cells, and area or volume with its error.

Points are drawn in cells, and each is asked for by inverse kinematics from the nearest samples: many in cells at the
border, whose share of points that are reached is that of the cell; one in each of some of the others, which are whole
but for voids too thin to be seen. Cells of one and a half times
the size are measured in the same manner. The error is the standard error of the drawing, and what both differ by beyond
theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion
from scipy.spatial import cKDTree

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Reached = Callable[[Array, NDArray[np.intp]], Flags]
"""Function of points (n, d) and initial samples (n,) that returns a mask of the reachable points."""

CELLS = {1: 400, 2: 3000, 3: 7000}
"""Approximate number of filled cells by dimension; fewer with few samples."""
SAMPLES_A_CELL = 6.0
"""Smallest mean number of samples per cell."""
MEASURED = {1: 200, 2: 3000, 3: 3500}
"""Smallest mean number of samples per cell when the size is measured by further random points."""
COARSER = 1.5
DRAWN = 40_000
"""Approximate number of random points in border cells."""
MOST_BORDER = 0.14
"""Largest number of border cells relative to the random points; with more, the cells are enlarged."""
INNER = 4000
"""Number of random points in inner cells."""
DIVISIONS = {1: (2, 8), 2: (2, 4), 3: (2, 3)}
"""Smallest and largest number of subdivisions of a cell's edge; one random point is placed in each subcell."""
MOST_STARTS = 100_000
"""Largest number of samples among which the nearest are looked for."""
STARTS = 4
"""Number of nearest samples from which a point is tried."""


class GridCells(NamedTuple):
    """Grid of cells. origin (d,) m, corner of the first cell; size : m; filled : mask of cells with samples, (n, …)
    along the axes; best : (filled cells,) index of each cell's representative sample."""

    origin: Array
    size: float
    filled: Flags
    best: NDArray[np.intp]

    def centres(self) -> Array:
        """Centres (filled cells, d) of the filled cells, m, in the order of `best`."""
        return np.asarray(self.origin + (np.argwhere(self.filled) + 0.5) * self.size)

    def of(self, points: Array) -> NDArray[np.intp]:
        """Return the cell indices (n, d) of points."""
        return np.floor((points - self.origin) / self.size).astype(np.intp)


def empty_cells_next_to_filled(cells: GridCells) -> NDArray[np.intp]:
    """Return indices (n, d) of empty cells adjacent to filled ones."""
    return np.argwhere(binary_dilation(cells.filled, _neighbourhood_mask(cells.filled.ndim)) & ~cells.filled)


class _Starts(NamedTuple):
    """Every `spacing`-th sample, from which points are tried to be reached."""

    tree: cKDTree
    spacing: int


class MeasuredSize(NamedTuple):
    """Area or volume with its error, m² or m³."""

    value: float
    error: float


def build_cells(
    points: Array, values: Array, best_value: Literal["largest", "least"], cell_size: float | None = None
) -> GridCells:
    """Build cells around points (n, d), with two empty ones beyond them on every side; each cell is represented by its
    sample with the best value."""
    if cell_size is None:
        cell_size = _suitable_cell_size(points, CELLS[points.shape[1]])
    origin, shape, numbers = _cell_numbers(points, cell_size)
    rank = np.where(np.isnan(values), -np.inf, values if best_value == "largest" else -values)
    highest, best = np.full(math.prod(shape), -np.inf), np.full(math.prod(shape), -1, dtype=np.intp)
    np.maximum.at(highest, numbers, rank)
    chosen = np.flatnonzero(rank == highest[numbers])[::-1]  # of equal ones, the first is written last
    best[numbers[chosen]] = chosen
    filled = best >= 0
    return GridCells(origin, cell_size, filled.reshape(shape), best[filled])


def _cell_numbers(points: Array, cell_size: float) -> tuple[Array, tuple[int, ...], NDArray[np.intp]]:
    """Origin and shape of a grid around points (n, d), with two empty cells on every side, and the cells' numbers."""
    low, high = _bounds(points)
    origin = low - 2.5 * cell_size
    shape = tuple(int(k) + 3 for k in np.floor((high - origin) / cell_size))
    places = tuple(((points[:, k] - origin[k]) / cell_size).astype(np.intp) for k in range(len(shape)))
    return origin, shape, np.ravel_multi_index(places, shape)


def _bounds(points: Array) -> tuple[Array, Array]:
    """(d,) least and largest coordinates of points (n, d), one axis after the other: short rows are slow."""
    return np.array([each.min() for each in points.T]), np.array([each.max() for each in points.T])


def _filled_cells(points: Array, cell_size: float) -> GridCells:
    """Return cells around points without samples that represent them."""
    origin, shape, numbers = _cell_numbers(points, cell_size)
    filled = np.zeros(shape, dtype=bool)
    filled.flat[numbers] = True
    return GridCells(origin, cell_size, filled, np.zeros(0, dtype=np.intp))


def _suitable_cell_size(points: Array, cell_count: int) -> float:
    """Return the cell size, m, for about the given number of filled cells, fewer if there are few samples."""
    n, d = points.shape
    low, high = _bounds(points)
    size = max(float((high - low).max()), 1e-9) / cell_count ** (1.0 / d)
    some = points[:: max(n // 60_000, 1)]
    wanted = min(float(cell_count), max(len(some) / SAMPLES_A_CELL, 8.0))
    for _ in range(4):
        places = np.floor(some / size).astype(np.int64)
        places -= places.min(axis=0)
        numbers = np.ravel_multi_index(tuple(places.T), tuple(places.max(axis=0) + 1))
        filled = len(np.unique(numbers))
        size *= float(np.clip((filled / wanted) ** (1.0 / d), 0.4, 2.5))
    return size


def measure_size(
    points: Array, is_reached: Reached, seed: int, report_progress: Callable[[float], object] = lambda _: None
) -> MeasuredSize:
    """Measure the area or volume of the set around samples at points (n, d)."""
    spacing = -(-len(points) // MOST_STARTS)
    starts, rng = _Starts(cKDTree(points[::spacing]), spacing), np.random.default_rng(seed)
    report_progress(0.0)
    size = _suitable_cell_size(points, MEASURED[points.shape[1]])
    found = []
    most = min(DRAWN, max(2 * len(points), 2000))
    for factor, drawn, first, last in ((1.0, most, 0.0, 0.7), (COARSER, most // 3, 0.7, 1.0)):
        cells = _filled_cells(points, factor * size)
        while np.count_nonzero(_border_cell_mask(cells.filled)) > most * MOST_BORDER:
            size *= 1.2
            cells = _filled_cells(points, factor * size)
        found.append(
            _estimate_size(
                cells,
                starts,
                is_reached,
                rng,
                drawn,
                lambda x, a=first, b=last: report_progress(a + (b - a) * x),  # type: ignore[misc]
            )
        )
    (fine, own), (coarse, its) = found
    beyond = max(abs(fine - coarse) - math.hypot(own, its), 0.0)
    return MeasuredSize(fine, math.hypot(own, beyond))


def _estimate_size(
    cells: GridCells,
    starts: _Starts,
    is_reached: Reached,
    rng: np.random.Generator,
    point_count: int,
    report_progress: Callable[[float], object],
) -> tuple[float, float]:
    """Return (area or volume, standard error)."""
    filled, d = cells.filled, cells.filled.ndim
    border = np.argwhere(_border_cell_mask(filled))
    fewest, most = DIVISIONS[d]
    parts = int(np.clip(round((point_count / max(len(border), 1)) ** (1.0 / d)), fewest, most))
    corners = np.stack(np.meshgrid(*[np.arange(parts)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    each = len(corners)
    inside = (corners + rng.uniform(size=(len(border), each, d))) / parts
    tests = (cells.origin + (border[:, None, :] + inside) * cells.size).reshape(-1, d)
    met = _reachable_point_mask(tests, starts, is_reached, report_progress)
    share = met.reshape(len(border), each).mean(axis=1)
    variance = float(np.sum(share * (1.0 - share))) / (each - 1)
    whole = np.argwhere(binary_erosion(filled, _neighbourhood_mask(d)))
    some = whole[rng.permutation(len(whole))[: min(INNER, point_count // 4)]]
    within = 1.0
    if len(some):
        places = cells.origin + (some + rng.uniform(size=some.shape)) * cells.size
        missed = int(np.count_nonzero(~_reachable_point_mask(places, starts, is_reached, lambda _: None)))
        within = 1.0 - missed / len(some)
        variance += len(whole) ** 2 * max(missed, 1) / len(some) ** 2
    cell = cells.size**d
    return cell * (within * len(whole) + float(share.sum())), cell * math.sqrt(variance)


def _neighbourhood_mask(dimension: int) -> Flags:
    """Return the mask of a cell and its neighbours, diagonal ones included."""
    return np.ones((3,) * dimension, dtype=bool)


def _border_cell_mask(filled: Flags) -> Flags:
    """Return filled or empty cells with neighbours of both kinds."""
    around = _neighbourhood_mask(filled.ndim)
    return np.asarray(binary_dilation(filled, around) & ~binary_erosion(filled, around))


def _reachable_point_mask(
    points: Array, samples: _Starts, is_reached: Reached, report_progress: Callable[[float], object]
) -> Flags:
    """Return a mask (n,) of points reachable from one of the nearest samples."""
    met = np.zeros(len(points), dtype=bool)
    starts = samples.spacing * samples.tree.query(points, k=STARTS)[1].reshape(len(points), STARTS)
    for k in range(STARTS):
        left = np.flatnonzero(~met)
        report_progress(k / STARTS)
        met[left] = is_reached(points[left], starts[left, k])
    return met

"""What a study found: rows, those that failed, maps, statistics, sensitivities."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError, near_misses
from core.studies.declaration import Axis
from core.studies.sample_rows import DONE, WORDS

if TYPE_CHECKING:
    from core.studies.row_file import Table

Array = NDArray[np.float64]

CONFIDENCE = 1.959963984540054
"""Standard deviations of a normal distribution within which 95 % lie."""
FIFTH = 0.2
"""Part of the samples at either end of a variable that a tornado compares."""


class Failed(NamedTuple):
    """A row that failed: its number, how (`WORDS`), the message, the component, and what varied."""

    row: int
    status: str
    message: str
    component: str
    values: dict[str, float]


class Summary(NamedTuple):
    """Of a recorded number over the rows that succeeded; error: half of the 95 % interval of the mean; least_row,
    most_row: where it is least and largest."""

    rows: int
    mean: float
    deviation: float
    error: float
    least: float
    most: float
    least_row: int
    most_row: int
    quantiles: dict[float, float]


class Map(NamedTuple):
    """A number over two variables: x (nx,), y (ny,), values (ny, nx), the mean of the rows of a cell, NaN where none
    succeeded; failed (ny, nx) the part that failed."""

    x: Array
    y: Array
    values: Array
    failed: Array


class Sensitivity(NamedTuple):
    """Of a variable: what the number is on average where the variable is least and largest (a fifth each), and the rank
    correlation."""

    name: str
    low: float
    high: float
    rank: float


class Index(NamedTuple):
    """Sobol's indices of a variable: the part of the variance that it makes alone, and with all others."""

    name: str
    first: float
    total: float


class StudyResult:
    """Rows of a study. table: columns by name, of what varied, what was recorded, "status" and "done"."""

    def __init__(self, rows: Table) -> None:
        self.rows = rows
        self.declaration = rows.declaration

    @staticmethod
    def load(file: str | os.PathLike[str]) -> StudyResult:
        """The result in a file, also of a study that was ended in the middle. Raises FileError."""
        from core.studies.row_file import load

        return StudyResult(load(os.fspath(file)))

    def __len__(self) -> int:
        return int(self.rows.done.sum())

    def __repr__(self) -> str:
        return f"StudyResult({len(self)} of {len(self.rows.done)} rows, {len(self.failed)} failed)"

    @cached_property
    def varied(self) -> dict[str, Array]:
        """(n,) values of what varied, by name."""
        values = self.declaration.values()
        return {name: values[:, k] for k, name in enumerate(self.declaration.names)}

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of the numbers of each row."""
        return tuple(column.name for column in self.rows.columns if not column.curve)

    def unit(self, name: str) -> str:
        """The SI unit of a recorded number."""
        return next((column.unit for column in self.rows.columns if column.name == name), "")

    @property
    def good(self) -> NDArray[np.bool_]:
        """(n,) rows that are done and succeeded."""
        return self.rows.done & (self.rows.status == DONE)

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Columns by name, NaN where a row failed or is not done yet."""
        recorded = {c.name: self.rows.results[:, k] for k, c in enumerate(self.rows.columns) if not c.curve}
        words = np.array([*WORDS, "to do"])[np.where(self.rows.done, self.rows.status, len(WORDS))]
        return {**self.varied, **recorded, "status": words}

    @property
    def failed(self) -> list[Failed]:
        """Rows that failed."""
        found = []
        for row in np.flatnonzero(self.rows.done & (self.rows.status != DONE)).tolist():
            message, component = self.rows.messages.get(row, ("", ""))
            values = {name: float(column[row]) for name, column in self.varied.items()}
            found.append(Failed(row, WORDS[self.rows.status[row]], message, component, values))
        return found

    @property
    def failure_rate(self) -> tuple[float, float, float]:
        """The part that failed, and its 95 % interval (Wilson)."""
        return wilson(len(self.failed), len(self))

    def column(self, name: str) -> Array:
        """(n,) a column by name. Raises ModelError for one that is none."""
        columns = {**self.varied, **{c.name: self.rows.results[:, k] for k, c in enumerate(self.rows.columns)}}
        if name not in columns:
            raise ModelError(f"There is no column '{name}'.", where="study", remedy=near_misses(name, list(columns)))
        return columns[name]

    def curve(self, name: str) -> tuple[Array, Array]:
        """Times (m,), s, and values (n, m) of a recorded curve."""
        places = [k for k, column in enumerate(self.rows.columns) if column.curve == name]
        if not places:
            known = sorted({column.curve for column in self.rows.columns if column.curve})
            raise ModelError(f"There is no curve '{name}'.", where="study", remedy=near_misses(name, known))
        times = np.array([self.rows.columns[k].time for k in places])
        return times, self.rows.results[:, places]

    def band(self, name: str, low: float = 0.05, high: float = 0.95) -> tuple[Array, Array, Array, Array]:
        """times, low quantile, median, high quantile of a curve over the rows that succeeded."""
        times, values = self.curve(name)
        found = np.quantile(values[self.good], [low, 0.5, high], axis=0)
        return times, found[0], found[1], found[2]

    # ------------------------------------------------------------------------------------------ statistics

    def summary(self, name: str) -> Summary:
        """Of a column, over the rows that succeeded. Raises ModelError if none did."""
        values, places = self._good(name)
        spread = Running()
        spread.add(values)
        quantiles = {q: float(np.quantile(values, q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
        low, high = int(np.argmin(values)), int(np.argmax(values))
        error = CONFIDENCE * spread.deviation / math.sqrt(len(values))
        return Summary(
            *(len(values), spread.mean, spread.deviation, error, float(values[low]), float(values[high])),
            *(int(places[low]), int(places[high]), quantiles),
        )

    def _good(self, name: str) -> tuple[Array, NDArray[np.int64]]:
        places = np.flatnonzero(self.good)
        if not len(places):
            raise ModelError("No row of the study succeeded.", where=f"'{name}'", remedy="Look at `failed`.")
        return self.column(name)[places], places

    def map(self, name: str, x: str, y: str, cells: int = 24) -> Map:
        """A column over two of what varied: cells are values of a grid, or as many equal parts of what was drawn."""
        at = [self._cells(each, cells) for each in (x, y)]
        (xs, kx), (ys, ky) = at
        cell, count = ky * len(xs) + kx, len(xs) * len(ys)
        good, done = self.good, self.rows.done
        values = self.column(name)
        total = np.bincount(cell[good], values[good], count)
        number = np.bincount(cell[good], minlength=count)
        every = np.bincount(cell[done], minlength=count)
        with np.errstate(invalid="ignore"):
            mean = np.where(number > 0, total / number, np.nan)
            failed = np.where(every > 0, 1.0 - number / every, np.nan)
        shape = len(ys), len(xs)
        return Map(xs, ys, mean.reshape(shape), failed.reshape(shape))

    def _cells(self, name: str, cells: int) -> tuple[Array, NDArray[np.int64]]:
        if name not in self.varied:
            raise ModelError(f"'{name}' does not vary.", where="map", remedy=near_misses(name, list(self.varied)))
        column = self.varied[name]
        axis = self._axis(name)
        if axis.values:
            found, places = np.unique(column, return_inverse=True)
            if len(found) <= max(cells, 1) or axis.how == "grid":
                return found, places.reshape(-1)
        low, high = float(column.min()), float(column.max())
        width = (high - low) / cells or 1.0
        places = np.clip(((column - low) / width).astype(int), 0, cells - 1)
        return np.asarray(low + width * (np.arange(cells) + 0.5), dtype=float), places.astype(np.int64)

    def _axis(self, name: str) -> Axis:
        return next(axis for axis in self.declaration.axes if name in axis.names)

    def tornado(self, name: str) -> list[Sensitivity]:
        """How what varies moves a column, the most first."""
        from scipy.stats import rankdata

        values, places = self._good(name)
        found = []
        for each, column in self.varied.items():
            x = column[places]
            low, high = np.quantile(x, [FIFTH, 1.0 - FIFTH])
            if low == high:
                low, high = x.min(), x.max()
            below, above = float(np.mean(values[x <= low])), float(np.mean(values[x >= high]))
            flat = np.ptp(x) == 0.0 or np.ptp(values) == 0.0
            rank = 0.0 if flat else float(np.corrcoef(rankdata(x), rankdata(values))[0, 1])
            found.append(Sensitivity(each, below, above, rank))
        return sorted(found, key=lambda each: -abs(each.high - each.low))

    def sobol(self, name: str) -> list[Index]:
        """Sobol's indices of a column, from a study by `Study.sobol`: first order (Saltelli 2010), total (Jansen 1999).

        Raises ModelError where the study has another design, or rows failed, without which there are none.
        """
        axis = self.declaration.axes[0]
        if len(self.declaration.axes) != 1 or axis.how != "saltelli":
            raise ModelError("The study has no design for Sobol's indices.", remedy="Declare it by Study.sobol.")
        if not self.good.all():
            raise ModelError(
                "Rows failed or are not done, and every row counts for Sobol's indices.",
                where="study",
                remedy="Choose narrower distributions.",
            )
        blocks = self.column(name).reshape(len(axis.names) + 2, -1)
        a, b, variance = blocks[0], blocks[1], float(np.var(blocks[:2]))
        if variance == 0.0:
            raise ModelError(f"'{name}' is the same in all rows.", where="study", remedy="Record something else.")
        found = []
        for each, mixed in zip(axis.names, blocks[2:], strict=True):
            first = float(np.mean(b * (mixed - a))) / variance
            found.append(Index(each, first, 0.5 * float(np.mean((a - mixed) ** 2)) / variance))
        return found

    # ------------------------------------------------------------------------------------------ elsewhere

    def to_csv(self, path: str) -> None:
        """All columns as text, numbers in full."""
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.table)
            writer.writerows(self._lines())

    def _lines(self) -> Iterator[list[object]]:
        columns = [column.tolist() for column in self.table.values()]
        return (list(line) for line in zip(*columns, strict=True))

    def to_parquet(self, path: str) -> None:
        """All columns as a Parquet file. Raises SimulationError where pyarrow is not installed."""
        try:
            import pyarrow as pa  # type: ignore[import-not-found]
            import pyarrow.parquet as pq  # type: ignore[import-not-found]
        except ImportError:
            raise SimulationError(
                "Parquet files need the package 'pyarrow'.", where="to_parquet", remedy="Install it, or use to_csv."
            ) from None
        pq.write_table(pa.table({name: pa.array(column.tolist()) for name, column in self.table.items()}), path)


def wilson(count: int, total: int) -> tuple[float, float, float]:
    """count/total and its 95 % interval: E. B. Wilson, J. American Statistical Association 22, 1927."""
    if total == 0:
        return 0.0, 0.0, 1.0
    rate, z = count / total, CONFIDENCE
    centre = (rate + z * z / (2.0 * total)) / (1.0 + z * z / total)
    half = z / (1.0 + z * z / total) * math.sqrt(rate * (1.0 - rate) / total + z * z / (4.0 * total * total))
    return rate, max(centre - half, 0.0), min(centre + half, 1.0)


class Running:
    """Mean and variance of numbers as they come, without keeping them: B. P. Welford, Technometrics 4(3), 1962, in the
    form for parts by Chan, Golub and LeVeque, 1979."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Count a part in."""
        n = len(values)
        if not n:
            return
        mean = float(np.mean(values))
        total = self.count + n
        apart = mean - self.mean
        self._squares += float(np.sum((values - mean) ** 2)) + apart * apart * self.count * n / total
        self.mean += apart * n / total
        self.count = total

    @property
    def deviation(self) -> float:
        """Standard deviation of a sample."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else 0.0

"""Result of a study: rows, failures, maps, statistics and sensitivities."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError, suggest_names
from core.mechanism import Mechanism
from core.studies.declaration import StudyAxis
from core.studies.sample_rows import DONE, WORDS

if TYPE_CHECKING:
    from core.studies.row_file import RowTable


Array = NDArray[np.float64]

CONFIDENCE = 1.959963984540054
"""Half-width of the 95 % interval of a normal distribution, in standard deviations."""
FIFTH = 0.2
"""Fraction of the samples at each end of a variable's range that a tornado diagram compares."""


class FailedRow(NamedTuple):
    """Failed row: its number, status (`WORDS`), message, component, and varied values."""

    row: int
    status: str
    message: str
    component: str
    values: dict[str, float]


class Summary(NamedTuple):
    """Statistics of a recorded number over the successful rows. error : half of the 95 % interval of the mean;
    least_row, most_row : rows with its minimum and maximum"""

    rows: int
    mean: float
    deviation: float
    error: float
    least: float
    most: float
    least_row: int
    most_row: int
    quantiles: dict[float, float]


class ValueMap(NamedTuple):
    """Recorded number over two variables. x (nx,), y (ny,); values (ny, nx) : mean over the rows of a cell, NaN if none
    succeeded; failed (ny, nx) : fraction of failed rows"""

    x: Array
    y: Array
    values: Array
    failed: Array


class Sensitivity(NamedTuple):
    """Sensitivity to a variable: means of the recorded number over the fifth of the rows with the smallest and the
    fifth with the largest values of the variable, and rank correlation."""

    name: str
    low: float
    high: float
    rank: float


class SobolIndices(NamedTuple):
    """Sobol indices of a variable: first-order and total."""

    name: str
    first: float
    total: float


class StudyResult:
    """Result of a study. table : columns by name, with varied and recorded values, "status" and "done" """

    def __init__(self, rows: RowTable) -> None:
        self.rows = rows
        self.declaration = rows.declaration

    @staticmethod
    def load(file: str | os.PathLike[str]) -> StudyResult:
        """Load the result of a file, also of an interrupted study. Raises FileError."""
        from core.studies.row_file import load

        return StudyResult(load(os.fspath(file)))

    def __len__(self) -> int:
        return int(self.rows.done.sum())

    def __repr__(self) -> str:
        return f"StudyResult({len(self)} of {len(self.rows.done)} rows, {len(self.failed)} failed)"

    @cached_property
    def varied(self) -> dict[str, Array]:
        """Varied values (n,) by name."""
        values = self.declaration.values()
        return {name: values[:, k] for k, name in enumerate(self.declaration.names)}

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of the recorded numbers."""
        return tuple(column.name for column in self.rows.columns if not column.curve)

    def unit(self, name: str) -> str:
        """Return the SI unit of a recorded number."""
        return next((column.unit for column in self.rows.columns if column.name == name), "")

    @property
    def good(self) -> NDArray[np.bool_]:
        """Mask (n,) of successful rows."""
        return self.rows.done & (self.rows.status == DONE)

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Columns by name, NaN for failed or unfinished rows."""
        recorded = {c.name: self.rows.results[:, k] for k, c in enumerate(self.rows.columns) if not c.curve}
        words = np.array([*WORDS, "to do"])[np.where(self.rows.done, self.rows.status, len(WORDS))]
        return {**self.varied, **recorded, "status": words}

    @property
    def failed(self) -> list[FailedRow]:
        """Failed rows."""
        found = []
        for row in np.flatnonzero(self.rows.done & (self.rows.status != DONE)).tolist():
            message, component = self.rows.messages.get(row, ("", ""))
            values = {name: float(column[row]) for name, column in self.varied.items()}
            found.append(FailedRow(row, WORDS[self.rows.status[row]], message, component, values))
        return found

    @property
    def failure_rate(self) -> tuple[float, float, float]:
        """Fraction of failed rows, and its 95 % interval (Wilson)."""
        return wilson_interval(len(self.failed), len(self))

    def column(self, name: str) -> Array:
        """Return a column (n,) by name. Raises ModelError for an unknown one."""
        columns = {**self.varied, **{c.name: self.rows.results[:, k] for k, c in enumerate(self.rows.columns)}}
        if name not in columns:
            raise ModelError(f"There is no column '{name}'.", where="study", remedy=suggest_names(name, list(columns)))
        return columns[name]

    def curve(self, name: str) -> tuple[Array, Array]:
        """Return times (m,), s, and values (n, m) of a recorded curve."""
        places = [k for k, column in enumerate(self.rows.columns) if column.curve == name]
        if not places:
            known = sorted({column.curve for column in self.rows.columns if column.curve})
            raise ModelError(f"There is no curve '{name}'.", where="study", remedy=suggest_names(name, known))
        times = np.array([self.rows.columns[k].time for k in places])
        return times, self.rows.results[:, places]

    def band(self, name: str, low: float = 0.05, high: float = 0.95) -> tuple[Array, Array, Array, Array]:
        """Return times, low quantile, median, high quantile of a curve over the successful rows."""
        times, values = self.curve(name)
        found = np.quantile(values[self.good], [low, 0.5, high], axis=0)
        return times, found[0], found[1], found[2]

    # ------------------------------------------------------------------------------------------ statistics

    def summary(self, name: str) -> Summary:
        """Compute statistics of a column over the successful rows. Raises ModelError if there are none."""
        values, places = self._successful_values(name)
        spread = RunningStatistics()
        spread.add(values)
        quantiles = {q: float(np.quantile(values, q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
        low, high = int(np.argmin(values)), int(np.argmax(values))
        error = CONFIDENCE * spread.deviation / math.sqrt(len(values))
        return Summary(
            *(len(values), spread.mean, spread.deviation, error, float(values[low]), float(values[high])),
            *(int(places[low]), int(places[high]), quantiles),
        )

    def _successful_values(self, name: str) -> tuple[Array, NDArray[np.int64]]:
        places = np.flatnonzero(self.good)
        if not len(places):
            raise ModelError(
                "No row of the study succeeded.", where=f"'{name}'", remedy="See `failed` for the reasons."
            )
        return self.column(name)[places], places

    def map(self, name: str, x: str, y: str, cells: int = 24) -> ValueMap:
        """Average a column over the cells of two varied variables: the values of a grid, or equal intervals of random
        values."""
        at = [self._map_cells(each, cells) for each in (x, y)]
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
        return ValueMap(xs, ys, mean.reshape(shape), failed.reshape(shape))

    def _map_cells(self, name: str, cell_count: int) -> tuple[Array, NDArray[np.int64]]:
        if name not in self.varied:
            raise ModelError(
                f"'{name}' is not varied in the study.", where="map", remedy=suggest_names(name, list(self.varied))
            )
        column = self.varied[name]
        axis = self._axis_of_variable(name)
        if axis.values:
            found, places = np.unique(column, return_inverse=True)
            if len(found) <= max(cell_count, 1) or axis.how == "grid":
                return found, places.reshape(-1)
        low, high = float(column.min()), float(column.max())
        width = (high - low) / cell_count or 1.0
        places = np.clip(((column - low) / width).astype(int), 0, cell_count - 1)
        return np.asarray(low + width * (np.arange(cell_count) + 0.5), dtype=float), places.astype(np.int64)

    def _axis_of_variable(self, name: str) -> StudyAxis:
        return next(axis for axis in self.declaration.axes if name in axis.names)

    def tornado(self, name: str) -> list[Sensitivity]:
        """Compute the sensitivities of a column to the varied variables, the largest first."""
        from scipy.stats import rankdata

        values, places = self._successful_values(name)
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

    def sobol(self, name: str) -> list[SobolIndices]:
        """Compute the Sobol indices of a column, from a study by `Study.sobol`: first order (Saltelli 2010), total
        (Jansen 1999).

        Raises ModelError where the study has another design, or rows failed, without which there are none.
        """
        axis = self.declaration.axes[0]
        if len(self.declaration.axes) != 1 or axis.how != "saltelli":
            raise ModelError(
                "The study was not sampled for Sobol indices.", remedy="Declare the study with Study.sobol."
            )
        if not self.good.all():
            raise ModelError(
                "Some rows failed or are unfinished, but Sobol indices need all rows.",
                where="study",
                remedy="Choose narrower distributions.",
            )
        blocks = self.column(name).reshape(len(axis.names) + 2, -1)
        a, b, variance = blocks[0], blocks[1], float(np.var(blocks[:2]))
        if variance == 0.0:
            raise ModelError(f"'{name}' is the same in all rows.", where="study", remedy="Record another quantity.")
        found = []
        for each, mixed in zip(axis.names, blocks[2:], strict=True):
            first = float(np.mean(b * (mixed - a))) / variance
            found.append(SobolIndices(each, first, 0.5 * float(np.mean((a - mixed) ** 2)) / variance))
        return found

    # ------------------------------------------------------------------------------------------ elsewhere

    def to_csv(self, path: str) -> None:
        """Write all columns as CSV with full precision."""
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.table)
            writer.writerows(self._csv_rows())

    def _csv_rows(self) -> Iterator[list[object]]:
        columns = [column.tolist() for column in self.table.values()]
        return (list(line) for line in zip(*columns, strict=True))

    def to_parquet(self, path: str) -> None:
        """Write all columns as a Parquet file. Raises SimulationError if pyarrow is not installed."""
        try:
            import pyarrow as pa  # type: ignore[import-not-found]
            import pyarrow.parquet as pq  # type: ignore[import-not-found]
        except ImportError:
            raise SimulationError(
                "Parquet files need the package 'pyarrow'.", where="to_parquet", remedy="Install it, or use to_csv."
            ) from None
        pq.write_table(pa.table({name: pa.array(column.tolist()) for name, column in self.table.items()}), path)


def wilson_interval(count: int, total: int) -> tuple[float, float, float]:
    """Return count/total with its 95 % interval: E. B. Wilson, J. American Statistical Association 22, 1927."""
    if total == 0:
        return 0.0, 0.0, 1.0
    rate, z = count / total, CONFIDENCE
    centre = (rate + z * z / (2.0 * total)) / (1.0 + z * z / total)
    half = z / (1.0 + z * z / total) * math.sqrt(rate * (1.0 - rate) / total + z * z / (4.0 * total * total))
    return rate, max(centre - half, 0.0), min(centre + half, 1.0)


class RunningStatistics:
    """Running mean and variance, computed without storing samples: B. P. Welford, Technometrics 4(3), 1962, in the
    blockwise form of Chan, Golub and LeVeque, 1979."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Add further values."""
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
        """Standard deviation of the sample."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else 0.0


class RowStartState(NamedTuple):
    """Start state of a row: parameters, q (nq,), and speeds by name; for targets q is the solution."""

    parameters: dict[str, float]
    q: Array
    speeds: dict[str, float]


def start_state_of_row(mech: Mechanism, result: StudyResult, row: int) -> RowStartState:
    """Return the start state of a row. Raises KinetostatError if the machine lacks its parameters or cannot assume its
    position."""
    parameters: dict[str, float] = {}
    named: dict[str, float] = {}
    speeds: dict[str, float] = {}
    for name, column in result.varied.items():
        value, stem = float(column[row]), name[:-2]
        if name in mech.p_names:
            parameters[name] = value
        elif name in mech.q_names:
            named[name] = value
        elif name.endswith(".q") and stem in mech.q_names:
            named[stem] = value
        elif name.endswith(".v") and stem in mech.v_names:
            speeds[stem] = value
        elif result.declaration.kind != "targets" and name not in ("duration", "step", "rtol", "atol"):
            raise ModelError(f"The machine no longer has '{name}'.", where=f"row {row}", remedy="Run the study again.")
    p = mech.parameter_values(parameters or None)
    if result.declaration.kind == "targets":
        ends = [result.column(f"{name}.q")[row] for name in mech.q_names]
        return RowStartState(parameters, np.array(ends), speeds)
    q = mech.rest(p)
    return RowStartState(parameters, mech.move(q, named, p, exact=True) if named else q, speeds)

"""Columns of numbers for plots; when a run grows, only the new part is computed. For long columns the minimum and
maximum of blocks, and of blocks of blocks, are stored, so that drawing a million samples takes no longer than a
thousand. Does not use Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.document.run_tree import RunRecord
from app.plotting.channels import physical_dimension, split_component
from app.widgets.quantities.quantity_text import Measure
from core.constraints.cut_coordinates import closes_loop
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.simulation.run.channels import column_suffixes
from core.simulation.run.energy_ledger import needs_whole_run
from core.simulation.run.growing_rows import BLOCK, GrowingRows, continue_values, split_into_blocks
from core.simulation.run.run import Run, select_samples
from core.simulation.run.undefined_values import explain_undefined

Array = NDArray[np.float64]


LONG_COLUMN = 50_000
"""Number of samples above which minimum–maximum levels are computed."""
FINEST, FACTOR = 32, 8
"""Samples per block of the finest level; blocks of a level combined into one of the next."""
BLOCKS_MERGED = 64
"""Largest number of blocks of the coarsest level."""


class MinMaxLevels:
    """Minimum–maximum levels of a column that may grow at its end. NaN is the value only of blocks that contain nothing
    else."""

    def __init__(self) -> None:
        self.rows: Array = np.zeros(0)
        self._levels: list[tuple[Array, Array]] = []

    def extended_by(self, rows: Array) -> MinMaxLevels:
        """Return the levels of an extended column; levels of existing rows are reused."""
        found, known = MinMaxLevels(), len(self.rows)
        found.rows, size, lows, highs = rows, 1, rows, rows
        while len(lows) > BLOCKS_MERGED:
            k = len(found._levels)
            factor = FINEST if k == 0 else FACTOR
            size *= factor
            old = self._levels[k] if k < len(self._levels) else (rows[:0], rows[:0])
            whole = min(known // size, len(old[0]))
            lows = np.concatenate([old[0][:whole], reduce_blocks(np.fmin, lows, factor, whole)])
            highs = np.concatenate([old[1][:whole], reduce_blocks(np.fmax, highs, factor, whole)])
            found._levels.append((lows, highs))
        return found

    @property
    def value_range(self) -> tuple[float, float] | None:
        """Smallest and largest finite number; None if there are none."""
        lows, highs = self._levels[-1] if self._levels else (self.rows, self.rows)
        ends = np.concatenate([lows, highs])
        if np.isinf(ends).any():  # a block with one may have others
            ends = self.rows
        finite = ends[np.isfinite(ends)]
        return (float(finite.min()), float(finite.max())) if len(finite) else None

    def visible_blocks(self, first: int, last: int, count: int) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the middle sample, minimum and maximum of about `count` blocks (at most twice as many) that cover the
        samples from first to last (exclusive). The block boundaries do not depend on `first`."""
        wide = max((last - first) // max(count, 1), 1)
        k = max((k for k in range(len(self._levels)) if FINEST * FACTOR**k <= wide), default=-1)
        size = 1 if k < 0 else FINEST * FACTOR**k
        lows, highs = (self.rows, self.rows) if k < 0 else self._levels[k]
        group = max(wide // size, 1)
        start = first // (size * group) * group
        end = min(-(-last // size), len(lows))
        places = np.arange(start, end, group)
        low = np.fmin.reduceat(lows[:end], places) if len(places) else lows[:0]
        high = np.fmax.reduceat(highs[:end], places) if len(places) else highs[:0]
        middle = np.minimum(places * size + size * group // 2, len(self.rows) - 1)
        return middle, low, high


def reduce_blocks(ufunc: np.ufunc, rows: Array, size: int, first: int) -> Array:
    """Apply a reduction to each block of `size` rows, starting from block `first`."""
    parts = [
        ufunc.reduceat(part, np.arange(0, len(part), size))
        for begin in range(first * size, len(rows), BLOCK)
        if len(part := rows[begin : begin + BLOCK])
    ]
    return np.concatenate(parts) if parts else rows[:0]


Factors = tuple[float, float]
TIMES = ("time", "t")
STORED = ("q", "v", "a", "tau")
"""Joint quantities that are stored in the samples of a run."""


def compute_column(run: Run, name: str) -> Array:
    """Return the values (n,) in SI units of a scalar channel, a component of a channel, or a formula; state indices for
    a state channel.

    Raises KinetostatError for what the run does not have.
    """
    channel, component = split_component(run, name)
    if get_state_names(run, name):
        return run.computed_channels.modes.state_codes(name.removesuffix(".mode")).astype(float)
    values = run[channel] if channel in run.channels else run[name]
    if values.ndim == 1:
        return values
    flat = values.reshape(len(values), -1)
    suffixes = run.computed_channels.components(channel, flat.shape[1])
    if component in suffixes:
        return flat[:, suffixes.index(component)]
    return run[name] if component else flat[:, 0]


def get_state_names(run: Run, name: str) -> tuple[str, ...]:
    """Return the state names of a state channel; () for a numeric one."""
    return run.computed_channels.modes.word_channels.get(name, ())


def get_scalar_names(run: Run, name: str) -> tuple[str, ...]:
    """Return the names of the scalar channels of which a channel consists. Raises KinetostatError if the run does not
    have the channel."""
    if name not in run.channels:
        return (name,)
    return tuple(f"{name}.{suffix}" for suffix in column_suffixes(run.computed_channels, name)) or (name,)


def is_stored(run: Run, name: str) -> bool:
    """Return True if the samples of the run store a channel, so that it need not be computed."""
    if name in TIMES:
        return True
    mech = run.mech
    for channel in (name, name.rpartition(".")[0]):  # without and with a component
        owner, _, what = channel.rpartition(".")
        if what in STORED:
            computed = closes_loop(mech.compiled, owner) or (what == "tau" and bool(mech.model.expanded.drivers))
            return owner in mech.joint_names and not computed
    return False


def is_extension_of(new: Run, old: Run) -> bool:
    """Return True if `new` is the run `old` with samples appended."""
    m = len(old.time)
    return (
        0 < m <= len(new.time)
        and new.mech is old.mech
        and (new.settings is old.settings or new.settings == old.settings)
        and new.time[m - 1] == old.time[-1]
        and np.array_equal(new.q[m - 1], old.q[-1])
        and np.array_equal(new.v[0], old.v[0])
    )


def _is_increasing(numbers: Array) -> bool:
    """Return True if the numbers are strictly increasing."""
    steps = (np.diff(numbers[max(first - 1, 0) : first + BLOCK]) for first in range(0, len(numbers), BLOCK))
    return all(bool((step > 0.0).all()) for step in steps)


def first_sample_run(run: Run) -> Run:
    """Return a run that consists of the first sample only, sufficient to check formulas quickly, however long the run
    is."""
    return select_samples(run, slice(0, 1))


class Column(NamedTuple):
    """Values of a scalar channel of a run, SI; `rows` (n,) is the used part of `memory`, which has space to grow."""

    run: Run
    memory: GrowingRows
    rows: Array


class DisplayNumbers(NamedTuple):
    """Data of a curve in display units; `levels` of y for a long curve with increasing x."""

    x: Array
    y: Array
    levels: MinMaxLevels | None


class CurveColumns(NamedTuple):
    """Data of a curve: two columns of a run, for a long run also in display units; `factors` are the SI values of the
    display units of x and y."""

    run: Run
    x: Column
    y: Column
    factors: Factors = (1.0, 1.0)
    shown: DisplayNumbers | None = None


class ColumnWorker(Protocol):
    """Interface of a background worker that keeps only the newest request for each key."""

    def request(self, key: Hashable, task: Callable[[], object]) -> None: ...


class PlotColumns:
    """Columns requested for plots, for all runs.

    What has to be computed (what few samples hold themselves has not) is left to a desk if there is one; until it is
    done, there is what was computed before.
    """

    def __init__(self, desk: ColumnWorker | None = None) -> None:
        self._desk = desk
        self._columns: dict[tuple[int, str], Column] = {}
        self._pairs: dict[tuple[int, str, str], tuple[Run, CurveColumns | None]] = {}
        self._problems: dict[tuple[int, str, str], Exception] = {}
        self._scaled: dict[tuple[int, str], tuple[Column, float, GrowingRows]] = {}
        self._levels: dict[tuple[int, str], tuple[Run, float, MinMaxLevels]] = {}
        self._measures: dict[tuple[int, str], tuple[Mechanism, Measure]] = {}
        self._voids: dict[tuple[int, str], tuple[Run, str]] = {}

    def get_curve_columns(
        self, record: RunRecord, x: str, y: str, factors: Factors = (1.0, 1.0)
    ) -> tuple[CurveColumns | None, bool]:
        """Return the data of one channel against another, None if they are not (yet) available, and whether newer data
        will follow."""
        run, key = record.run, (record.id, x, y)
        of, found = self._pairs.get(key, (None, None))
        if found is not None and found.shown is not None and found.factors != factors:
            of = found = None  # in other units
        if of is run:
            return found, False
        at_once = len(run.time) <= LONG_COLUMN and is_stored(run, x) and is_stored(run, y)
        if self._desk is None or at_once:
            return self._compute_curve_columns(run, key, factors), False
        self._desk.request(key, lambda: self._compute_curve_columns(run, key, factors))
        return found, True

    def _compute_curve_columns(self, run: Run, key: tuple[int, str, str], factors: Factors) -> CurveColumns | None:
        """Compute the data of one channel against another; can be called from any thread."""
        number, x, y = key
        of, pair = self._pairs.get(key, (None, None))
        if of is not run or (pair is not None and pair.factors != factors):  # not wanted twice
            try:
                pair = CurveColumns(
                    run,
                    self._find_or_compute_column(run, (number, x)),
                    self._find_or_compute_column(run, (number, y)),
                    factors,
                )
                if len(run.time) > LONG_COLUMN:
                    pair = pair._replace(shown=self.get_display_numbers(number, pair, x, y, factors))
            except (KinetostatError, KeyError, ValueError) as error:
                pair = None
                self._problems[key] = error
            self._pairs[key] = run, pair
        return pair

    def reason_empty(self, record: RunRecord, columns: CurveColumns, x: str, y: str) -> str:
        """Return why a curve has no point to draw (a column without a finite number); "" if it has some."""
        for name, rows in ((y, columns.y.rows), (x, columns.x.rows)):
            if len(rows) and not np.isfinite(rows[0]) and not np.isfinite(rows).any():
                of, words = self._voids.get((record.id, name), (None, ""))
                if of is not columns.run:
                    words = explain_undefined(columns.run, name)
                    self._voids[record.id, name] = columns.run, words
                return words
        return ""

    def reason_unavailable(self, record: RunRecord, x: str, y: str) -> str | None:
        """Return why the data of a curve are unavailable; "" if they are available, None while that is unknown."""
        key = record.id, x, y
        of, pair = self._pairs.get(key, (None, None))
        if of is not record.run:
            return None
        return str(self._problems.get(key, "")) if pair is None else ""

    def _find_or_compute_column(self, run: Run, key: tuple[int, str]) -> Column:
        before = self._columns.get(key)
        if before is not None and before.run is run:
            return before
        if before is None or is_stored(run, key[1]) or needs_whole_run(key[1]) or not is_extension_of(run, before.run):
            memory = GrowingRows(compute_column(run, key[1]))
        else:
            memory, known = before.memory, len(before.rows)
            if known < len(run.time):
                later = compute_column(select_samples(run, slice(known - 1, None)), key[1])
                memory.extend(continue_values(before.rows[-1], later)[1:])
        found = self._columns[key] = Column(run, memory, memory.rows)
        return found

    def physical_dimension(self, record: RunRecord, name: str) -> Measure:
        """Return the physical dimension of a channel."""
        key, mech = (record.id, name), record.run.mech
        before = self._measures.get(key)
        if before is None or before[0] is not mech:
            before = self._measures[key] = mech, physical_dimension(record.run, name)
        return before[1]

    def get_display_numbers(
        self, record_id: int, columns: CurveColumns, x: str, y: str, factors: Factors
    ) -> DisplayNumbers:
        """Return the data of a curve divided by the given factors; the same arrays as before if nothing has changed."""
        across, up = (
            self._scaled_column((record_id, x), columns.x, factors[0]),
            self._scaled_column((record_id, y), columns.y, factors[1]),
        )
        if len(up) <= LONG_COLUMN or not (x in TIMES or _is_increasing(across)):
            return DisplayNumbers(across, up, None)
        run, factor, levels = self._levels.get((record_id, y), (None, 0.0, MinMaxLevels()))
        known = run is not None and factor == factors[1] and is_extension_of(columns.run, run)
        levels = (levels if known else MinMaxLevels()).extended_by(up)
        self._levels[record_id, y] = columns.run, factors[1], levels
        return DisplayNumbers(across, up, levels)

    def _scaled_column(self, key: tuple[int, str], values: Column, factor: float) -> Array:
        """Return a column (n,) divided by a factor."""
        if factor == 1.0:
            return values.rows
        of, scale, scaled = self._scaled.get(key, (None, 0.0, None))
        if (
            of is None
            or scaled is None
            or scale != factor
            or not (of.memory is values.memory or is_extension_of(values.run, of.run))
        ):
            scaled = GrowingRows(values.rows[:BLOCK] / factor)
        for rows in split_into_blocks(values.rows[len(scaled.rows) :]):
            scaled.extend(rows / factor)
        self._scaled[key] = values, factor, scaled
        return scaled.rows[: len(values.rows)] if len(scaled.rows) > len(values.rows) else scaled.rows

    def keep_records(self, record_ids: set[int]) -> None:
        """Keep the columns of these records only."""
        kept: tuple[dict[Any, Any], ...] = (
            self._columns,
            self._pairs,
            self._problems,
            self._scaled,
            self._levels,
            self._measures,
            self._voids,
        )
        for one in kept:
            for key in list(one):
                if key[0] not in record_ids:
                    one.pop(key, None)

"""Columns of numbers for plots; when a run grows, only the new part is computed. Long columns have the minimum and
maximum of blocks, and of blocks of blocks, so that drawing a million samples takes as long as a thousand. Does not use
Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.document.run_tree import Record
from app.plotting.channels import base, measure
from app.widgets.quantities.quantity_text import Measure
from core.constraints.cut_coordinates import closes_loop
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.simulation.run.channels import suffixes
from core.simulation.run.energy_ledger import needs_whole_run
from core.simulation.run.growing_rows import BLOCK, GrowingRows, blocks, continued
from core.simulation.run.run import Run, part
from core.simulation.run.undefined_values import explain_undefined

Array = NDArray[np.float64]


LONG_COLUMN = 50_000
"""Number of samples from which a column has levels."""
FINEST, FACTOR = 32, 8
"""Samples per block of the finest level; blocks of a level combined into one of the next."""
BLOCKS_MERGED = 64
"""Largest number of blocks of the coarsest level."""


class Levels:
    """Minimum–maximum levels of a column that may grow at its end. NaN counts only in blocks that have nothing else."""

    def __init__(self) -> None:
        self.rows: Array = np.zeros(0)
        self._levels: list[tuple[Array, Array]] = []

    def grown(self, rows: Array) -> Levels:
        """Return the levels of an extended column, reusing those of its existing rows."""
        found, known = Levels(), len(self.rows)
        found.rows, size, lows, highs = rows, 1, rows, rows
        while len(lows) > BLOCKS_MERGED:
            k = len(found._levels)
            factor = FINEST if k == 0 else FACTOR
            size *= factor
            old = self._levels[k] if k < len(self._levels) else (rows[:0], rows[:0])
            whole = min(known // size, len(old[0]))
            lows = np.concatenate([old[0][:whole], _block_values(np.fmin, lows, factor, whole)])
            highs = np.concatenate([old[1][:whole], _block_values(np.fmax, highs, factor, whole)])
            found._levels.append((lows, highs))
        return found

    @property
    def extent(self) -> tuple[float, float] | None:
        """Return the smallest and largest finite number; None if there are none."""
        lows, highs = self._levels[-1] if self._levels else (self.rows, self.rows)
        ends = np.concatenate([lows, highs])
        if np.isinf(ends).any():  # a block with one may have others
            ends = self.rows
        finite = ends[np.isfinite(ends)]
        return (float(finite.min()), float(finite.max())) if len(finite) else None

    def seen(self, first: int, last: int, count: int) -> tuple[NDArray[np.intp], Array, Array]:
        """Return about `count` blocks, at most twice as many, that cover the samples from first to last (excluded):
        middle sample, minimum and maximum of each. Block limits do not depend on `first`."""
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


def _block_values(ufunc: np.ufunc, rows: Array, size: int, first: int) -> Array:
    """Return a number for each block of `size` rows, starting from block `first`."""
    parts = [
        ufunc.reduceat(part, np.arange(0, len(part), size))
        for begin in range(first * size, len(rows), BLOCK)
        if len(part := rows[begin : begin + BLOCK])
    ]
    return np.concatenate(parts) if parts else rows[:0]


Factors = tuple[float, float]
TIMES = ("time", "t")
STORED = ("q", "v", "a", "tau")
"""Joint quantities that samples store."""


def column(run: Run, name: str) -> Array:
    """Return the values (n,) of a scalar channel, a component of a channel, or a formula, SI; state indices for a state
    channel.

    Raises KinetostatError for what the run does not have.
    """
    channel, component = base(run, name)
    if words_of(run, name):
        return run.computed_channels.modes.codes(name.removesuffix(".mode")).astype(float)
    values = run[channel] if channel in run.channels else run[name]
    if values.ndim == 1:
        return values
    flat = values.reshape(len(values), -1)
    suffixes = run.computed_channels.components(channel, flat.shape[1])
    if component in suffixes:
        return flat[:, suffixes.index(component)]
    return run[name] if component else flat[:, 0]


def words_of(run: Run, name: str) -> tuple[str, ...]:
    """Return the state names of a state channel; () for a numeric one."""
    return run.computed_channels.modes.word_channels.get(name, ())


def expanded(run: Run, name: str) -> tuple[str, ...]:
    """Return the scalar names that a name stands for. Raises KinetostatError for a name that the run does not have."""
    if name not in run.channels:
        return (name,)
    return tuple(f"{name}.{suffix}" for suffix in suffixes(run.computed_channels, name)) or (name,)


def is_stored(run: Run, name: str) -> bool:
    """Return True if the run's samples store a channel, so that it need not be computed."""
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
    """Return True if a run is another one with samples appended."""
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


def first_sample(run: Run) -> Run:
    """Return the run's first sample only, enough to check which formulas are valid, however long the run is."""
    return part(run, slice(0, 1))


class Column(NamedTuple):
    """A scalar channel of a run, SI; `rows` (n,) is the used part of `memory`, which has room to grow."""

    run: Run
    memory: GrowingRows
    rows: Array


class ShownNumbers(NamedTuple):
    """Numbers of a curve in display units; `levels` of y for a long curve with increasing x."""

    x: Array
    y: Array
    levels: Levels | None


class CurveColumns(NamedTuple):
    """Data of a curve: two columns of a run; for a long one also in display units, with SI units per display unit of x
    and y in `factors`."""

    run: Run
    x: Column
    y: Column
    factors: Factors = (1.0, 1.0)
    shown: ShownNumbers | None = None


class BackgroundDesk(Protocol):
    """Protocol of a background worker that keeps the newest request for each key."""

    def want(self, key: Hashable, work: Callable[[], object]) -> None: ...


class Series:
    """The requested columns of all records.

    What has to be computed (what few samples hold themselves has not) is left to a desk if there is one; until it is
    done, there is what was computed before.
    """

    def __init__(self, desk: BackgroundDesk | None = None) -> None:
        self._desk = desk
        self._columns: dict[tuple[int, str], Column] = {}
        self._pairs: dict[tuple[int, str, str], tuple[Run, CurveColumns | None]] = {}
        self._problems: dict[tuple[int, str, str], Exception] = {}
        self._scaled: dict[tuple[int, str], tuple[Column, float, GrowingRows]] = {}
        self._levels: dict[tuple[int, str], tuple[Run, float, Levels]] = {}
        self._measures: dict[tuple[int, str], tuple[Mechanism, Measure]] = {}
        self._voids: dict[tuple[int, str], tuple[Run, str]] = {}

    def pair(self, record: Record, x: str, y: str, factors: Factors = (1.0, 1.0)) -> tuple[CurveColumns | None, bool]:
        """Return the data of one channel of a record against another, None if unavailable (yet), and whether newer data
        will follow."""
        run, key = record.run, (record.id, x, y)
        of, found = self._pairs.get(key, (None, None))
        if found is not None and found.shown is not None and found.factors != factors:
            of = found = None  # in other units
        if of is run:
            return found, False
        at_once = len(run.time) <= LONG_COLUMN and is_stored(run, x) and is_stored(run, y)
        if self._desk is None or at_once:
            return self._compute_pair(run, key, factors), False
        self._desk.want(key, lambda: self._compute_pair(run, key, factors))
        return found, True

    def _compute_pair(self, run: Run, key: tuple[int, str, str], factors: Factors) -> CurveColumns | None:
        """Compute a pair, in any thread."""
        number, x, y = key
        of, pair = self._pairs.get(key, (None, None))
        if of is not run or (pair is not None and pair.factors != factors):  # not wanted twice
            try:
                pair = CurveColumns(run, self._column(run, (number, x)), self._column(run, (number, y)), factors)
                if len(run.time) > LONG_COLUMN:
                    pair = pair._replace(shown=self.shown(number, pair, x, y, factors))
            except (KinetostatError, KeyError, ValueError) as error:
                pair = None
                self._problems[key] = error
            self._pairs[key] = run, pair
        return pair

    def void(self, record: Record, pair: CurveColumns, x: str, y: str) -> str:
        """Return why a curve has no point to draw, namely a column without a finite number; '' if both have some."""
        for name, rows in ((y, pair.y.rows), (x, pair.x.rows)):
            if len(rows) and not np.isfinite(rows[0]) and not np.isfinite(rows).any():
                of, words = self._voids.get((record.id, name), (None, ""))
                if of is not pair.run:
                    words = explain_undefined(pair.run, name)
                    self._voids[record.id, name] = pair.run, words
                return words
        return ""

    def problem(self, record: Record, x: str, y: str) -> str | None:
        """Return why a pair is unavailable; '' if it is available, None while that is unknown."""
        key = record.id, x, y
        of, pair = self._pairs.get(key, (None, None))
        if of is not record.run:
            return None
        return str(self._problems.get(key, "")) if pair is None else ""

    def _column(self, run: Run, key: tuple[int, str]) -> Column:
        before = self._columns.get(key)
        if before is not None and before.run is run:
            return before
        if before is None or is_stored(run, key[1]) or needs_whole_run(key[1]) or not is_extension_of(run, before.run):
            memory = GrowingRows(column(run, key[1]))
        else:
            memory, known = before.memory, len(before.rows)
            if known < len(run.time):
                later = column(part(run, slice(known - 1, None)), key[1])
                memory.extend(continued(before.rows[-1], later)[1:])
        found = self._columns[key] = Column(run, memory, memory.rows)
        return found

    def measure(self, record: Record, name: str) -> Measure:
        """Return the physical dimension of a channel."""
        key, mech = (record.id, name), record.run.mech
        before = self._measures.get(key)
        if before is None or before[0] is not mech:
            before = self._measures[key] = mech, measure(record.run, name)
        return before[1]

    def shown(self, number: int, pair: CurveColumns, x: str, y: str, factors: Factors) -> ShownNumbers:
        """Return the numbers of a pair divided by the given factors; the same arrays while nothing changes."""
        across, up = (
            self._scaled_column((number, x), pair.x, factors[0]),
            self._scaled_column((number, y), pair.y, factors[1]),
        )
        if len(up) <= LONG_COLUMN or not (x in TIMES or _is_increasing(across)):
            return ShownNumbers(across, up, None)
        run, factor, levels = self._levels.get((number, y), (None, 0.0, Levels()))
        known = run is not None and factor == factors[1] and is_extension_of(pair.run, run)
        levels = (levels if known else Levels()).grown(up)
        self._levels[number, y] = pair.run, factors[1], levels
        return ShownNumbers(across, up, levels)

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
        for rows in blocks(values.rows[len(scaled.rows) :]):
            scaled.extend(rows / factor)
        self._scaled[key] = values, factor, scaled
        return scaled.rows[: len(values.rows)] if len(scaled.rows) > len(values.rows) else scaled.rows

    def keep(self, ids: set[int]) -> None:
        """Drop the columns of all other records."""
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
                if key[0] not in ids:
                    one.pop(key, None)

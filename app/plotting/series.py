"""Columns of numbers for plots: what was computed before a run grew is not computed again. Knows no Qt."""

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
from core.simulation.run.growing_rows import GrowingRows
from core.simulation.run.growing_run import part
from core.simulation.run.run import Run
from core.simulation.run.undefined_values import undefined_words

Array = NDArray[np.float64]
STORED = ("q", "v", "a", "tau")
"""Quantities of joints that samples hold."""


def column(run: Run, name: str) -> Array:
    """(n,) a channel of one component, a component of a channel, or a formula; SI.

    Raises KinetostatError for what the run does not have.
    """
    channel, component = base(run, name)
    values = run[channel] if channel in run.channels else run[name]
    if values.ndim == 1:
        return values
    flat = values.reshape(len(values), -1)
    suffixes = run.computed_channels.components(channel, flat.shape[1])
    if component in suffixes:
        return flat[:, suffixes.index(component)]
    return run[name] if component else flat[:, 0]


def expanded(run: Run, name: str) -> tuple[str, ...]:
    """The names of one component that a name stands for. Raises KinetostatError for what the run does not have."""
    if name not in run.channels:
        return (name,)
    return tuple(f"{name}.{suffix}" for suffix in suffixes(run.computed_channels, name)) or (name,)


def is_stored(run: Run, name: str) -> bool:
    """Whether the samples of a run hold a channel, so that it has not to be computed."""
    if name in ("time", "t"):
        return True
    mech = run.mech
    for channel in (name, name.rpartition(".")[0]):  # without and with a component
        owner, _, what = channel.rpartition(".")
        if what in STORED:
            computed = closes_loop(mech.compiled, owner) or (what == "tau" and bool(mech.model.expanded.drivers))
            return owner in mech.joint_names and not computed
    return False


def grown_from(new: Run, old: Run) -> bool:
    """Whether a run is another one with more samples at its end."""
    m = len(old.time)
    return (
        0 < m <= len(new.time)
        and new.mech is old.mech
        and (new.settings is old.settings or new.settings == old.settings)
        and new.time[m - 1] == old.time[-1]
        and np.array_equal(new.q[m - 1], old.q[-1])
        and np.array_equal(new.v[0], old.v[0])
    )


def moment(run: Run) -> Run:
    """Its first sample: tells which formulas a run knows, however long it is."""
    return part(run, slice(0, 1))


class Column(NamedTuple):
    """A channel of one component of a run, SI; `rows` (n,) is the start of what `memory` will hold as it grows."""

    run: Run
    memory: GrowingRows
    rows: Array


class Pair(NamedTuple):
    """The numbers of a curve: two columns of a run."""

    run: Run
    x: Column
    y: Column


class Desk(Protocol):
    """Takes work to be done beside the window: the newest for each key."""

    def want(self, key: Hashable, work: Callable[[], object]) -> None: ...


class Series:
    """The columns of all records that are asked for.

    What has to be computed (what the samples hold themselves has not) is left to a desk if there is one; until it is
    done, there is what was computed before.
    """

    def __init__(self, desk: Desk | None = None) -> None:
        self._desk = desk
        self._columns: dict[tuple[int, str], Column] = {}
        self._pairs: dict[tuple[int, str, str], tuple[Run, Pair | None]] = {}
        self._problems: dict[tuple[int, str, str], Exception] = {}
        self._scaled: dict[tuple[int, str], tuple[Column, float, GrowingRows]] = {}
        self._measures: dict[tuple[int, str], tuple[Mechanism, Measure]] = {}
        self._voids: dict[tuple[int, str], tuple[Run, str]] = {}

    def pair(self, record: Record, x: str, y: str) -> tuple[Pair | None, bool]:
        """The numbers of one channel of a record against another; None if there are none (yet). And whether newer
        ones will come."""
        run, key = record.run, (record.id, x, y)
        of, found = self._pairs.get(key, (None, None))
        if of is run:
            return found, False
        if self._desk is None or (is_stored(run, x) and is_stored(run, y)):
            return self._find(run, key), False
        self._desk.want(key, lambda: self._find(run, key))
        return found, True

    def _find(self, run: Run, key: tuple[int, str, str]) -> Pair | None:
        """Compute a pair, in whichever thread."""
        number, x, y = key
        of, pair = self._pairs.get(key, (None, None))
        if of is not run:  # not wanted twice
            try:
                pair = Pair(run, self._column(run, (number, x)), self._column(run, (number, y)))
            except (KinetostatError, KeyError, ValueError) as error:
                pair = None
                self._problems[key] = error
            self._pairs[key] = run, pair
        return pair

    def void(self, record: Record, pair: Pair, x: str, y: str) -> str:
        """Why a curve has no point to draw: a column without a finite number; '' if both have some."""
        for name, rows in ((y, pair.y.rows), (x, pair.x.rows)):
            if len(rows) and not np.isfinite(rows[0]) and not np.isfinite(rows).any():
                of, words = self._voids.get((record.id, name), (None, ""))
                if of is not pair.run:
                    words = undefined_words(pair.run, name)
                    self._voids[record.id, name] = pair.run, words
                return words
        return ""

    def problem(self, record: Record, x: str, y: str) -> str | None:
        """Why there is no such pair; '' if there is one, None while that is not known."""
        key = record.id, x, y
        of, pair = self._pairs.get(key, (None, None))
        if of is not record.run:
            return None
        return str(self._problems.get(key, "")) if pair is None else ""

    def _column(self, run: Run, key: tuple[int, str]) -> Column:
        before = self._columns.get(key)
        if before is not None and before.run is run:
            return before
        if before is None or is_stored(run, key[1]) or not grown_from(run, before.run):
            memory = GrowingRows(column(run, key[1]))
        else:
            memory, known = before.memory, len(before.rows)
            if known < len(run.time):
                memory.extend(column(part(run, slice(known, None)), key[1]))
        found = self._columns[key] = Column(run, memory, memory.rows)
        return found

    def measure(self, record: Record, name: str) -> Measure:
        """What the numbers of a channel measure."""
        key, mech = (record.id, name), record.run.mech
        before = self._measures.get(key)
        if before is None or before[0] is not mech:
            before = self._measures[key] = mech, measure(record.run, name)
        return before[1]

    def shown(self, record: Record, name: str, values: Column, factor: float) -> Array:
        """(n,) a column in a unit of so many SI units; the same array as long as nothing changes."""
        if factor == 1.0:
            return values.rows
        key = record.id, name
        of, scale, scaled = self._scaled.get(key, (None, 0.0, None))
        if of is None or scaled is None or of.memory is not values.memory or scale != factor:
            scaled = GrowingRows(values.rows / factor)
        elif len(scaled.rows) < len(values.rows):
            scaled.extend(values.rows[len(scaled.rows) :] / factor)
        self._scaled[key] = values, factor, scaled
        return scaled.rows[: len(values.rows)] if len(scaled.rows) > len(values.rows) else scaled.rows

    def keep(self, ids: set[int]) -> None:
        """Forget the columns of other records."""
        kept: tuple[dict[Any, Any], ...] = (
            self._columns,
            self._pairs,
            self._problems,
            self._scaled,
            self._measures,
            self._voids,
        )
        for one in kept:
            for key in list(one):
                if key[0] not in ids:
                    one.pop(key, None)

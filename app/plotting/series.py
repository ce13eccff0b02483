"""Columns of numbers for plots: what was computed before a run grew is not computed again. Knows no Qt."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.growing import GrowingArray
from app.plotting.channels import base, components, measure
from app.runs import Record
from app.widgets.quantity_text import Measure
from core.errors import KinetostatError
from core.kernel import Mechanism
from core.simulation.run import Run

Array = NDArray[np.float64]


def column(run: Run, name: str) -> Array:
    """(n,) a channel of one component, a component of a channel, or a formula; SI.

    Raises KinetostatError for what the run does not have.
    """
    channel, component = base(run, name)
    values = run[channel] if channel in run.channels else run[name]
    if values.ndim == 1:
        return values
    flat = values.reshape(len(values), -1)
    suffixes = run._channels.components(channel, flat.shape[1])
    return flat[:, suffixes.index(component)] if component in suffixes else flat[:, 0]


def expanded(run: Run, name: str) -> tuple[str, ...]:
    """The names of one component that a name stands for. Raises KinetostatError for what the run does not have."""
    return components(run, name) if name in run.channels else (name,)


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


def part(run: Run, start: int) -> Run:
    """The run from a sample on."""
    count = len(run.time)
    cut: dict[str, Any] = {
        field.name: values[start:]
        for field in dataclasses.fields(run)
        if isinstance(values := getattr(run, field.name), np.ndarray) and len(values) == count
    }
    return dataclasses.replace(run, **cut)


class Series:
    """The columns of all records that are asked for."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], tuple[Run, GrowingArray]] = {}
        self._scaled: dict[tuple[int, str], tuple[GrowingArray, float, GrowingArray]] = {}
        self._measures: dict[tuple[int, str], tuple[Mechanism, Measure]] = {}

    def column(self, record: Record, name: str) -> Array | None:
        """(n,) a channel of a record's run, SI; None if the run has no such channel."""
        kept = self._column(record, name)
        return kept.rows if kept is not None else None

    def _column(self, record: Record, name: str) -> GrowingArray | None:
        run, key = record.run, (record.id, name)
        before = self._kept.get(key)
        if before is not None and before[0] is run:
            return before[1]
        try:
            values = self._computed(run, name, before)
        except (KinetostatError, KeyError, ValueError):
            self._kept.pop(key, None)
            return None
        self._kept[key] = run, values
        return values

    def measure(self, record: Record, name: str) -> Measure:
        """What the numbers of a channel measure."""
        key, mech = (record.id, name), record.run.mech
        before = self._measures.get(key)
        if before is None or before[0] is not mech:
            before = self._measures[key] = mech, measure(record.run, name)
        return before[1]

    def shown(self, record: Record, name: str, factor: float) -> Array | None:
        """(n,) a channel in a unit of so many SI units; the same array as long as nothing changes."""
        values, key = self._column(record, name), (record.id, name)
        if values is None or factor == 1.0:
            return values.rows if values is not None else None
        before = self._scaled.get(key)
        if before is None or before[0] is not values or before[1] != factor:
            before = self._scaled[key] = values, factor, GrowingArray(values.rows / factor)
        return before[2].extend(values.rows[len(before[2].rows) :] / factor)

    def _computed(self, run: Run, name: str, before: tuple[Run, GrowingArray] | None) -> GrowingArray:
        if before is None or not grown_from(run, before[0]):
            return GrowingArray(column(run, name))
        known = len(before[0].time)
        if known < len(run.time):
            before[1].extend(column(part(run, known), name))
        return before[1]

    def keep(self, ids: set[int]) -> None:
        """Forget the columns of other records."""
        self._kept = {key: value for key, value in self._kept.items() if key[0] in ids}
        self._scaled = {key: value for key, value in self._scaled.items() if key[0] in ids}
        self._measures = {key: value for key, value in self._measures.items() if key[0] in ids}

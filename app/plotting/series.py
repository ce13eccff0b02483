"""Columns of numbers for plots: what was computed before a run grew is not computed again. Knows no Qt."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.plotting.channels import base, components
from app.runs import Record
from core.errors import KinetostatError
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
        self._kept: dict[tuple[int, str], tuple[Run, Array]] = {}

    def column(self, record: Record, name: str) -> Array | None:
        """(n,) a channel of a record's run, SI; None if the run has no such channel."""
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

    def _computed(self, run: Run, name: str, before: tuple[Run, Array] | None) -> Array:
        if before is None or not grown_from(run, before[0]):
            return column(run, name)
        known = len(before[0].time)
        if known == len(run.time):
            return before[1]
        return np.concatenate([before[1], column(part(run, known), name)])

    def keep(self, ids: set[int]) -> None:
        """Forget the columns of other records."""
        self._kept = {key: value for key, value in self._kept.items() if key[0] in ids}

"""Channels of long runs, block by block: what is computed on the way then takes little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.later import dataclass
from core.simulation.run.growing_rows import BLOCK, Array, gathered


@dataclass(frozen=True, eq=False)
class Samples:
    """States along a time axis."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array

    @classmethod
    def of(cls, samples: Any, rows: slice) -> Samples:
        """Some samples of others; states of force elements only if they were kept."""
        kept = len(samples.x) == len(samples.time)
        time, q, v, a, tau, modes = (getattr(samples, name)[rows] for name in ("time", "q", "v", "a", "tau", "modes"))
        return cls(time, q, v, a, tau, samples.x[rows] if kept else samples.x, modes)


def in_blocks(samples: Any, compute: Callable[[Samples], Array]) -> Array:
    """(n, …) what is computed of samples, as if of all at once."""
    return gathered(_computed(samples, compute))


def _computed(samples: Any, compute: Callable[[Samples], Array]) -> Iterator[Array]:
    last: Array | None = None
    for first in range(0, len(samples.time), BLOCK):
        rows = slice(first if last is None else first - 1, first + BLOCK)
        values = np.array(compute(Samples.of(samples, rows)), dtype=float)
        values = values if last is None else continued(last, values)[1:]
        last = values[-1]
        yield values


def continued(last: Array, values: Array) -> Array:
    """Values (n, …) that begin with a sample of which `last` (…) was computed before: whole turns, and signs of
    quaternions, go on from there, where each part knows them from its own beginning only."""
    turns = np.nan_to_num(np.round((last - values[0]) / (2.0 * np.pi)))
    if np.any(turns):
        return np.asarray(values + 2.0 * np.pi * turns)
    turned = np.allclose(last, -values[0]) and not np.allclose(last, values[0])
    return -values if turned else values

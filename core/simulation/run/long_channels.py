"""Computes channels of long runs block by block, so that intermediate results take little memory."""

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
        """Return some of the samples; states of force elements only if they were recorded."""
        kept = len(samples.x) == len(samples.time)
        time, q, v, a, tau, modes = (getattr(samples, name)[rows] for name in ("time", "q", "v", "a", "tau", "modes"))
        return cls(time, q, v, a, tau, samples.x[rows] if kept else samples.x, modes)


def in_blocks(samples: Any, compute: Callable[[Samples], Array]) -> Array:
    """Compute a quantity (n, …) of all samples block by block."""
    return gathered(_computed_blocks(samples, compute))


def _computed_blocks(samples: Any, compute: Callable[[Samples], Array]) -> Iterator[Array]:
    last: Array | None = None
    for first in range(0, len(samples.time), BLOCK):
        rows = slice(first if last is None else first - 1, first + BLOCK)
        values = np.array(compute(Samples.of(samples, rows)), dtype=float)
        values = values if last is None else continued(last, values)[1:]
        last = values[-1]
        yield values


def continued(last: Array, values: Array) -> Array:
    """Continue values (n, …) from the previous block, of which `last` (…) is the final sample: whole turns and
    quaternion signs are carried over, since each block knows only its own."""
    turns = np.nan_to_num(np.round((last - values[0]) / (2.0 * np.pi)))
    if np.any(turns):
        return np.asarray(values + 2.0 * np.pi * turns)
    turned = np.allclose(last, -values[0]) and not np.allclose(last, values[0])
    return -values if turned else values

"""Processor time: interleaved repeats in one process, so that a busy moment of the machine hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

REPEATS = 7
SHORTEST = 0.02
"""Seconds that one repeat lasts at least."""


class Time(NamedTuple):
    """Seconds per call: the least of the repeats, and their median."""

    least: float
    median: float


def together(calls: Mapping[str, Callable[[], Any]], repeats: int = REPEATS) -> dict[str, Time]:
    """Time each call, taking turns."""
    counts = {name: _count(call) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            samples[name].append(spent(call, counts[name]) / counts[name])
    return {name: Time(min(times), statistics.median(times)) for name, times in samples.items()}


def spent(call: Callable[[], Any], count: int) -> float:
    """Processor seconds of so many calls; a call that works in another process tells them itself (`seconds`)."""
    elsewhere: Callable[[int], float] | None = getattr(call, "seconds", None)
    if elsewhere is not None:
        return elsewhere(count)
    started = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - started


def _count(call: Callable[[], Any]) -> int:
    """Calls that take about `SHORTEST`."""
    call()
    count = 1
    while True:
        lasted = spent(call, count)
        if lasted > SHORTEST / 4:
            return max(1, int(count * SHORTEST / lasted))
        count *= 4


def once(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


MOST, SOME, ENOUGH = 25, 0.1, 0.3
"""Repeats after which there are no more, but for so many seconds; seconds after which there are none in any case."""
Result = tuple[float, Any]
"""Processor seconds; (nv,) or (nq,) coordinates at the end."""


def processor_time(work: Callable[[], Any]) -> Result:
    """Least processor time of some repeats, and what the work gives."""

    def one() -> Result:
        began = time.process_time()
        found = work()
        return time.process_time() - began, found

    return least(one)


def least(work: Callable[[], Result]) -> Result:
    """The quickest of `MOST` repeats, of more where they are short, or of as many as fit into `ENOUGH`: a busy moment
    may not decide."""
    best = work()
    count, spent = 1, best[0]
    while spent < (ENOUGH if count < MOST else SOME):
        other = work()
        count, spent, best = count + 1, spent + other[0], min(best, other, key=lambda result: result[0])
    return best

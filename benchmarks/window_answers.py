"""The window's thread while functions work beside it: turns of its event loop, and how soon Stop answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.watch import PATIENCE, Cost, Watch, ended, opened, turn

if TYPE_CHECKING:
    from app.window.window import Window

Rows = Iterator[tuple[str, Cost]]

ASKED = {
    "puma560": ("linear_system", "run_derivatives", "excitation"),
    "stewart": ("trim", "root_locus", "write_c_code"),
    "jansen_leg": ("loop_symbols", "optimise"),
}
"""Machines, and functions that take a while on them."""
BEFORE_STOP = 0.5
"""Seconds for which a function works before it is stopped."""


def answers() -> Rows:
    """Functions run with their defaults in the panel of functions, to their end; then again, and stopped."""
    for name, functions in ASKED.items():
        window = opened(name)
        turn(1.5)
        watch = Watch(window)
        for function in functions:
            window.panels.open_function(function)
            asked = _Asked(window)
            yield f"{function} of {name}", watch.step(asked.run, lambda asked=asked: asked.over, 1.0)  # type: ignore[misc]
            yield f"  stopped, {function} of {name}: until it ends", _stopped(window)
        ended(window)


class _Asked:
    """A run of the function that is chosen in the panel."""

    def __init__(self, window: Window) -> None:
        self.window, self.over = window, False

    def run(self) -> None:
        job = self.window.functions.run()
        assert job is not None, "the form has a problem"
        job.ended.connect(lambda: setattr(self, "over", True))


def _stopped(window: Window) -> Cost:
    """Milliseconds of wall time from Stop to the end; 0 where it ended before."""
    asked = _Asked(window)
    asked.run()
    turn(BEFORE_STOP)
    if asked.over:
        return Cost()
    window.functions.stop()
    begun = time.perf_counter()
    while not asked.over and time.perf_counter() < begun + PATIENCE:
        turn(0.001)
    return Cost(longest_wall=1e3 * (time.perf_counter() - begun))

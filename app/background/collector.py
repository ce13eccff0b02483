"""Cyclic garbage is collected in the window's thread only.

Python collects cycles in whichever thread happens to allocate. A cycle that holds a Qt object must not be destroyed in
a compiler's or a job's thread: Qt crashes. So automatic collection is off while a window lives, and a timer collects.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

PAUSE = 400
"""Milliseconds between two looks at the garbage."""


def keep_what_is_there() -> None:
    """Never look again through what exists now. Called when the window has been made: modules and window are most of
    all there is and stay until the end, and a look through them takes a tenth of a second."""
    gc.freeze()


def collect_due() -> int:
    """Collect as Python would, by its own thresholds. Returns the oldest generation collected, −1 if none."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return generation
    return -1


class Collector(QObject):
    """Collects in the thread in which it was made, until it is closed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(collect_due)
        self._timer.start()

    def close(self) -> None:
        """Leave collection to Python again."""
        self._timer.stop()
        if self._was_on:
            gc.enable()

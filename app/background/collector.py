"""Collect cyclic garbage in the window's thread only.

Python collects cycles in whichever thread happens to allocate. A cycle that holds a Qt object must not be destroyed in
a compiler's or a job's thread: Qt crashes. So automatic collection is off while a window lives, and a timer collects.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

PAUSE = 400
"""Milliseconds between two checks for garbage."""


def freeze_existing_objects() -> None:
    """Exclude all existing objects from garbage collection. Called once the window exists: its modules and widgets are
    most of all objects and live until the end, and scanning them takes a tenth of a second."""
    gc.freeze()


def collect_due() -> int:
    """Collect garbage by Python's own thresholds. Returns the oldest generation collected, −1 if none."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return generation
    return -1


class Collector(QObject):
    """Collects garbage in the thread that created this object, until it is closed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(collect_due)
        self._timer.start()

    def close(self) -> None:
        """Leave garbage collection to Python again."""
        self._timer.stop()
        if self._was_on:
            gc.enable()

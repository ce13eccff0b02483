"""Ctrl+C while a command computes: what there is until then is kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from app.cli.saying import say

STOPPED = 130
"""Exit code of a command that was ended by Ctrl+C, as shells have it."""


class Interruption:
    """Inside of it Ctrl+C asks to end (`asked`); a second one, or one before anything has `begun`, ends at once."""

    def __init__(self) -> None:
        self.asked = self.begun = self._told = False
        self._hears = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interruption:
        if self._hears:
            self._before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        if self._hears:
            signal.signal(signal.SIGINT, self._before)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked or not self.begun:
            raise KeyboardInterrupt
        self.asked = True

    def noticed(self) -> bool:
        """Whether to end now, for who computes; the first time it is said. The signal itself may come in the middle of
        other words, and says nothing."""
        if self.asked and not self._told:
            self._told = True
            say("\nStopping. Ctrl+C again ends at once and drops what is not written.", err=True)
        return self.asked

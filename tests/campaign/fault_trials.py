"""Trials that do what none may do: the campaign itself is tried with them."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path


class FaultTrials:
    """One fault after another, then none."""

    patience = 6.0

    def __init__(self, folder: Path) -> None:
        self.held: list[bytes] = []

    def trial(self, luck: random.Random, folder: Path) -> str:
        """The fault whose number the folder has."""
        match int(folder.name):
            case 0:
                raise ZeroDivisionError("a fault")
            case 1:
                os.kill(os.getpid(), signal.SIGSEGV)
            case 2:
                time.sleep(60.0)
            case 3:
                print("noise", file=sys.stderr, flush=True)
            case 4:
                warnings.warn("a fault", RuntimeWarning, stacklevel=1)
            case 5:
                self.held.append(b"x" * (700 << 20))
        return "well"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = FaultTrials

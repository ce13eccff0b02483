"""The integrators' machine code ahead of the first run: its stages, and whether this machine has gone through them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path

import llvmlite.binding as llvm
import numba

from core.codegen import object_cache
from core.numerics import tolerances
from core.simulation.simulator import warm_up, warm_up_loops

POLITENESS = 5
"""Added to the niceness of the process that makes machine code once what most runs need is there."""


def usual() -> None:
    """The methods that most runs take."""
    warm_up()


def loops() -> None:
    """What machines with loops need besides."""
    warm_up_loops()


def stiff() -> None:
    """The stiff method."""
    warm_up(("radau",))


STAGES: Mapping[str, Callable[[], None]] = {"usual": usual, "loops": loops, "stiff": stiff}
"""In this order, a fifth, a third and a half of the work."""


def mark() -> Path | None:
    """A file that is there once all stages were made here, of these texts for this processor; None: nothing is kept."""
    place = object_cache.folder()
    if place is None:
        return None
    rooms = Path(__file__).parent, Path(tolerances.__file__).parent
    texts = b"".join(path.read_bytes() for room in rooms for path in sorted(room.rglob("*.py")))
    name = f"{numba.__version__}\n{llvm.get_host_cpu_name()}\n".encode() + texts
    return place / f"integrators-{hashlib.sha256(name).hexdigest()[:16]}"


def make(wire: Connection, stages: tuple[Callable[[], None], ...]) -> None:
    """In a process of its own: go through the stages, and tell after each of them."""
    with contextlib.suppress(OSError):  # who listened is gone
        for k, stage in enumerate(stages):
            if k == 1 and hasattr(os, "nice"):
                os.nice(POLITENESS)
            stage()
            wire.send(None)
    wire.close()

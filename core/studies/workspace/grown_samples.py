"""Samples of a map and their values, added round by round; after each round they make a coarser map."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.studies.workspace.map_kinds import Values, Wanted
from core.studies.workspace.map_samples import pieces_of, rounds
from core.studies.workspace.map_task import ASKING, Samples, Stopped, Task
from core.studies.workspace.motion_of_frame import SETTING_OUT, wanted_of

Array = NDArray[np.float64]

LEAST_PAUSE = 0.15
"""Shortest interval between two intermediate maps, s."""


class Valued(NamedTuple):
    """Samples of a piece with their values (n,)."""

    samples: Samples
    values: Array


class GrownSamples:
    """Samples of a task gathered so far."""

    def __init__(self, task: Task, share: float) -> None:
        """Start without samples. share : fraction of the whole work that sampling takes."""
        self.task, self._share = task, share
        self.wanted: Wanted | None = None
        self.unit = ""
        self._compute: Values | None = None
        self._parts: list[Valued] = []
        self._taken = 0
        self._shown = time.perf_counter()

    def grow(self, shown: Callable[[], object]) -> bool:
        """Run all rounds; return True if stopped. shown() is called after some rounds, and after the last."""
        task, watch = self.task, self.task.watch
        machine = task.machine
        known = [task.start[None]]
        machine.mech.compiled.compile("poses", f"jacobian:{machine.frame}")
        try:
            for pieces in rounds(task.samples):
                for (_, count), part in zip(pieces, pieces_of(task, pieces, known, self._with_values), strict=False):
                    self._parts.append(part)
                    self._taken += count
                    watch.step(self._share * self._taken / task.samples, "Poses")
                self._update_dimension()
                if self._parts and self._picture_due:
                    shown()
                    self._shown = time.perf_counter()
        except Stopped:
            self._update_dimension()
            return True
        return False

    @property
    def _picture_due(self) -> bool:
        return self._taken == self.task.samples or time.perf_counter() - self._shown > LEAST_PAUSE

    @property
    def samples(self) -> Samples:
        """All samples so far."""
        nq = self.task.machine.mech.nq
        q = [np.zeros((0, nq)), *(each.samples.q for each in self._parts)]
        return Samples(
            np.concatenate(q), np.concatenate([np.zeros((0, 3)), *(each.samples.points for each in self._parts)])
        )

    @property
    def values(self) -> Array:
        """Values (n,) of all samples so far."""
        return np.concatenate([np.zeros(0), *(each.values for each in self._parts)])

    def values_of(self, q: Array) -> Array:
        """Compute the values (n,) of poses (n, nq)."""
        assert self._compute is not None
        return self._compute(q)

    # ------------------------------------------------------------------------------ how the frame moves

    def _with_values(self, found: Samples) -> Valued:
        """Add values to samples, once the measured quantity is determined."""
        if self._compute is None:
            return Valued(found, np.full(len(found.q), np.nan))
        return Valued(found, self._compute(found.q))

    def _update_dimension(self) -> None:
        """Update the dimension of the frame's motion from the samples so far; it may grow with more samples."""
        found = self.samples
        if not len(found.q):
            return
        wanted = wanted_of(self.task, found.q[:: max(len(found.q) // SETTING_OUT, 1)], found)
        before, self.wanted = self.wanted, wanted
        alike = before is not None and (before.m, before.moves) == (wanted.m, wanted.moves)
        if self.task.name in ASKING or (alike and _same_plane(before, wanted)):
            return
        assert self.task.kind is not None
        self._compute, self.unit = self.task.kind.make(wanted)
        self._compute(found.q[:1])
        self.task.machine.mech.compiled.compile()
        self._parts = [Valued(each.samples, self._compute(each.samples.q)) for each in self._parts]


def _same_plane(before: Wanted | None, after: Wanted) -> bool:
    return before is not None and (before.normal is None) == (after.normal is None)

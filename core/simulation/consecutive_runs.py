"""A run computed in consecutive slices. The equations are prepared once, and integration continues as in a single run
until the state or the joint forces are changed from outside; it then restarts from the changed state."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from core.mechanism import Mechanism
from core.simulation import setup
from core.simulation.driver_jumps import refuse_jumps
from core.simulation.equations.joint_forces import Torque
from core.simulation.run.run import Run, Statistics
from core.simulation.setup import Array
from core.simulation.simulator import Job


class Slices:
    """Integrates a machine slice by slice from any state."""

    def __init__(
        self,
        mech: Mechanism,
        y: Array,
        h: float,
        *,
        torque: Torque,
        start: float,
        duration: float,
        closed_forms: bool | None,
        max_steps: int,
        **chosen: Any,
    ) -> None:
        """Prepare the equations. y (nq + nv + nx,): a state representative of those to come, at the time `start`; h:
        length of slices, s; duration: s, step sizes are chosen as in a run of this length; max_steps: step limit per
        slice; all else as for `setup.settings`.

        Raises KinetostatError if the settings or the machine do not fit.
        """
        whole = {**chosen, "output": None, "start": start, "torque": torque, "max_steps": max_steps}
        refuse_jumps(mech, setup.settings(mech, duration, **whole))
        self._chosen, self._duration = setup.settings(mech, h, **{**whole, "output": h}), duration
        self._job = Job(mech, self._chosen, y, torque, closed_forms)
        self._job.budget = max_steps
        self._last: Run | None = None
        """The slice before, if it ended well."""

    def go(self, y: Array, start: float, h: float, u: Array | None = None) -> Run:
        """Integrate from y = (q, v, x) for h seconds and return a run of two samples. Applies the torque given at
        construction or, instead, joint forces u (nv,) that are constant over the slice.

        y fulfils what holds the machine. Raises SimulationError when the motion cannot go on.
        """
        began, job = time.perf_counter(), self._job
        kept = self._last if u is None and self._continues(y, start, h) else None
        if kept is None:
            job.begin_anew(y, start)
            free = start + self._duration, self._chosen.step or self._duration
            job.state.end, job.state.limit = free if u is None else (start + h, h)
        if u is not None:
            job.equations.u[:] = u
        state, done = job.state, 0 if kept is None else 1
        before, used = (state.accepted, state.rejected, state.calls), job.cpu
        state.sample, state.part, state.most = done, 0, before[0] + before[1] + self._chosen.max_steps
        state.times[:] = start, start + h
        self._last = None
        pieces = [] if kept is None else [_last_sample(kept)]
        while done < 2:
            piece, happened = job.piece(done, 2 - done)
            error = None
            if job.watched:
                piece, error = job.agreeing_samples(piece)
            if error is None and happened:
                error = job.error(happened)
            if error is not None:
                raise error
            pieces.append(piece)
            state = job.state  # another one, where the machine proved stiff
            done = state.sample
        steps, rejected, calls = state.accepted - before[0], state.rejected - before[1], state.calls - before[2]
        seconds, cpu = time.perf_counter() - began, job.cpu - used
        costs = Statistics(steps, rejected, calls, seconds=seconds, cpu=cpu, notes=job.all_notes())
        self._last = _joined_runs(pieces, costs)
        return self._last

    def _continues(self, y: Array, start: float, h: float) -> bool:
        """Return True if the state was not changed since the previous slice, so that the integrator may continue."""
        last = self._last
        if last is None or last.time[-1] != start or start + h > self._job.state.end:
            return False
        return np.array_equal(np.concatenate([last.q[-1], last.v[-1], last.x[-1]]), y)


ARRAYS = ("time", "q", "v", "a", "tau", "x", "modes")


def _last_sample(run: Run) -> Run:
    """Return a run that holds the last sample only."""
    return replace(run, **{name: getattr(run, name)[-1:] for name in ARRAYS})


def _joined_runs(pieces: list[Run], statistics: Statistics) -> Run:
    arrays: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in ARRAYS}
    return replace(pieces[0], statistics=statistics, **arrays)

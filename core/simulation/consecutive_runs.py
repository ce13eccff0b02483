"""Short runs that follow one another: the equations are made ready once, then only state, time and joint forces change.

A slice gives what `simulate` gives over the same time, without finding the equations, taking memory, and closing loops
that are closed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from core.mechanism import Mechanism
from core.simulation import setup
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.run.run import Run
from core.simulation.setup import Array
from core.simulation.simulator import Job
from core.simulation.stepping.step_state import END, LIMIT, TIME


class Slices:
    """A machine that goes on from any state."""

    def __init__(
        self,
        mech: Mechanism,
        q: Array,
        v: Array,
        h: float,
        *,
        parameters: Mapping[str, float] | None = None,
        rtol: float,
        atol: float,
        max_steps: int,
    ) -> None:
        """q (nq,), v (nv,): a state like those to come; h: length, s; max_steps: in each slice.

        Raises KinetostatError if the state or the machine does not fit.
        """
        none = np.zeros(mech.nv)
        chosen = setup.settings(mech, h, "rk54", None, rtol, atol, h, 0.0, parameters, none, max_steps)
        p = mech.parameter_values(parameters)
        y = setup.start_state(mech, q, v, p)
        self._job = Job(mech, chosen, CompiledEquations(mech, none, p, y), y)
        self._numbers, self._counts = self._job.state.numbers.copy(), self._job.state.counts.copy()

    def go(self, y: Array, start: float, h: float, u: Array) -> Run:
        """From y = (q, v, x) for h seconds under joint forces u (nv,): a run of two samples.

        y fulfils what holds the machine. Raises SimulationError when the motion cannot go on.
        """
        began, job = time.perf_counter(), self._job
        state = job.state
        state.numbers[:], state.counts[:] = self._numbers, self._counts
        state.numbers[[TIME, END, LIMIT]] = start, start + h, h
        state.times[:] = start, start + h
        state.y[:] = state.new[:] = y
        job.equations.u[:] = u
        piece, happened = job.piece(0, 2)
        error = None
        if job.watched:
            piece, error = job.agreeing(piece)
        if error is None and happened:
            error = job.error(happened)
        if error is not None:
            raise error
        job.pieces, job.seconds = [piece], time.perf_counter() - began
        return job.run("")

"""The state of a run that begins: what the driver, the equations and the method put into it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.setup import Array, Settings
from core.simulation.stepping import event_location, sliding_modes
from core.simulation.stepping.step_state import StepState

LARGEST_PIECE = 20_000
"""Samples that are made at once."""


class Begun(NamedTuple):
    """A run about to begin."""

    state: StepState
    equations: CompiledEquations
    """Keeps the memory that addresses in `state` point to."""


def begun(equations: CompiledEquations, chosen: Settings, y: Array) -> Begun:
    """The state of a run that begins at y."""
    n, system, indicators = len(y), equations.system, equations.indicators
    rule = chosen.rule
    assert rule.begin is not None
    of_method = rule.begin(rule.begins_with or rule.id, n, equations)
    times = chosen.times()
    state = of_method(
        system=system.place,
        derivative=system.derivative,
        project=equations.project,
        switch_step=event_location.step_entry.address if indicators else 0,
        refused=event_location.refused_entry.address if indicators else 0,
        slide=sliding_modes.sliding_entry.address if indicators else 0,
        speeds=system.nq,
        most=chosen.max_steps,
        end=chosen.start + chosen.duration,
        limit=chosen.duration if chosen.step is None else chosen.step,
        rtol=chosen.rtol,
        atol=chosen.atol,
        stability=rule.stability,
        time=chosen.start,
        projected=equations.projected,
        y=y.copy(),
        new=y.copy(),
        failed=np.zeros(n),
        times=times,
        events=np.zeros((sliding_modes.ROWS if indicators else 0, indicators)),
        slid=np.full((min(len(times), LARGEST_PIECE), n) if indicators else (0, 0), np.nan),
    )
    return Begun(state, equations)

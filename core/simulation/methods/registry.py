"""What each method needs to begin: its entries, its coefficients, room."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from core.simulation.equations import entry_points
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.setup import Array, Settings
from core.simulation.stepping import event_location, sliding_modes
from core.simulation.stepping.step_state import (
    ATOL,
    COUNTS,
    DERIVATIVE,
    END,
    ERROR,
    JACOBIAN,
    LIMIT,
    MOST,
    NUMBERS,
    PROJECT,
    PROJECTED,
    REFUSED,
    RTOL,
    SELF,
    SHORTEST,
    SLIDE,
    SPEEDS,
    STABILITY,
    SWITCH_STEP,
    SYSTEM,
    TIME,
    StepState,
)
from core.traces.native_entry import ABSENT


class Begun(NamedTuple):
    """A run about to begin."""

    state: StepState
    equations: CompiledEquations
    """Keeps the memory that addresses in `state` point to."""


def begun(equations: CompiledEquations, chosen: Settings, y: Array) -> Begun:
    """The state of a run that begins at y."""
    n, longest = len(y), chosen.duration if chosen.step is None else chosen.step
    numbers, counts, addresses = np.zeros(NUMBERS), np.zeros(COUNTS, dtype=np.int64), np.zeros(11, dtype=np.int64)
    numbers[[TIME, ERROR, END, SHORTEST]] = chosen.start, 1e-4, chosen.start + chosen.duration, np.inf
    numbers[[RTOL, ATOL, LIMIT]] = chosen.rtol, chosen.atol, longest
    counts[[MOST, PROJECTED, SPEEDS]] = chosen.max_steps, equations.projected, equations.system.nq
    numbers[STABILITY] = chosen.rule.stability
    system = equations.system
    addresses[[SYSTEM, DERIVATIVE, PROJECT]] = system.place, system.derivative, equations.project
    method = import_module(f"{__package__}.{chosen.rule.module}")
    shapes = method.begin(chosen.rule.begins_with or chosen.method, n, addresses, counts)
    if chosen.rule.implicit:
        _jacobian(equations, n, addresses, counts)
    if equations.indicators:
        addresses[[SWITCH_STEP, REFUSED]] = event_location.step_entry.address, event_location.refused_entry.address
        addresses[SLIDE] = sliding_modes.sliding_entry.address
    events, times = np.zeros((sliding_modes.ROWS if equations.indicators else 0, equations.indicators)), chosen.times()
    slid = np.full((len(times), n) if equations.indicators else (0, 0), np.nan)
    k, A, rows, P, past, square, complexes, pivots = shapes
    state = StepState(
        addresses=addresses,
        numbers=numbers,
        counts=counts,
        y=y.copy(),
        new=y.copy(),
        failed=np.zeros(n),
        k=k,
        A=A,
        rows=rows,
        P=P,
        past=past,
        square=square,
        complexes=complexes,
        pivots=pivots,
        times=times,
        events=events,
        slid=slid,
    )
    addresses[SELF] = state.place
    return Begun(state, equations)


def _jacobian(equations: CompiledEquations, n: int, addresses: Any, counts: Any) -> None:
    """Exact where the machine's traces can be differentiated, otherwise by differences."""
    from core.simulation.methods import radau, stage_systems

    exact = equations.entries["slopes"].record[0] != ABSENT
    addresses[JACOBIAN] = (entry_points.exact_jacobian if exact else entry_points.differenced_jacobian).address
    counts[radau.COST] = 1 if exact else n + 1
    counts[stage_systems.HALVED] = 0 if len(equations.system.quaternions) else equations.system.nq

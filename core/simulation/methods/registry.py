"""What each method needs to begin: its entries, its coefficients, room."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.simulation.equations import entry_points
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.methods.tableaux import tableau
from core.simulation.setup import Array, Settings
from core.simulation.stepping import event_location, sliding_modes
from core.simulation.stepping.compilation import address
from core.simulation.stepping.step_state import (
    ATOL,
    COUNTS,
    DERIVATIVE,
    END,
    ERROR,
    IMPULSE,
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
    STAGES,
    STEP_OF,
    STEPS,
    SWITCH_STEP,
    SYSTEM,
    TIME,
    WITHIN_OF,
    StepState,
    stored,
)
from core.traces.native_entry import ABSENT


class Begun(NamedTuple):
    """A run about to begin."""

    state: Any
    keep: Any
    """Memory the addresses in `state` point to."""


def begun(equations: CompiledEquations, chosen: Settings, y: Array) -> Begun:
    """The state of a run that begins at y."""
    n, longest = len(y), chosen.duration if chosen.step is None else chosen.step
    numbers, counts, addresses = np.zeros(NUMBERS), np.zeros(COUNTS, dtype=np.int64), np.zeros(11, dtype=np.int64)
    numbers[[TIME, ERROR, END, SHORTEST]] = chosen.start, 1e-4, chosen.start + chosen.duration, np.inf
    numbers[[RTOL, ATOL, LIMIT]] = chosen.rtol, chosen.atol, longest
    counts[[MOST, PROJECTED]] = chosen.max_steps, equations.projected
    system = equations.system
    addresses[[SYSTEM, DERIVATIVE, PROJECT]] = system.place, system.derivative, equations.project
    make = {"radau": _radau, "radau5": _radau, "adams": _adams, "semi_implicit_euler": _impulse}
    shapes = make.get(chosen.method, _runge_kutta)(chosen.method, n, addresses, counts)
    if chosen.rule.implicit:
        _jacobian(equations, n, addresses, counts)
    if equations.indicators:
        addresses[[SWITCH_STEP, REFUSED]] = address(event_location.step_entry), address(event_location.refused_entry)
        addresses[SLIDE] = address(sliding_modes.sliding_entry)
    events, times = np.zeros((sliding_modes.ROWS if equations.indicators else 0, equations.indicators)), chosen.times()
    slid = np.full((len(times), n) if equations.indicators else (0, 0), np.nan)
    parts: list[Any] = [addresses, numbers, counts, y.copy(), y.copy(), np.zeros(n), *shapes, times, events, slid]
    state = StepState(*parts)
    addresses[SELF], room = stored(state)
    return Begun(state, (equations, room))


def _empty(n: int, rows: int, table: Any = None) -> list[Any]:
    """k, A, rows, P, past, square, complexes, pivots of `StepState`, of a method that needs k only."""
    none = np.zeros((1, 1))
    A, coefficients, P = (none, none, none) if table is None else table
    return [
        np.zeros((rows, n)),
        A,
        coefficients,
        P,
        np.zeros(16),
        none,
        np.zeros((1, 1), dtype=complex),
        np.zeros((1, 1), dtype=np.int64),
    ]


def _runge_kutta(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    from core.simulation.methods import runge_kutta

    table = tableau(method)
    counts[[STAGES, STEPS]] = table.steps, table.error_order + 1
    if table.e.any():
        addresses[STEP_OF] = address(runge_kutta.step_entry)
        addresses[WITHIN_OF] = address(runge_kutta.within_entry)
    rows = np.stack([table.b, table.c, table.e, table.e_low])
    return _empty(n, len(table.A), (table.A, rows, table.P))


def _impulse(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    from core.simulation.methods import semi_implicit_euler

    addresses[IMPULSE] = address(entry_points.impulse_entry)
    addresses[STEP_OF] = address(semi_implicit_euler.impulse_step)
    counts[STAGES] = 1
    return _empty(n, 2)


def _radau(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    from core.simulation.methods import radau, radau_tables
    from core.simulation.methods.radau_tables import MOST_STAGES, tables

    addresses[STEP_OF], addresses[WITHIN_OF] = address(radau.step_entry), address(radau.within_entry)
    counts[STAGES] = 1
    counts[[radau.STAGE, radau.LOWEST]] = radau_tables.STAGES[0]
    counts[radau.HIGHEST] = radau_tables.STAGES[0] if method == "radau5" else MOST_STAGES
    shapes, pairs = _empty(n, radau.ROWS, tables()), MOST_STAGES // 2
    shapes[5:] = [
        np.zeros((2 * n, n)),
        np.zeros((pairs * n + 2, n), dtype=complex),
        np.zeros((1 + pairs, n), dtype=np.int64),
    ]
    return shapes


def _jacobian(equations: CompiledEquations, n: int, addresses: Any, counts: Any) -> None:
    """Exact where the machine's traces can be differentiated, otherwise by differences."""
    from core.simulation.methods import radau, stage_systems

    exact = equations.entries["slopes"].record[0] != ABSENT
    addresses[JACOBIAN] = address(entry_points.exact_jacobian if exact else entry_points.differenced_jacobian)
    counts[radau.COST] = 1 if exact else n + 1
    counts[stage_systems.HALVED] = 0 if len(equations.system.quaternions) else equations.system.nq


def _adams(method: str, n: int, addresses: Any, counts: Any) -> list[Any]:
    from core.simulation.methods import adams

    addresses[STEP_OF], addresses[WITHIN_OF] = address(adams.step_entry), address(adams.within_entry)
    counts[[STAGES, adams.HIGHEST]] = 1, adams.MOST_ORDER
    return _empty(n, adams.ROWS, adams.coefficients())

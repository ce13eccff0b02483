"""Check for drivers whose prescribed position jumps: no machine can follow them, whatever the integration method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.constraints.redundant_drivers import format_quantity, row_unit
from core.errors import KinetostatError, SimulationError
from core.mechanism import Mechanism
from core.model import Driver
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.formula.nodes import COMPARISONS, Binary, Call, Negative, Node
from core.model.parameters import parameter_values
from core.simulation.run.settings import Array, Settings

MOST = 4096
"""Largest number of times at which a driver is sampled."""
MOST_INTERVALS = 512
"""Largest number of intervals examined more closely, those where the position bends most."""
HALVINGS = 60
LEAST_JUMP = 1e-6
"""Smallest change of position (rad or m) that counts as a jump."""
JUMPING = {"step", "sign", "floor", "ceil", "if", *COMPARISONS}
"""Functions and comparisons that may be discontinuous."""


def check_driver_jumps(mech: Mechanism, settings: Settings) -> None:
    """Raise SimulationError for the first position driver that jumps during the run, with the time of the jump."""
    model = mech.model.expanded
    for driver in model.drivers:
        if driver.motion != "position" or not isinstance(driver.function, str):
            continue
        node = parse(driver.function)
        if not _may_jump(node):
            continue
        known = parameter_values(model.parameters, settings.parameters)
        known = {name: known[name] for name in names_in_formula(node) if name not in ("t", "time")}
        found = _find_first_jump(node, known, settings)
        if found is not None:
            raise _jump_error(mech, driver, *found)


def _may_jump(node: Node) -> bool:
    if isinstance(node, Negative):
        return _may_jump(node.operand)
    if isinstance(node, Binary):
        return node.operator in JUMPING or _may_jump(node.left) or _may_jump(node.right)
    return isinstance(node, Call) and (node.function in JUMPING or any(map(_may_jump, node.arguments)))


def _find_first_jump(node: Node, known: Mapping[str, Any], settings: Settings) -> tuple[float, float] | None:
    """Return (time, size) of the first jump of a driver's function; None if there is none."""
    count = int(np.clip(settings.duration / settings.output, 64, MOST))
    times = settings.start + np.linspace(0.0, settings.duration, count + 1)

    def driver_position(t: Any) -> Array:
        try:
            with np.errstate(all="ignore"):
                return np.broadcast_to(np.asarray(evaluate(node, {**known, "t": t, "time": t}), dtype=float), t.shape)
        except KinetostatError:
            return np.full(t.shape, np.nan)

    at = driver_position(times)
    bends = np.abs(np.diff(at, 2, prepend=at[0], append=at[-1]))  # large before and after a jump
    bends = np.where(np.isfinite(bends), bends, 0.0)
    suspects = np.flatnonzero(bends > max(0.5 * LEAST_JUMP, 3.0 * float(np.median(bends))))
    intervals = np.unique(np.clip(np.concatenate([suspects - 1, suspects]), 0, count - 1))
    for k in intervals[:MOST_INTERVALS]:
        early, late = times[k], times[k + 1]
        for _ in range(HALVINGS):
            middle = 0.5 * (early + late)
            if not early < middle < late:
                break
            first, half, last = driver_position(np.array([early, middle, late]))
            early, late = (early, middle) if abs(half - first) > abs(last - half) else (middle, late)
        first, last = driver_position(np.array([early, late]))
        if abs(last - first) > LEAST_JUMP:
            return float(late), float(abs(last - first))
    return None


def _jump_error(mech: Mechanism, driver: Driver, t: float, jump: float) -> SimulationError:
    row = next(row for row in mech.compiled.rows if row.collection == "drivers" and row.element == driver.name)
    error = SimulationError(
        f"At t = {t:.6g} s the prescribed position jumps by {format_quantity(jump, row_unit(mech.compiled, row))}.",
        where=f"driver '{driver.name}'",
        remedy="Prescribe a continuous position, e.g. the ramp min(max(t - 1, 0), 1), or prescribe the speed instead.",
    )
    error.time = t
    return error

"""Friction levels given by formulas (brakes, clutches), evaluated at a state, with errors for negative or inconsistent
values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


def rows_with_friction_levels(
    compiled: Compiled, rows: Sequence[JointRow], q: Array, v: Array | None, p: Values, t: float, x: Any
) -> tuple[JointRow, ...]:
    """Joint rows with the friction levels that their formulas give at a state. Raises SimulationError if a level is
    invalid."""
    if all(row.controlled == NOWHERE for row in rows):
        return tuple(rows)
    speeds = np.zeros(compiled.nv) if v is None else v
    levels = compiled.call("friction_levels", q, speeds, p=p, t=t, x=x)
    return tuple(
        row if row.controlled == NOWHERE else _with_friction_levels(row, levels[row.controlled], t) for row in rows
    )


def _with_friction_levels(row: JointRow, levels: Array, t: float) -> JointRow:
    if not np.isfinite(levels).all():
        raise SimulationError(
            "The friction formula has no finite value here.",
            where=row.where,
            remedy="Give a formula that is finite at every state.",
        )
    if (error := invalid_friction_error(row, t, levels)) is not None:
        raise error
    kinetic, static, backward_kinetic, backward_static = map(float, levels)
    return replace(
        row, kinetic=kinetic, static=static, backward_kinetic=backward_kinetic, backward_static=backward_static
    )


def invalid_friction_error(row: JointRow, t: float, levels: Array) -> SimulationError | None:
    """Error for friction levels (4,) that are negative, or lower at rest than while sliding; None if they are valid."""
    kinetic, static = next(((k, s) for k, s in np.reshape(levels, (2, 2)) if k < 0.0 or s < k), (0.0, 0.0))
    if kinetic == static == 0.0:
        return None
    if kinetic < 0.0:
        what, remedy = f"friction is negative ({kinetic:.6g}).", "Limit its formula to values from 0: max(…, 0)."
    else:
        what = f"static friction ({static:.6g}) is less than kinetic friction ({kinetic:.6g})."
        remedy = "Make static friction at least as large as kinetic friction."
    error = SimulationError(f"At t = {t:.6g} s {what}", where=row.where, remedy=remedy)
    error.time = t
    return error


def first_invalid_friction_error(
    compiled: Compiled, rows: tuple[JointRow, ...], t: Array, q: Array, v: Array, x: Array, p: Array
) -> SimulationError | None:
    """Error for the first of the states (n, …) with invalid friction levels; None if all are valid."""
    controlled = [row for row in rows if row.controlled != NOWHERE]
    if not controlled:
        return None
    levels = compiled.call("friction_levels", q, v, p=p, t=t, x=x)
    for k, time in enumerate(t):
        for row in controlled:
            if (error := invalid_friction_error(row, float(time), levels[k, row.controlled])) is not None:
                return error
    return None


def undefined(compiled: Compiled, rows: tuple[JointRow, ...], t: float, y: Array, p: Array) -> str:
    """Names of the elements whose formula is not finite at a state or just after it; empty if there are none."""
    q, v, x = np.split(y, [compiled.nq, compiled.nq + compiled.nv])
    for row in rows:
        if row.controlled != NOWHERE:
            ahead = (compiled.call("friction_levels", q, v, p=p, t=t + step, x=x) for step in (0.0, 1e-9, 1e-3))
            if not all(np.isfinite(each[row.controlled]).all() for each in ahead):
                return row.where
    return ""

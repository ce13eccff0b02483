"""Breakaway friction in the inverse dynamics of open chains at rest, for all joints at once.

The same as `core.constraints.row_forces` gives one row after the other, for what needs no look at single rows: levels
of friction that are numbers, each joint with its own, away from stops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.acting_states import default_joint_modes, resting
from core.constraints.joint_modes import NOWHERE
from core.constraints.joint_rows import AT_REST_SPEED
from core.programs.compiled import Compiled, once

Array = NDArray[np.float64]


class BeginningFriction:
    """Breakaway friction of an open chain at the model's own parameter values, in plain Python numbers, which are
    quicker than arrays for few joints."""

    def __init__(self, compiled: Compiled) -> None:
        look = resting(compiled)
        assert look is not None
        self._smooth = compiled.evaluator("inverse_dynamics")
        self._nq, self._nv = compiled.nq, compiled.nv
        bounds = enumerate(zip(look.lower.tolist(), look.upper.tolist(), strict=True))
        self._stops = [(k, low, high) for k, (low, high) in bounds if low > -math.inf or high < math.inf]
        rows = [row for row in default_joint_modes(compiled).rows if row.rubs]
        self._rows = [(row.at_v, float(row.ratio), row.sliding_bounds) for row in rows]

    def forces(self, q: Any, v: Any, a: Any) -> Array | None:
        """(nv,) joint forces of inverse dynamics at one state; None if joint rows must be examined one by one."""
        q, v, a = (np.asarray(each, dtype=float) for each in (q, v, a))
        if q.shape != (self._nq,) or v.shape != (self._nv,) or a.shape != (self._nv,):
            return None
        positions, speeds, accelerations = q.tolist(), v.tolist(), a.tolist()
        for k, low, high in self._stops:
            if not low <= positions[k] <= high:
                return None
        friction = []
        for at, ratio, (onward, backward) in self._rows:
            rate = ratio * speeds[at]
            if abs(rate) >= AT_REST_SPEED:
                continue
            if rate != 0.0:
                return None
            begins = ratio * accelerations[at]
            if abs(begins) >= AT_REST_SPEED:
                friction.append((at, ratio * (onward if begins > 0.0 else backward)))
        tau: Array = self._smooth.call(q, v, a)
        for at, force in friction:
            tau[at] -= force
        return tau


@once
def beginning_friction(compiled: Compiled) -> BeginningFriction | None:
    """Quick inverse dynamics with breakaway friction; None if joint rows must be examined one by one."""
    if not compiled.plain or resting(compiled) is None:
        return None
    modes = default_joint_modes(compiled)
    each = all(row.at_v != NOWHERE and row.shares == 1 and row.controlled == NOWHERE for row in modes.rows if row.rubs)
    return None if modes.bearings or not each else BeginningFriction(compiled)

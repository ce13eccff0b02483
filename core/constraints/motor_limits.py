"""What motors give of what they are asked for, as runs have it: no more than their limit of effort, and at a speed
limit what of the command keeps the speed there; where loads are faster nothing that would drive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow, joint_modes
from core.multibody.parameter_values import Values
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

AT_LIMIT_FRACTION = 1e-9
"""Part of a speed limit by which a speed may differ from it that is at it."""


def has_motor(row: JointRow) -> bool:
    """Whether a joint force acts along a row by itself."""
    return row.at_v != NOWHERE and row.ratio == 1.0


def effort_limits(compiled: Compiled, p: Values = None) -> Array:
    """(nv,) the largest joint forces, N·m or N; infinite where there is no limit."""
    most = np.full(compiled.nv, np.inf)
    for row in joint_modes(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            most[row.at_v] = min(most[row.at_v], row.effort)
    return most


def given(compiled: Compiled, tau: Any, p: Values = None) -> Array:
    """(…, nv) of joint forces asked for what motors can."""
    most = effort_limits(compiled, p)
    return np.clip(np.asarray(tau, dtype=float), -most, most)


def withheld(row: JointRow, rate: float, asked: float) -> tuple[bool, float, float]:
    """Of a motor that is asked for a force along a row: whether it holds the speed at its limit, and between which
    bounds what it withholds then is, along growth; of one that loads have overrun both are all that would drive."""
    if row.at_v == NOWHERE or not math.isfinite(row.fastest) or abs(rate) < (1.0 - AT_LIMIT_FRACTION) * row.fastest:
        return False, 0.0, 0.0
    sense = math.copysign(1.0, rate)
    driving = sense * max(sense * asked, 0.0)
    if abs(rate) > (1.0 + AT_LIMIT_FRACTION) * row.fastest:
        return False, -driving, -driving
    return driving != 0.0, min(-driving, 0.0), max(-driving, 0.0)

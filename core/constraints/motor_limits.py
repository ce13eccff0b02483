"""What motors give of what they are asked for, as runs have it: no more than their limit of effort, and at a speed
limit what of the command keeps the speed there; where loads are faster nothing that would drive."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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


def saturated(compiled: Compiled, asked: Array, p: Values = None) -> NDArray[np.bool_]:
    """(…, nv) which motors give all that they can, so that being asked for more, τ (…, nv), changes nothing."""
    return np.asarray(np.abs(asked) >= (1.0 - AT_LIMIT_FRACTION) * effort_limits(compiled, p))


class Supplied(NamedTuple):
    """What motors make of what they are asked for, at n states. given : (n, nv) joint forces, of which limits of effort
    leave so much; lost : (n, nv) of these what motors that loads have overrun do not drive with; full, idle : (n, nv)
    which motors are at their limit of effort, and overrun; keeps : (n, nv) which may keep their speed at the limit;
    holds : (n,) where another row than that of a motor is at its limit of speed"""

    given: Array
    lost: Array
    full: NDArray[np.bool_]
    idle: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    holds: NDArray[np.bool_]

    @property
    def silent(self) -> NDArray[np.bool_]:
        """(n, nv) which forces do not change with what is asked."""
        return self.full | self.idle

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) at which states a motor gives less than it is asked for."""
        return np.asarray(self.silent.any(axis=1) | self.keeps.any(axis=1) | self.holds)


def supplied(compiled: Compiled, v: Array, asked: Array, p: Values = None) -> Supplied:
    """At states with speeds v (n, nv) and forces asked for (n, nv). What brakes motors give at any speed."""
    values = given(compiled, asked, p)
    lost, idle, keeps = np.zeros_like(values), *(np.zeros(values.shape, dtype=bool) for _ in range(2))
    holds = np.zeros(len(values), dtype=bool)
    for row in joint_modes(compiled, compiled.parameter_values(p)).rows:
        if row.at_v == NOWHERE:
            continue
        rate = row.ratio * v[:, row.at_v]
        drives = rate * values[:, row.at_v] > 0.0
        beyond = drives & (np.abs(rate) > (1.0 + AT_LIMIT_FRACTION) * row.fastest)
        at_limit = drives & ~beyond & (np.abs(rate) >= (1.0 - AT_LIMIT_FRACTION) * row.fastest)
        if has_motor(row):
            keeps[:, row.at_v] |= at_limit
            idle[:, row.at_v] |= beyond
            lost[:, row.at_v] = np.where(idle[:, row.at_v], values[:, row.at_v], 0.0)
        else:
            holds |= at_limit | beyond
    return Supplied(values, lost, saturated(compiled, asked, p), idle, keeps, holds)


def beyond(compiled: Compiled, asked: Array, p: Values = None) -> dict[str, tuple[float, float]]:
    """Speed → (what its motor is asked for, what it gives), N·m or N, of those that can less."""
    most = effort_limits(compiled, p)
    names = zip(compiled.v_names, np.asarray(asked, dtype=float), most, strict=True)
    return {name: (float(x), math.copysign(high, x)) for name, x, high in names if abs(x) > high}


def needed_words(compiled: Compiled, needed: Array, p: Values = None) -> str:
    """A sentence for each motor that would have to give more than it can, τ (nv,) being needed; else ''."""
    dimensions = dict(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True))
    units = {name: "N" if dimensions[name] == "velocity" else "N·m" for name in compiled.v_names}
    return " ".join(
        f"The motor of '{name}' would have to give {force:.4g} {units[name]}, and gives at most {abs(most):.4g} "
        f"{units[name]}."
        for name, (force, most) in beyond(compiled, needed, p).items()
    )


def too_fast_words(compiled: Compiled, v: Array, needed: Array, p: Values = None) -> str:
    """A sentence for each motor that would have to drive beyond its limit of speed, v and τ (nv,) being needed; else
    ''."""
    found = []
    for row in joint_modes(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            keeps, low, _ = withheld(row, float(v[row.at_v]), float(needed[row.at_v]))
            if low != 0.0 and not keeps:
                unit = "m/s" if row.dimension == "length" else "rad/s"
                found.append(
                    f"The motor of '{row.name}' would have to drive at {abs(v[row.at_v]):.4g} {unit}, and drives up to "
                    f"{row.fastest:.4g} {unit} only."
                )
    return " ".join(found)


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

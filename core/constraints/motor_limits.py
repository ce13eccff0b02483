"""Motor limits as in runs: commands are cut off at the effort limit and, at the speed limit, reduced so as not to
exceed that speed; a motor overrun by its load does not drive."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow, joint_modes
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

AT_LIMIT_FRACTION = 1e-9
"""Relative difference from a speed limit within which a motor is at the limit."""


def has_motor(row: JointRow) -> bool:
    """Return True if a joint force acts directly along a row (a tree joint that follows no other)."""
    return row.at_v != NOWHERE and row.ratio == 1.0


def effort_limits(compiled: Compiled, p: Values = None) -> Array:
    """(nv,) effort limits of joint motors, N·m or N; infinite if unlimited."""
    most = np.full(compiled.nv, np.inf)
    for row in joint_modes(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            most[row.at_v] = min(most[row.at_v], row.effort)
    return most


def given(compiled: Compiled, tau: Any, p: Values = None) -> Array:
    """(…, nv) commanded joint forces cut off at the effort limits."""
    most = effort_limits(compiled, p)
    return np.clip(np.asarray(tau, dtype=float), -most, most)


def saturated(compiled: Compiled, asked: Array, p: Values = None) -> NDArray[np.bool_]:
    """(…, nv) mask of motors at their effort limit, for which a larger command τ (…, nv) has no effect."""
    return np.asarray(np.abs(asked) >= (1.0 - AT_LIMIT_FRACTION) * effort_limits(compiled, p))


class SuppliedForces(NamedTuple):
    """Forces that motors supply for given commands, at n states. given : (n, nv) commands cut off at the effort limits;
    lost : (n, nv) the part not delivered by motors overrun by their loads; full, idle : (n, nv) masks of motors at the
    effort limit, and overrun; keeps : (n, nv) mask of motors that may hold their speed at the limit; holds : (n,) True
    if a row without a motor is at its speed limit"""

    given: Array
    lost: Array
    full: NDArray[np.bool_]
    idle: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    holds: NDArray[np.bool_]

    @property
    def silent(self) -> NDArray[np.bool_]:
        """(n, nv) mask of forces that do not depend on the command."""
        return self.full | self.idle

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) mask of states at which a motor supplies less than commanded."""
        return np.asarray(self.silent.any(axis=1) | self.keeps.any(axis=1) | self.holds)


def supplied_forces(compiled: Compiled, v: Array, asked: Array, p: Values = None) -> SuppliedForces:
    """Forces that motors supply at speeds v (n, nv) for commands (n, nv). Braking forces are available at any speed."""
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
    return SuppliedForces(values, lost, saturated(compiled, asked, p), idle, keeps, holds)


def beyond(compiled: Compiled, asked: Array, p: Values = None) -> dict[str, tuple[float, float]]:
    """Speed name → (commanded force, supplied force), N·m or N, of motors beyond their effort limit."""
    most = effort_limits(compiled, p)
    names = zip(compiled.v_names, np.asarray(asked, dtype=float), most, strict=True)
    return {name: (float(x), math.copysign(high, x)) for name, x, high in names if abs(x) > high}


def effort_limit_text(compiled: Compiled, needed: Array, p: Values = None) -> str:
    """A sentence for each motor whose required force τ (nv,) exceeds its effort limit; '' if none does."""
    dimensions = dict(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True))
    units = {name: "N" if dimensions[name] == "velocity" else "N·m" for name in compiled.v_names}
    return " ".join(
        f"The motor of '{name}' would have to give {force:.4g} {units[name]}, but is limited to {abs(most):.4g} "
        f"{units[name]}."
        for name, (force, most) in beyond(compiled, needed, p).items()
    )


def speed_limit_text(compiled: Compiled, v: Array, needed: Array, p: Values = None) -> str:
    """A sentence for each motor that would have to drive above its speed limit, at speeds v and required forces τ
    (nv,); '' if none does."""
    found = []
    for row in joint_modes(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            keeps, low, _ = withheld_force(row, float(v[row.at_v]), float(needed[row.at_v]))
            if low != 0.0 and not keeps:
                unit = "m/s" if row.dimension == "length" else "rad/s"
                found.append(
                    f"The motor of '{row.name}' would have to drive at {abs(v[row.at_v]):.4g} {unit}, but is limited "
                    f"to {row.fastest:.4g} {unit}."
                )
    return " ".join(found)


def withheld_force(row: JointRow, rate: float, asked: float) -> tuple[bool, float, float]:
    """(holds, lower, upper): True if a motor with a commanded force along a row holds its speed at the limit, and the
    bounds of the force it then withholds, positive along the coordinate; for a motor overrun by its load both are the
    whole driving force."""
    if row.at_v == NOWHERE or not math.isfinite(row.fastest) or abs(rate) < (1.0 - AT_LIMIT_FRACTION) * row.fastest:
        return False, 0.0, 0.0
    sense = math.copysign(1.0, rate)
    driving = sense * max(sense * asked, 0.0)
    if abs(rate) > (1.0 + AT_LIMIT_FRACTION) * row.fastest:
        return False, -driving, -driving
    return driving != 0.0, min(-driving, 0.0), max(-driving, 0.0)

"""Motor limits as in runs: commands are cut off at the effort limit and, at the speed limit, reduced so that the speed
does not exceed it; a motor overrun by its load delivers no force."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRow, build_joint_row_table
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

AT_LIMIT_FRACTION = 1e-9
"""Relative difference from a speed limit within which a motor is at the limit."""


def has_motor(row: JointRow) -> bool:
    """Return True if a joint force acts directly along a row (a tree joint that follows no other)."""
    return row.at_v != NOWHERE and row.ratio == 1.0


def effort_limits(compiled: CompiledModel, p: Values = None) -> Array:
    """(nv,) effort limits of joint motors, N·m or N; infinite if unlimited."""
    most = np.full(compiled.nv, np.inf)
    for row in build_joint_row_table(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            most[row.at_v] = min(most[row.at_v], row.effort)
    return most


def clip_to_effort_limits(compiled: CompiledModel, tau: Any, p: Values = None) -> Array:
    """(…, nv) commanded joint forces cut off at the effort limits."""
    most = effort_limits(compiled, p)
    return np.clip(np.asarray(tau, dtype=float), -most, most)


def saturated_motors_mask(compiled: CompiledModel, commanded: Array, p: Values = None) -> NDArray[np.bool_]:
    """(…, nv) mask of motors at their effort limit, for which a larger command τ (…, nv) has no effect."""
    return np.asarray(np.abs(commanded) >= (1.0 - AT_LIMIT_FRACTION) * effort_limits(compiled, p))


class SuppliedForces(NamedTuple):
    """Forces that motors supply for given commands, at n states. given : (n, nv) commands cut off at the effort limits;
    lost : (n, nv) part not delivered by motors overrun by their loads; full, idle : (n, nv) masks of motors at the
    effort limit, and of motors overrun; keeps : (n, nv) mask of motors that may maintain their speed at the limit;
    holds : (n,) True if a row without a motor is at its speed limit"""

    given: Array
    lost: Array
    full: NDArray[np.bool_]
    idle: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    holds: NDArray[np.bool_]

    @property
    def unresponsive_mask(self) -> NDArray[np.bool_]:
        """(n, nv) mask of forces that do not depend on the command."""
        return self.full | self.idle

    @property
    def limited_states_mask(self) -> NDArray[np.bool_]:
        """(n,) mask of states at which a motor supplies less than commanded."""
        return np.asarray(self.unresponsive_mask.any(axis=1) | self.keeps.any(axis=1) | self.holds)


def supplied_forces(compiled: CompiledModel, v: Array, commanded: Array, p: Values = None) -> SuppliedForces:
    """Forces that motors supply at speeds v (n, nv) for commands (n, nv). Braking forces are available at any speed."""
    values = clip_to_effort_limits(compiled, commanded, p)
    lost, idle, keeps = np.zeros_like(values), *(np.zeros(values.shape, dtype=bool) for _ in range(2))
    holds = np.zeros(len(values), dtype=bool)
    for row in build_joint_row_table(compiled, compiled.parameter_values(p)).rows:
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
    return SuppliedForces(values, lost, saturated_motors_mask(compiled, commanded, p), idle, keeps, holds)


def exceeded_effort_limits(
    compiled: CompiledModel, commanded: Array, p: Values = None
) -> dict[str, tuple[float, float]]:
    """Speed name → (commanded force, supplied force), N·m or N, of motors beyond their effort limit."""
    most = effort_limits(compiled, p)
    names = zip(compiled.v_names, np.asarray(commanded, dtype=float), most, strict=True)
    return {name: (float(x), math.copysign(high, x)) for name, x, high in names if abs(x) > high}


def effort_limit_text(compiled: CompiledModel, required: Array, p: Values = None) -> str:
    """A sentence for each motor whose required force τ (nv,) exceeds its effort limit; '' if none does."""
    dimensions = dict(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True))
    units = {name: "N" if dimensions[name] == "velocity" else "N·m" for name in compiled.v_names}
    return " ".join(
        f"The motor of '{name}' would have to supply {force:.4g} {units[name]}, but is limited to {abs(most):.4g} "
        f"{units[name]}."
        for name, (force, most) in exceeded_effort_limits(compiled, required, p).items()
    )


def speed_limit_text(compiled: CompiledModel, v: Array, required: Array, p: Values = None) -> str:
    """A sentence for each motor that would have to drive above its speed limit, at speeds v and required forces τ
    (nv,); '' if none does."""
    found = []
    for row in build_joint_row_table(compiled, compiled.parameter_values(p)).rows:
        if has_motor(row):
            keeps, low, _ = compute_withheld_force(row, float(v[row.at_v]), float(required[row.at_v]))
            if low != 0.0 and not keeps:
                unit = "m/s" if row.dimension == "length" else "rad/s"
                found.append(
                    f"The motor of '{row.name}' would have to drive at {abs(v[row.at_v]):.4g} {unit}, but is limited "
                    f"to {row.fastest:.4g} {unit}."
                )
    return " ".join(found)


def compute_withheld_force(row: JointRow, rate: float, commanded: float) -> tuple[bool, float, float]:
    """Compute (holds, lower, upper): True if a motor with a commanded force along a row maintains its speed at the
    limit, and the bounds of the force that it then withholds, positive along the coordinate; for a motor overrun by its
    load both bounds equal the whole driving force."""
    if row.at_v == NOWHERE or not math.isfinite(row.fastest) or abs(rate) < (1.0 - AT_LIMIT_FRACTION) * row.fastest:
        return False, 0.0, 0.0
    sense = math.copysign(1.0, rate)
    driving = sense * max(sense * commanded, 0.0)
    if abs(rate) > (1.0 + AT_LIMIT_FRACTION) * row.fastest:
        return False, -driving, -driving
    return driving != 0.0, min(-driving, 0.0), max(-driving, 0.0)

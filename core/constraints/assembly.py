"""Assembly: the positions and speeds nearest to given ones that satisfy loops, constraints and drivers.

A position is sought by `core.numerics.position_solver` on the residuals of active constraints. Speeds given by name are
kept (`core.constraints.consistent_motion`); of a whole array those that are not zero, if they agree with each other,
else the nearest that fulfil G v = ḟ are taken. Random closed poses serve for properties that must not depend on a
particular pose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import failures
from core.constraints.closed_positions import find_closed_position
from core.constraints.consistent_motion import complete_speeds, named_speeds, nearest_speeds
from core.constraints.cut_coordinates import cut_limits, most_exceeded_limit
from core.constraints.named_values import as_states, broadcast_to_states
from core.constraints.redundant_drivers import contradiction_error, find_contradiction
from core.constraints.rest_position import reference_position
from core.errors import AssemblyError, ModelError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


def assembled_state(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    p: Values,
    fixed: Sequence[str],
    weights: Mapping[str, float],
    t: float = 0.0,
    limits: bool = True,
) -> Any:
    """Position, or position and speeds, consistent with all constraints; see `Mechanism.assemble`."""
    held, cost = np.zeros(compiled.nv, dtype=bool), np.ones(compiled.nv)
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        held[compiled.joint_v(name)] = True
    for name, weight in weights.items():
        if not 0.0 < weight < math.inf:
            raise ModelError(
                f"{weight} is not a positive number.",
                where=f"weight of joint '{name}'",
                remedy="Give a positive number: 1 by default, more for joints that should move less.",
            )
        cost[compiled.joint_v(name)] = weight
    q = as_states(q, compiled.nq, "q")
    q = compiled.coordinates.clamp(q) if limits else compiled.coordinates.integrate(q, np.zeros(compiled.nv))
    if not np.isfinite(q).all():
        raise ModelError("q contains a value that is not a finite number.", where="q", remedy="Give finite numbers.")
    named = v if isinstance(v, Mapping) else None
    speeds = None if v is None else np.zeros(compiled.nv) if named is not None else as_states(v, compiled.nv, "v")
    values = compiled.parameter_values(p)
    leading = np.broadcast_shapes(q.shape[:-1], () if speeds is None else speeds.shape[:-1], values.shape[:-1])
    states, rows = broadcast_to_states(q, leading), broadcast_to_states(values, leading)
    pairs = zip(states, rows, strict=True)
    closed = np.array([_assembled_state(compiled, *pair, held, cost, t, limits) for pair in pairs])
    q = closed.reshape(*leading, compiled.nq)
    if speeds is None:
        return q
    moving = zip(closed, broadcast_to_states(speeds, leading), rows, strict=True)
    consistent = [
        _consistent_speeds(compiled, state, speed, held, cost, row, t)
        if named is None
        else named_speeds(compiled, state, named, row, t)
        for state, speed, row in moving
    ]
    return q, np.array(consistent).reshape(*leading, compiled.nv)


def _assembled_state(
    compiled: CompiledModel, q: Array, p: Array, fixed: NDArray[np.bool_], cost: Array, t: float, limits: bool
) -> Array:
    closed, gap = find_closed_position(compiled, q, cost, fixed, p, search_far=True, t=t, bounded=limits)
    if not gap < ACCEPTED_GAP:
        raise failures.assembly_error(compiled, closed, p, t)
    if limits and (found := most_exceeded_limit(compiled, cut_limits(compiled), closed, p)) is not None:
        raise failures.beyond_limit_error(closed, *found)
    return closed


def _consistent_speeds(
    compiled: CompiledModel, q: Array, v: Array, fixed: NDArray[np.bool_], cost: Array, p: Array, t: float
) -> Array:
    """Consistent speeds (nv,) with the fixed ones as given. Raises AssemblyError if the fixed speeds or drivers
    contradict each other."""
    if fixed.any():
        named_speeds(compiled, q, {compiled.v_names[k]: v[k] for k in np.flatnonzero(fixed)}, p, t)
    speeds = complete_speeds(compiled, q, v, fixed, p, t)
    if speeds is None:
        speeds = nearest_speeds(compiled, q, v, np.where(fixed, np.inf, cost), p, t)
    if (found := find_contradiction(compiled, q, speeds, p, t)) is not None:
        raise contradiction_error(compiled, found)
    return speeds


ATTEMPTS = 8
"""Number of random poses from which loop closure is tried before the reference configuration is used."""


def random_pose(
    compiled: CompiledModel, rng: np.random.Generator, p: Mapping[str, float] | None = None, t: float = 0.0
) -> Array:
    """(nq,) random pose inside the limits that satisfies all constraints."""
    q = compiled.coordinates.random(rng)
    if not compiled.constrained:
        return q
    for _ in range(ATTEMPTS):
        try:
            return np.asarray(assembled_state(compiled, q, None, p, (), {}, t))
        except AssemblyError:
            q = compiled.coordinates.random(rng)
    return reference_position(compiled, p, t)

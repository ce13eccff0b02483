"""Motions and joint forces with joint friction (sticking or sliding) and stops in contact, at one state or many.

`BreakawayFriction` gives for all joints of an open chain at once what `core.constraints.row_forces` gives one row after
another, where single rows need no look: friction levels that are numbers, each joint with its own, away from stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Evaluator, GuardedFunction
from core.codegen.single_state import Path
from core.constraints import acting_states, force_ranges, row_forces
from core.constraints.acting_states import default_joint_row_table, default_resting_test
from core.constraints.elastic_stops import warn_of_passed_limits
from core.constraints.joint_modes import NOWHERE
from core.constraints.joint_rows import AT_REST_SPEED
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.named_values import broadcast_to_states
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]


class BreakawayFriction:
    """Breakaway friction of an open chain at the model's own parameter values, in plain Python numbers, which are
    quicker than arrays for few joints."""

    def __init__(self, compiled: CompiledModel) -> None:
        look = default_resting_test(compiled)
        assert look is not None
        self._smooth = compiled.evaluator("inverse_dynamics")
        self._nq, self._nv = compiled.nq, compiled.nv
        bounds = enumerate(zip(look.lower.tolist(), look.upper.tolist(), strict=True))
        self._stops = [(k, low, high) for k, (low, high) in bounds if low > -math.inf or high < math.inf]
        rows = [row for row in default_joint_row_table(compiled).rows if row.has_dry_friction]
        self._rows = [(row.at_v, float(row.ratio), row.sliding_bounds) for row in rows]

    def forces(self, q: Any, v: Any, a: Any) -> Array | None:
        """(nv,) joint forces of inverse dynamics at one state; None if joint rows must be evaluated individually."""
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


@cache_per_model
def breakaway_friction(compiled: CompiledModel) -> BreakawayFriction | None:
    """Fast inverse dynamics with breakaway friction; None if joint rows must be evaluated individually."""
    if not compiled.plain or default_resting_test(compiled) is None:
        return None
    modes = default_joint_row_table(compiled)
    each = all(
        row.at_v != NOWHERE and row.shares == 1 and row.controlled == NOWHERE
        for row in modes.rows
        if row.has_dry_friction
    )
    return None if modes.rows_with_bearing_friction or not each else BreakawayFriction(compiled)


Motion = tuple[tuple[Array, Array], Array | None]
"""Accelerations (…, nv) and constraint multipliers (…, m), with forces along coordinates of loop-closing joints."""


def constrained_motion_with_rows(
    compiled: CompiledModel, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any, x: Any, motors: bool = False
) -> Motion:
    """Accelerations and multipliers with static friction and stops in contact; among many states only those at which
    either may act are solved one by one."""
    free = solve_constrained_motion(compiled, q, v, tau, p, passive, t, x)
    if not passive or not (motors or acting_states.has_friction_or_stops(compiled)):
        return free, None
    which = None if motors else acting_states.acting_states_mask(compiled, q, v, p)
    if which is not None and not which.all():
        return _solve_marked_states(compiled, which, free, q, v, tau, p, t, x)
    rows = row_forces.acting_forces(compiled, q, v, tau, p, t, x, motors)
    if rows is None:
        return free, None
    given = np.asarray(tau) + rows.joint
    return solve_constrained_motion(compiled, q, v, given, p, True, t, x, smooth=True), rows.closing


def _solve_marked_states(
    compiled: CompiledModel,
    marked: NDArray[np.bool_],
    smooth_motion: tuple[Array, Array],
    q: Any,
    v: Any,
    tau: Any,
    p: Values,
    t: Any,
    x: Any,
) -> Motion:
    """Motion at many states, with friction and stops at those marked, and the smooth motion at the others."""
    if not marked.any():
        return smooth_motion, None
    given = [np.asarray(each, dtype=float) for each in (q, v, tau)]
    given += [np.asarray(t, dtype=float)[..., None]] + ([] if x is None else [np.asarray(x, dtype=float)])
    leading = np.broadcast_shapes(marked.shape, *(each.shape[:-1] for each in given))
    acts = np.flatnonzero(np.broadcast_to(marked, leading))
    states = [broadcast_to_states(each, leading)[acts] for each in given]
    own = states[4] if x is not None else None
    (a, multipliers), closing = constrained_motion_with_rows(
        compiled, states[0], states[1], states[2], p, True, states[3][:, 0], own
    )
    found = (
        _replace_states(smooth_motion[0], acts, a, leading),
        _replace_states(smooth_motion[1], acts, multipliers, leading),
    )
    return found, None if closing is None else _replace_states(
        np.zeros((*leading, closing.shape[-1])), acts, closing, leading
    )


def _replace_states(values: Array, indices: NDArray[np.int64], replacements: Array, leading: tuple[int, ...]) -> Array:
    """Return a (…, n) copy of `values` in which the rows of some states are replaced."""
    flat = np.array(broadcast_to_states(values, leading))
    flat[indices] = replacements
    return flat.reshape(*leading, -1)


# ------------------------------------------------------------------------------------------ quick calls


class GeneralPath(NamedTuple):
    """Substitute for a fast evaluator that always takes the general path."""

    call: Path


def forward_dynamics_fast_path(compiled: CompiledModel) -> Evaluator | GuardedFunction | GeneralPath:
    """(q, v, tau) → forward dynamics of a machine with default arguments; single states at which no friction at rest or
    stop acts go straight to machine code, which tests for that itself."""
    return _quick_evaluator(
        compiled,
        "forward_dynamics",
        lambda q, v, tau: constrained_motion_with_rows(compiled, q, v, tau, None, True, 0.0, None)[0][0],
    )


def inverse_dynamics_fast_path(compiled: CompiledModel) -> Evaluator | GuardedFunction | GeneralPath:
    """(q, v, a) → inverse dynamics of a machine with default arguments; single states at which no friction at rest or
    stop acts go straight to machine code."""
    return _quick_evaluator(
        compiled, "inverse_dynamics", partial(_inverse_dynamics_with_rows, compiled, breakaway_friction(compiled))
    )


def _inverse_dynamics_with_rows(
    compiled: CompiledModel, breakaway: BreakawayFriction | None, q: Any, v: Any, a: Any
) -> Array:
    if breakaway is not None and (found := breakaway.forces(q, v, a)) is not None:
        return found
    return forces_with_limit_warning(compiled, q, v, a, None, None, True)


def forces_with_limit_warning(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """Joint forces of a motion; warns of joints pressed far into elastic stops."""
    tau = force_ranges.compute_joint_forces(compiled, q, v, a, actuators, p, passive, t, x)
    if passive:
        warn_of_passed_limits(compiled, np.asarray(q, dtype=float), p)
    return tau


def _quick_evaluator(
    compiled: CompiledModel, function: str, general_path: Path
) -> Evaluator | GuardedFunction | GeneralPath:
    look, evaluator = acting_states.default_resting_test(compiled), compiled.evaluator(function)
    if look is None:
        return evaluator
    guard = look.guard()
    return GeneralPath(general_path) if guard is None else evaluator.build_guarded_function(guard, general_path)

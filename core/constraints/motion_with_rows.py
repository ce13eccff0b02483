"""Motions and joint forces with joint friction (sticking or sliding) and stops in contact, at one state or many.

`BeginningFriction` gives for all joints of an open chain at once what `core.constraints.row_forces` gives one row after
another, where single rows need no look: friction levels that are numbers, each joint with its own, away from stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Evaluator, Guarded
from core.codegen.single_state import Path
from core.constraints import acting_states, force_ranges, row_forces
from core.constraints.acting_states import default_joint_modes, resting
from core.constraints.elastic_stops import warn_of_passed_limits
from core.constraints.joint_modes import NOWHERE
from core.constraints.joint_rows import AT_REST_SPEED
from core.constraints.multipliers import constrained_motion
from core.constraints.named_values import broadcast_to_states
from core.mechanics.multibody.parameter_values import Values
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


Motion = tuple[tuple[Array, Array], Array | None]
"""Accelerations (…, nv) and constraint multipliers (…, m), with forces along coordinates of loop-closing joints."""


def motion_with_rows(
    compiled: Compiled, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any, x: Any, motors: bool = False
) -> Motion:
    """Accelerations and multipliers with static friction and stops in contact; of many states only those at which
    either may act are treated one by one."""
    free = constrained_motion(compiled, q, v, tau, p, passive, t, x)
    if not passive or not (motors or acting_states.has_rows(compiled)):
        return free, None
    which = None if motors else acting_states.acting_states_mask(compiled, q, v, p)
    if which is not None and not which.all():
        return _motion_at_marked_states(compiled, which, free, q, v, tau, p, t, x)
    rows = row_forces.acting_forces(compiled, q, v, tau, p, t, x, motors)
    if rows is None:
        return free, None
    given = np.asarray(tau) + rows.joint
    return constrained_motion(compiled, q, v, given, p, True, t, x, smooth=True), rows.closing


def _motion_at_marked_states(
    compiled: Compiled,
    which: NDArray[np.bool_],
    free: tuple[Array, Array],
    q: Any,
    v: Any,
    tau: Any,
    p: Values,
    t: Any,
    x: Any,
) -> Motion:
    """Motion at many states, with friction and stops at those marked, and the smooth motion at the others."""
    if not which.any():
        return free, None
    given = [np.asarray(each, dtype=float) for each in (q, v, tau)]
    given += [np.asarray(t, dtype=float)[..., None]] + ([] if x is None else [np.asarray(x, dtype=float)])
    leading = np.broadcast_shapes(which.shape, *(each.shape[:-1] for each in given))
    acts = np.flatnonzero(np.broadcast_to(which, leading))
    states = [broadcast_to_states(each, leading)[acts] for each in given]
    own = states[4] if x is not None else None
    (a, multipliers), closing = motion_with_rows(
        compiled, states[0], states[1], states[2], p, True, states[3][:, 0], own
    )
    found = _with_rows_replaced(free[0], acts, a, leading), _with_rows_replaced(free[1], acts, multipliers, leading)
    return found, None if closing is None else _with_rows_replaced(
        np.zeros((*leading, closing.shape[-1])), acts, closing, leading
    )


def _with_rows_replaced(numbers: Array, where: NDArray[np.int64], some: Array, leading: tuple[int, ...]) -> Array:
    """(…, n) copy of `numbers` with the rows at some states replaced."""
    flat = np.array(broadcast_to_states(numbers, leading))
    flat[where] = some
    return flat.reshape(*leading, -1)


# ------------------------------------------------------------------------------------------ quick calls


class SlowPath(NamedTuple):
    """Stand-in for a quick evaluator, with a call of the general path only."""

    call: Path


def forward_dynamics_fast_path(compiled: Compiled) -> Evaluator | Guarded | SlowPath:
    """(q, v, tau) → forward dynamics of a plain machine; single states at which no friction at rest or stop acts go
    straight to machine code, which tests for that itself."""
    return _quick_evaluator(
        compiled,
        "forward_dynamics",
        lambda q, v, tau: motion_with_rows(compiled, q, v, tau, None, True, 0.0, None)[0][0],
    )


def inverse_dynamics_fast_path(compiled: Compiled) -> Evaluator | Guarded | SlowPath:
    """(q, v, a) → inverse dynamics of a plain machine; single states at which no friction at rest or stop acts go
    straight to machine code."""
    return _quick_evaluator(
        compiled, "inverse_dynamics", partial(_forces_with_rows, compiled, beginning_friction(compiled))
    )


def _forces_with_rows(compiled: Compiled, look: BeginningFriction | None, q: Any, v: Any, a: Any) -> Array:
    if look is not None and (found := look.forces(q, v, a)) is not None:
        return found
    return forces_with_limit_warning(compiled, q, v, a, None, None, True)


def forces_with_limit_warning(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """Joint forces of a motion; warns of joints pushed far into elastic stops."""
    tau = force_ranges.joint_forces(compiled, q, v, a, actuators, p, passive, t, x)
    if passive:
        warn_of_passed_limits(compiled, np.asarray(q, dtype=float), p)
    return tau


def _quick_evaluator(compiled: Compiled, function: str, otherwise: Path) -> Evaluator | Guarded | SlowPath:
    look, evaluator = acting_states.resting(compiled), compiled.evaluator(function)
    if look is None:
        return evaluator
    guard = look.guard()
    return SlowPath(otherwise) if guard is None else evaluator.guarded(guard, otherwise)
